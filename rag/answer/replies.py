"""The chatbot's own words: refusals and courtesies, in both languages; `{…}` are placeholders."""

from collections.abc import Sequence
from pathlib import Path

from rag.index import Index
from rag.index.storage import StoredDocument
from rag.index.topics import topic_title, topic_titles
from rag.language.courtesy import Courtesy
from rag.language.language import Language, language_of
from rag.types import Refusal, RefusalReason, Step, StepKind

REFUSALS = {
    Language.ZH: {
        RefusalReason.NOTHING_RELEVANT: "资料里没有找到能回答这个问题的内容。",
        RefusalReason.MISSING_TERMS: "资料里没有提到 {missing}，因此无法依据资料回答这个问题。",
        RefusalReason.NO_SUPPORTED_CLAIM: "资料里没有能支持回答的原文。",
    },
    Language.EN: {
        RefusalReason.NOTHING_RELEVANT: "The material holds nothing that answers this question.",
        RefusalReason.MISSING_TERMS: "The material does not mention {missing}, so it cannot answer this question.",
        RefusalReason.NO_SUPPORTED_CLAIM: "Nothing in the material supports an answer.",
    },
}
# Appended to a refusal if only part of the material was searched.
ONLY = {Language.ZH: "（只查了这些资料：{only}）", Language.EN: " (Only this was searched: {only}.)"}
SUGGESTIONS = {Language.ZH: "可以问问这些：", Language.EN: "You could ask instead:"}
# Used without suggestions: each sentence asks for the topics (Courtesy.ABILITIES).
WAY_IN = {
    Language.ZH: "问一句“你能回答什么？”，可以看到资料有哪些主题。",
    Language.EN: "To see which topics it covers, ask “What can you answer?”",
}
# Before a quote if the odds are near a refusal.
NEAREST = {
    Language.ZH: "没有把握资料直接回答了这个问题，最接近的是：",
    Language.EN: "The material may not answer this directly. The nearest is:",
}
# The same if the material lacks a name in the question; and before an answer, which may be about another one.
NEAREST_TO_UNKNOWN = {
    Language.ZH: "资料里没有提到 {missing}，最接近的是：",
    Language.EN: "The material does not mention {missing}. The nearest is:",
}
UNKNOWN = {Language.ZH: "资料里没有提到 {missing}。", Language.EN: "The material does not mention {missing}."}
# Before an answer on the other sides of a question.
SILENT_SIDE = {
    Language.ZH: "资料里没有提到 {missing}，下面只说 {known}。",
    Language.EN: "The material says nothing about {missing}. What follows is about {known} only.",
}
COURTESIES = {
    Language.ZH: {
        Courtesy.GREETING: "你好！我根据 {documents} 份资料回答问题，每句话都标出原文。可以这样问：",
        Courtesy.THANKS: "不客气！还可以接着问，比如：",
        Courtesy.FAREWELL: "再见，祝面试顺利！下次可以从这些问起：",
        Courtesy.ABILITIES: (
            "我回答资料里写到的问题：引用原文，每句话都能点开看出处；资料里没有的，我会直说。"
            "现在有 {documents} 份资料{topics}。可以问原理、区别、公式、代码、取值，也可以接着追问。比如："
        ),
        Courtesy.QUIZ: "先自己答一答，再把题目发给我，看资料里怎么说：",
        Courtesy.TRANSLATION: "我只引用资料的原文，不翻译。可以换一种语言重新提问，或者继续问：",
    },
    Language.EN: {
        Courtesy.GREETING: "Hello! I answer from {documents} documents, each sentence with its source. For example:",
        Courtesy.THANKS: "You are welcome! You could go on with:",
        Courtesy.FAREWELL: "Goodbye, and good luck with the interview! Next time, start with:",
        Courtesy.ABILITIES: (
            "I answer what the material says: in its own words, each sentence with its source, and I say so where the "
            "material is silent. There are {documents} documents{topics}. Ask for reasons, differences, formulas, code "
            "or values, and follow up. For example:"
        ),
        Courtesy.QUIZ: "Answer one of these yourself first, then ask me and compare with the material:",
        Courtesy.TRANSLATION: "I quote the material as it is and do not translate. Ask in another language, or go on:",
    },
}
EXAMPLES = 3


# Before the calculator's results.
CALCULATED = {
    Language.ZH: "**由计算器算出，不是资料原文：**",
    Language.EN: "**Computed by the calculator, not stated by the material:**",
}


def refusal_text(language: Language, refusal: Refusal) -> str:
    """The refusal, with questions to ask instead, or the way to find them."""
    text = REFUSALS[language][refusal.reason].format(missing=_listed(refusal.missing, language))
    if refusal.only:
        text += ONLY[language].format(only=_listed(refusal.only, language))
    return text + (_suggested(SUGGESTIONS[language], refusal.suggestions) or f"\n\n{WAY_IN[language]}")


def missing_text(language: Language, silent: Sequence[str], known: Sequence[str], unknown: Sequence[str] = ()) -> str:
    """Which sides, or which names, the material lacks; empty if it has all."""
    lines = []
    if silent:
        lines.append(SILENT_SIDE[language].format(missing=_listed(silent, language), known=_listed(known, language)))
    if unknown:
        lines.append(UNKNOWN[language].format(missing=_listed(unknown, language)))
    return "".join(f"{line}\n\n" for line in lines)


def calculated_text(language: Language, steps: Sequence[Step]) -> str:
    """An agent's successful calculations, since the material need not state them. Empty if there are none."""
    calculations = [step for step in steps if step.kind is StepKind.CALCULATE and not step.failed]
    if not calculations:
        return ""
    lines = [f"- `{step.request}` = {step.result}" for step in calculations]
    return "\n\n" + "\n".join((CALCULATED[language], "", *lines))


def nearest_text(language: Language, unknown: Sequence[str] = (), *, in_line: bool) -> str:
    """The words before a quote that is near the question but may not answer it, with the names that the material lacks;
    with `in_line`, the quote continues their line."""
    text = (NEAREST_TO_UNKNOWN if unknown else NEAREST)[language].format(missing=_listed(unknown, language))
    return text + ("\n\n" if not in_line else "" if language is Language.ZH else " ")


def courtesy_text(language: Language, kind: Courtesy, index: Index, *, turn: int = 0) -> str:
    """A friendly reply with questions that the material answers: others at each turn of a talk."""
    documents = index.storage.documents()
    titles = topic_titles(Path(root.path) for root in index.manifest.roots)
    folders = sorted({document.relative.split("/")[0] for document in documents if "/" in document.relative})
    topics = [topic_title(folder, titles, language) for folder in folders]
    template = COURTESIES[language][kind]
    named = f"（{'、'.join(topics)}）" if language is Language.ZH else f" ({', '.join(topics)})"
    text = template.format(documents=len(documents), topics=named if topics else "")
    return text + _suggested("", _examples(documents, language, turn))


def _examples(documents: Sequence[StoredDocument], language: Language, turn: int) -> list[str]:
    """Questions of documents far apart, in the wanted language if the documents have some."""
    asked = [[document.title, *document.asked_as] for document in documents]
    fitting = [
        next((name for name in names if language_of(name) is language and name.endswith(("?", "？"))), "")
        for names in asked
    ]
    questions = [question for question in fitting if question] or [names[0] for names in asked]
    if not questions:
        return []
    step = max(1, len(questions) // EXAMPLES)
    return list(dict.fromkeys(questions[(turn * 7 + place * step) % len(questions)] for place in range(EXAMPLES)))


def _suggested(lead: str, questions: Sequence[str]) -> str:
    if not questions:
        return ""
    return "\n\n" + (f"{lead}\n" if lead else "") + "\n".join(f"- {question}" for question in questions)


def _listed(names: Sequence[str], language: Language) -> str:
    return ("、" if language is Language.ZH else ", ").join(names)

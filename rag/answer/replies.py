"""The chatbot's own words: refusals and courtesies, in both languages."""

from collections.abc import Sequence
from pathlib import Path

from rag.index import Index
from rag.index.storage import StoredDocument
from rag.index.topics import topic_title, topic_titles
from rag.language.courtesy import Courtesy
from rag.language.language import Language, language_of
from rag.language.texts import read_by_name
from rag.types import Refusal, Step, StepKind

TEXTS = read_by_name(Path(__file__).with_suffix(".toml"))
EXAMPLES = 3


def refusal_text(language: Language, refusal: Refusal) -> str:
    """The refusal, with questions to ask instead, or the way to find them."""
    text = TEXTS[language][refusal.reason].format(missing=_listed(refusal.missing, language))
    if refusal.only:
        text += TEXTS[language]["only"].format(only=_listed(refusal.only, language))
    return text + (
        _suggested(TEXTS[language]["suggestions"], refusal.suggestions) or f"\n\n{TEXTS[language]['way_in']}"
    )


def missing_text(language: Language, silent: Sequence[str], known: Sequence[str], unknown: Sequence[str] = ()) -> str:
    """Which sides, or which names, the material lacks; empty if it has all."""
    lines = []
    if silent:
        lines.append(
            TEXTS[language]["silent_side"].format(missing=_listed(silent, language), known=_listed(known, language))
        )
    if unknown:
        lines.append(TEXTS[language]["unknown"].format(missing=_listed(unknown, language)))
    return "".join(f"{line}\n\n" for line in lines)


def calculated_text(language: Language, steps: Sequence[Step]) -> str:
    """An agent's successful calculations, since the material need not state them. Empty if there are none."""
    calculations = [step for step in steps if step.kind is StepKind.CALCULATE and not step.failed]
    if not calculations:
        return ""
    lines = [f"- `{step.request}` = {step.result}" for step in calculations]
    return "\n\n" + "\n".join((TEXTS[language]["calculated"], "", *lines))


def nearest_text(language: Language, unknown: Sequence[str] = (), *, in_line: bool) -> str:
    """The words before a quote that is near the question but may not answer it, with the names that the material lacks;
    with `in_line`, the quote continues their line."""
    text = TEXTS[language]["nearest_to_unknown" if unknown else "nearest"].format(missing=_listed(unknown, language))
    return text + ("\n\n" if not in_line else "" if language is Language.ZH else " ")


def courtesy_text(language: Language, kind: Courtesy, index: Index, *, turn: int = 0) -> str:
    """A friendly reply with questions that the material answers: others at each turn of a talk."""
    documents = index.storage.documents()
    titles = topic_titles(Path(root.path) for root in index.manifest.roots)
    folders = sorted({document.relative.split("/")[0] for document in documents if "/" in document.relative})
    topics = [topic_title(folder, titles, language) for folder in folders]
    template = TEXTS[language][kind]
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

"""What a message says besides its question: words around it that ask nothing; greetings, thanks and other courtesies;
and the form of the last answer that it wants: code, a formula, the usual mistakes, more, less, easier.

Buttons below an answer ask for such a form, and so do readers: 写出来看看, 有什么坑, 展开讲讲, 说人话, say it shorter.
"""

import re
from enum import StrEnum

from rag.language.asking import ASKS
from rag.language.courtesy import Courtesy
from rag.language.language import Language
from rag.language.lexicon import either, told_by
from rag.language.pointing import point_in
from rag.language.terms import fold, same_place, terms

INTERJECTIONS = re.compile(
    rf"^(?:{either('framing', 'interjection')}[，,.。!！ ]*+"
    rf"|{either('framing', 'interjection_before_a_mark')}[，,.。!！]++ *+)++(?=.*\w)",
    re.IGNORECASE,
)
BEFORE = re.compile(rf"^{either('framing', 'before')}[：:，, ]*(?=.{{4}})")
AFTER = re.compile(rf"[，, ]*{either('framing', 'after')}[?？。]*$")
# A word that asks for code but is in some pages' names does not point to those pages.
BY_HAND = told_by("framing", "by_hand")
# Characters of a word or two in Chinese.
MOST_OF_TWO_WORDS = 6
LATIN_OR_DIGIT = re.compile(r"[A-Za-z0-9]")


def without_interjections(question: str) -> str:
    """The question without interjections before it.

    >>> without_interjections("嗯，好的，那它为什么快？"), without_interjections("hmm...")
    ('那它为什么快？', 'hmm...')
    """
    return INTERJECTIONS.sub("", question.strip())


def unwrapped(question: str) -> str:
    """The question without the phrases around it, if a question, a name or more than two words are left.

    >>> unwrapped("要是被问到 LoRA 的秩怎么选，该怎么说")
    'LoRA 的秩怎么选'
    """
    typed = question.strip()
    before = BEFORE.match(same_place(typed))
    if before is None:
        return question
    inner = typed[before.end() :]
    after = AFTER.search(same_place(inner))
    inner = inner[: after.start()] if after else inner
    # A Chinese word or two are no question: they may be what the wrapper asks about (面试官问我缺点怎么答).
    says_enough = len(inner) > MOST_OF_TWO_WORDS or LATIN_OR_DIGIT.search(inner) or ASKS.search(inner)
    return inner if says_enough else question


def plainly_for_code(question: str) -> str:
    """The question with "by hand", which asks for code, in the plain word."""
    return BY_HAND.sub("手写", question)


# Each must match the whole message, so that a question with a polite beginning stays a question.
COURTESIES = {kind: told_by("courtesies", kind) for kind in Courtesy}
PUNCTUATION = re.compile(r"[\s,.!?;:~、，。！？；：～…\"'“”‘’()（）]+")
EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\ufe0f\u200d]+")
# Characters of a courtesy; a longer message asks for something.
LONGEST_COURTESY = 40


def courtesy(question: str) -> Courtesy | None:
    """Which courtesy a message is; None for a question.

    >>> courtesy("谢谢！"), courtesy("What can you do?"), courtesy("你好，LoRA 是什么")
    (<Courtesy.THANKS: 'thanks'>, <Courtesy.ABILITIES: 'abilities'>, None)
    """
    folded = PUNCTUATION.sub(" ", EMOJI.sub(" ", fold(question))).strip()
    if len(folded) > LONGEST_COURTESY:
        return None
    if not folded:
        return Courtesy.GREETING if question.strip() and not any(map(str.isalnum, question)) else None
    parts = [folded, folded.replace(" ", "")]
    for kind, pattern in COURTESIES.items():
        if any(pattern.fullmatch(part) for part in parts):
            return kind
    # "hi, what can you do": every part by itself.
    kinds = [courtesy(part) for part in folded.split(" ")] if " " in folded and not folded.isascii() else []
    return kinds[-1] if kinds and all(kinds) else None


class Intent(StrEnum):
    """The form of the last answer that a message wants."""

    CODE = "code"
    FORMULA = "formula"
    MISTAKES = "mistakes"
    MORE = "more"
    SHORTER = "shorter"
    SIMPLER = "simpler"


# The messages of the buttons below an answer.
MESSAGES = {
    Language.ZH: {Intent.MORE: "展开讲讲", Intent.CODE: "给我代码看看", Intent.MISTAKES: "有哪些常见错误？"},
    Language.EN: {
        Intent.MORE: "Go into more detail",
        Intent.CODE: "Show me the code",
        Intent.MISTAKES: "What are common mistakes?",
    },
}
# In this order: "写出代码" asks for code, "写出来看看" for whatever can be written down. All match the folded question.
INTENTS = {
    intent: told_by("intents", intent)
    for intent in (Intent.CODE, Intent.MISTAKES, Intent.FORMULA, Intent.SHORTER, Intent.SIMPLER, Intent.MORE)
}
# Questions that code or a formula answers, though they ask for more than that form.
ANSWERED_BY = {form: told_by("intents", f"answered_by_{form}", re.IGNORECASE) for form in (Intent.CODE, Intent.FORMULA)}
# Asks for the last answer in another form: written out, simpler, shorter, as a formula or as code. Such a message names
# no subject: without these words few terms are left, and no Latin one, which is a name.
RESTATING = told_by("intents", "restating")
ASKS_AGAIN = told_by("intents", "asks_again")
RESTATING_TERMS = 2
MANNERS = (Intent.SHORTER, Intent.SIMPLER, Intent.MORE)
CLAUSE = re.compile(r"[^，,。；;？?！!]+[，,。；;？?！!]*")


def answered_by(form: Intent, question: str) -> bool:
    """Whether code, or a formula, answers a question.

    >>> answered_by(Intent.CODE, "LoRA 怎么实现"), answered_by(Intent.FORMULA, "LoRA 怎么实现")
    (True, False)
    >>> answered_by(Intent.CODE, "LoRA 的作用和实现方式")  # the ways there are, in words
    False
    """
    return ANSWERED_BY[form].search(question) is not None


def intent_of(question: str) -> Intent | None:
    """The first of the intents that a message shows.

    >>> intent_of("写出代码看看"), intent_of("有什么坑"), intent_of("LoRA 的秩")
    (<Intent.CODE: 'code'>, <Intent.MISTAKES: 'mistakes'>, None)
    """
    folded = fold(question)
    return next((intent for intent, pattern in INTENTS.items() if pattern.search(folded)), None)


def without_manner(question: str) -> str:
    """The question without the clauses that say only how its answer shall be put.

    >>> without_manner("什么是投机采样，大白话讲下"), without_manner("说人话")
    ('什么是投机采样', '说人话')
    >>> without_manner("什么是投机采样？通俗点讲")
    '什么是投机采样？'
    """
    clauses = CLAUSE.findall(question)
    said = [clause for clause in clauses if not (intent_of(clause) in MANNERS and restates(clause))]
    return "".join(said).rstrip(" ，,；;") if said and len(said) < len(clauses) else question


def restates(question: str) -> bool:
    """Whether a question asks for the last answer in another form, and for nothing else.

    >>> restates("写出来看看"), restates("too hard, say it simpler"), restates("写一个 LoRA 层")
    (True, True, False)
    """
    folded = without_interjections(fold(question))
    if point_in(folded):
        return False
    left = set(terms(RESTATING.sub(" ", folded)))
    asks = intent_of(question) is not None or ASKS_AGAIN.search(folded)
    return bool(asks) and len(left) <= RESTATING_TERMS and not any(map(str.isascii, left))

"""The form of the last answer that a message wants: code, a formula, the usual mistakes, more, less, easier.

Buttons below an answer ask so, and so do readers: 写出来看看, 有什么坑, 展开讲讲, 说人话, say it shorter.
"""

import re
from enum import StrEnum

from rag.language.framing import without_interjections
from rag.language.language import Language
from rag.language.lexicon import told_by
from rag.language.pointing import point_in
from rag.language.terms import fold, terms


class Intent(StrEnum):
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
PATTERNS = {
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
    return next((intent for intent, pattern in PATTERNS.items() if pattern.search(folded)), None)


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

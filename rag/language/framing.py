"""Words around a question that ask nothing: on the way to it (ok, and …), or about who asks it."""

import re

from rag.language.lexicon import either, told_by
from rag.language.terms import same_place, terms

INTERJECTIONS = re.compile(
    rf"^(?:{either('framing', 'interjection')}[，,.。!！ ]*+"
    rf"|{either('framing', 'interjection_before_a_mark')}[，,.。!！]++ *+)++(?=.*\w)",
    re.IGNORECASE,
)
BEFORE = re.compile(rf"^{either('framing', 'before')}[：:，, ]*(?=.{{4}})")
AFTER = re.compile(rf"[，, ]*{either('framing', 'after')}[?？。]*$")
# A word that asks for code but is in some pages' names does not point to those pages.
BY_HAND = told_by("framing", "by_hand")


def without_interjections(question: str) -> str:
    """The question without interjections before it.

    >>> without_interjections("嗯，好的，那它为什么快？"), without_interjections("hmm...")
    ('那它为什么快？', 'hmm...')
    """
    return INTERJECTIONS.sub("", question.strip())


def unwrapped(question: str) -> str:
    """The question without the phrases around it, if a name or more than one word is left.

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
    # One Chinese word is no question: it may be what the wrapper asks about (面试官问我缺点怎么答).
    return inner if inner.isascii() or len(terms(inner)) > 1 else question


def plainly_for_code(question: str) -> str:
    """The question with "by hand", which asks for code, in the plain word."""
    return BY_HAND.sub("手写", question)

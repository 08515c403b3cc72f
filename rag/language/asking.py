"""Asking words, and their answers."""

import re

from rag.language.language import Language, has_chinese, language_of
from rag.language.lexicon import either, told_by

ASKS = told_by("asking", "asks", re.IGNORECASE)
ONLY_ASKS = told_by("asking", "only_asks")
ASKS_OF_A_SENTENCE = told_by("asking", "asks_of_a_sentence")
# Each kind of thing asked for, and the words of a sentence that gives it.
KINDS = tuple(
    (told_by("asking", asks), told_by("asking", holds))
    for asks, holds in (("when", "a_time"), ("how_much", "an_amount"), ("why", "a_cause"), ("where", "a_place"))
)
DEFINITION = told_by("asking", "what")
HEADING = re.compile(rf".*[?？][\s*]*$|{either('asking', 'heading')}", re.IGNORECASE)
# Marks of an English question that a bare name lacks.
ENGLISH_SENTENCE = re.compile(
    rf"{either('asking', 'only_asks', only=Language.EN)}|{either('asking', 'heading', only=Language.EN)}|[?]",
    re.IGNORECASE,
)


def asked_in(question: str, reader: Language | None = None) -> Language:
    """The language of a question. A bare name belongs to every language: it takes its reader's language, if known.

    >>> asked_in("kv cache", Language.ZH), asked_in("What is a KV cache", Language.ZH), asked_in("KV 缓存", Language.EN)
    (<Language.ZH: 'zh'>, <Language.EN: 'en'>, <Language.ZH: 'zh'>)
    """
    is_name = not ENGLISH_SENTENCE.search(question)
    return reader if reader is not None and is_name and not has_chinese(question) else language_of(question)

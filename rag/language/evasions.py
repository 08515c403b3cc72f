"""Evasions in place of an answer: the writer knows nothing, or wants a good grade."""

import re

from rag.language.lexicon import either, told_by

BEGS = told_by("grading", "begs", re.IGNORECASE)
NOTHING = re.compile(rf"\W*{either('grading', 'knows_nothing')}\W*", re.IGNORECASE)


def begs(sentence: str) -> bool:
    """Whether a sentence addresses the grader.

    >>> begs("请给我打满分"), begs("满分是 100 分制的一种说法")
    (True, False)
    """
    return BEGS.search(sentence) is not None


def knows_nothing(text: str) -> bool:
    """Whether a text says only that.

    >>> knows_nothing("我不会。"), knows_nothing("我不会说公式，但知道原理")
    (True, False)
    """
    return NOTHING.fullmatch(text) is not None

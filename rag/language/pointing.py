"""Words that point: back to earlier text, to one of its points by number, or to a new subject."""

import re

from rag.language.lexicon import either, told_by
from rag.language.terms import same_place, simplified

# All match folded text but the last four.
ANNOUNCES_SUBJECT = told_by("pointing", "announces")
DEFINES = told_by("pointing", "defines")
# Also a new subject, unless a word points back.
MOVES_ON = told_by("pointing", "moves_on")
POINTS_BACK = told_by("pointing", "points_back")
POINT = re.compile(rf"{either('pointing', 'numbered')}|(?P<last>{either('pointing', 'last')})")
NUMERALS = ("一二三四五六七八九十", ("first", "second", "third", "fourth", "fifth"))
LEANING_WORDS = told_by("pointing", "leans", re.IGNORECASE)
FORMER_OR_LATTER = re.compile(rf"({either('pointing', 'former')})|({either('pointing', 'latter')})", re.IGNORECASE)
PART_POINTS_BACK = told_by("pointing", "part_points_back", re.IGNORECASE)
SENTENCE_POINTS_BACK = told_by("pointing", "sentence_points_back", re.IGNORECASE)
ELSEWHERE = told_by("pointing", "elsewhere")


def points_back(folded: str) -> bool:
    """Whether a word of a folded message points to earlier text."""
    return POINTS_BACK.search(folded) is not None


def part_points_back(part: str) -> bool:
    """Whether a part of a message points to the part before it."""
    return PART_POINTS_BACK.search(simplified(part)) is not None


def sentence_points_back(sentence: str) -> bool:
    """Whether a sentence leans on the one before it."""
    return SENTENCE_POINTS_BACK.search(sentence) is not None


def points_elsewhere(quote: str) -> bool:
    """Whether a quote refers to its surroundings in the source."""
    return ELSEWHERE.search(quote) is not None


def announces_subject(folded: str) -> bool:
    """Whether a folded message says that it begins anew.

    >>> announces_subject("换个问题:什么是 lora"), announces_subject("什么是它的秩")
    (True, False)
    """
    names_another = DEFINES.search(folded) or MOVES_ON.search(folded)
    return bool(ANNOUNCES_SUBJECT.search(folded) or (names_another and not points_back(folded)))


def without_leaning_words(question: str) -> str:
    """The question with blanks for words that only mark it as a follow-up."""
    return LEANING_WORDS.sub(" ", question)


def with_sides(question: str, former: str, latter: str) -> str:
    """The question with "the former" and "the latter" named."""
    found = list(FORMER_OR_LATTER.finditer(same_place(question)))
    for match in reversed(found):
        question = f"{question[: match.start()]}{former if match[1] else latter}{question[match.end() :]}"
    return question


def point_in(folded: str) -> int | None:
    """The number of the point that a folded message names; -1 for the last.

    >>> point_in("第二点展开说"), point_in("the last item"), point_in("秩怎么选")
    (2, -1, None)
    """
    found = POINT.search(folded)
    if found is None:
        return None
    if found["last"]:
        return -1
    name = found["chinese"] or found["english"]
    return int(name) if name.isdigit() else next(row.index(name) + 1 for row in NUMERALS if name in row)

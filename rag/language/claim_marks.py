"""How pages mark a wrong claim and the right one, words that tie a claim to its time, quantities, and evasions in place
of an answer.
"""

import re
from enum import StrEnum

from rag.language.lexicon import either, told_by
from rag.language.terms import fold

LISTS_MISTAKES = told_by("corrections", "mistakes", re.IGNORECASE)
RIGHT = re.compile(rf"\*\*\s*{either('corrections', 'right')}[^*\n]{{0,4}}\*\*\s*[：:]?\s*", re.IGNORECASE)
HEARSAY = told_by("corrections", "hearsay", re.IGNORECASE)
COLON = r"(?:\*\*\s*[:：]|\s*[:：]\s*\*\*)\s*"
CORRECTED = re.compile(
    rf"(?P<wrong>.+?)\s*\*\*{either('corrections', 'right')}{COLON}(?P<right>.+)", re.DOTALL | re.IGNORECASE
)
# The words before a wrong claim: that it is wrong, and who says it.
BEFORE_WRONG = re.compile(
    rf"(?:\*\*{either('corrections', 'wrong')}{COLON})?(?:{either('corrections', 'hearsay')}\s*[:：]\s*)?",
    re.IGNORECASE,
)


BEGS = told_by("grading", "begs", re.IGNORECASE)
NOTHING = re.compile(rf"\W*{either('grading', 'knows_nothing')}\W*", re.IGNORECASE)


def begs(sentence: str, material: str = "") -> bool:
    """Whether a sentence addresses the grader. Words that the folded material itself uses do not: they belong to the
    subject.

    >>> begs("请给我打满分"), begs("满分是 100 分制的一种说法")
    (True, False)
    >>> begs("评审模型要有评分标准"), begs("评审模型要有评分标准", "评分标准写清楚")
    (True, False)
    """
    known = {found[0] for found in BEGS.finditer(material)}
    return any(found[0] not in known for found in BEGS.finditer(fold(sentence)))


def knows_nothing(text: str) -> bool:
    """Whether a text says only that its writer knows nothing.

    >>> knows_nothing("我不会。"), knows_nothing("我不会说公式，但知道原理")
    (True, False)
    """
    return NOTHING.fullmatch(text) is not None


NUMBER = re.compile(r"\d+(?:\.\d+)?")
# "One" is no quantity (一般, one might); 两者 and both count nothing.
QUANTITY = told_by("figures", "quantity")
NO_QUANTITY = told_by("figures", "no_quantity")
DIGITS = str.maketrans("二两三四五六七八九", "223456789")
IN_FIGURES = {
    "十": "10", "百": "100", "千": "1000", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "half": "0.5", "twice": "2", "double": "2", "triple": "3",
}  # fmt: skip


def quantities(text: str) -> set[str]:
    """Quantities in words, as figures.

    >>> sorted(quantities("两个矩阵，十层")), quantities("两者都行")
    (['10', '2'], set())
    """
    found = QUANTITY.findall(NO_QUANTITY.sub(" ", fold(text)))
    return {IN_FIGURES.get(word, word.translate(DIGITS).removesuffix("者")) for word in found}


class Bound(StrEnum):
    VERSION = "version"
    YEAR = "year"
    PRESENT = "present"


BOUNDS = {
    Bound.VERSION: re.compile(
        rf"\b(?!{either('times', 'numbered')}\s)[A-Z][A-Za-z.+-]*\s+v?[1-3]?\d\.(?:\d{{1,2}}|x)(?:\.\w+)*\+?"
        rf"(?![\w.]|\s*(?:%|×|x\b|[~–-]|{either('times', 'units')}))"
        rf"|\bv\d+(?:\.\d+)+|\b\d+\.x\b|\b(?!127\.0)\d+\.\d+\.\d+\b|{either('times', 'version')}"
    ),
    Bound.YEAR: re.compile(
        rf"{either('times', 'year')}"
        rf"|(?<![\d.:/-])(?<![A-Z]{{2}} )20[12]\d(?:-\d\d)?(?![\d.:]|\s*{either('times', 'counted')})"
    ),
    Bound.PRESENT: told_by("times", "present", re.IGNORECASE),
}
# Identifiers of papers contain apparent years or versions.
IDENTIFIER = re.compile(r"arxiv\s*[:：]?\s*\d{4}\.\d{4,5}(?:v\d+)?|\bdoi\s*[:：]\s*\S+|https?://\S+", re.IGNORECASE)


def bounds_of(text: str) -> dict[Bound, list[str]]:
    """The words that tie a text to its time, as written, by kind of tie.

    >>> bounds_of("目前 PyTorch 2.1 最快")
    {<Bound.VERSION: 'version'>: ['PyTorch 2.1'], <Bound.PRESENT: 'present'>: ['目前']}
    """
    plain = IDENTIFIER.sub(" ", text)
    found = {bound: [match[0].strip() for match in pattern.finditer(plain)] for bound, pattern in BOUNDS.items()}
    return {bound: words for bound, words in found.items() if words}

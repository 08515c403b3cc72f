"""Which lines are headings: larger than the body, or bold, short and alone."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ingest.formats.pdf.lines import Line
from rag.language.numbering import CHINESE_CHAPTER

LARGER = 1.15
MAX_CHARACTERS = 80
MOST_LEVELS = 4
# If a larger share of the text is bold (or in larger type), that is the body itself.
MOST_BOLD, MOST_LARGER = 0.4, 0.3
# More consecutive bold lines than this are a bold paragraph, or a list.
MOST_BOLD_LINES = 2
SENTENCE = re.compile(r"[。！!；;，,]$|[^.\d]\.$")
# Numbers before a heading that nothing else distinguishes from the text.
NUMBERED = re.compile(
    rf"(?P<chapter>{CHINESE_CHAPTER})\s*\S"
    r"|(?P<part>\d{1,2}(?:\.\d{1,2})*)[.．]?\s+\S|[(（]\d{1,2}[)）]\s*\S"
)
ENDS = re.compile(r"[。！!;；:：,，、.]$")
MOST_NUMBERED = 40
PARTS_OF_NUMBER = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class Type:
    """The type of a document: the size of its body, the level of each larger size, and whether bold lines stand out.
    `counts`: short lines are numbered from 1."""

    body: float
    levels: dict[float, int]
    has_bold: bool
    counts: bool = False

    def level(self, page: Sequence[Line], place: int) -> int:
        """The level of a line as a heading; 0 if it is not one."""
        line = page[place]
        if line.is_table or line.is_note or not can_head(line.text):
            return 0
        if found := self.levels.get(line.size):
            return 0 if SENTENCE.search(line.text) and len(line.text) > MAX_CHARACTERS / 2 else found
        if not self.has_bold and not self.levels:
            return _numbered_level(page, place, counts=self.counts)
        if not self._is_bold(line) or SENTENCE.search(line.text):
            return 0
        first = last = place
        while first > 0 and self._is_bold(page[first - 1]) and place - first <= MOST_BOLD_LINES:
            first -= 1
        while last + 1 < len(page) and self._is_bold(page[last + 1]) and last - place <= MOST_BOLD_LINES:
            last += 1
        if last - first + 1 > MOST_BOLD_LINES or _is_beside(page, place):
            return 0
        number = PARTS_OF_NUMBER.match(line.text.strip())
        depth = number[0].count(".") if number else 0
        return min(max(self.levels.values(), default=0) + 1 + depth, MOST_LEVELS)

    def _is_bold(self, line: Line) -> bool:
        return (
            self.has_bold
            and line.is_bold
            and not line.is_mono
            and line.size >= 0.95 * self.body
            and line.size not in self.levels
        )


def type_of(pages: Sequence[Sequence[Line]]) -> Type:
    weights: Counter[float] = Counter()
    lines_of: Counter[float] = Counter()
    heads: set[float] = set()
    bold = 0
    for line in (line for page in pages for line in page):
        if line.size and not line.is_mono and not line.is_note:
            weights[line.size] += len(line.text)
            lines_of[line.size] += 1
            bold += len(line.text) if line.is_bold else 0
            if can_head(line.text):
                heads.add(line.size)
    if not weights:
        return Type(0.0, {}, has_bold=False)
    body = _body(weights, lines_of)
    total = weights.total()
    larger = [
        size
        for size in heads
        if size >= LARGER * body and (weights[size] <= MOST_LARGER * total or lines_of[size] <= 2)
    ]
    levels = {size: min(level, MOST_LEVELS) for level, size in enumerate(sorted(larger, reverse=True), start=1)}
    numbers = (NUMBERED.match(line.text) for page in pages for line in page if len(line.text) <= MOST_NUMBERED)
    counts = any(match is not None and match["part"] == "1" for match in numbers)
    return Type(body, levels, has_bold=0 < bold <= MOST_BOLD * total, counts=counts)


def _body(weights: Counter[float], lines_of: Counter[float]) -> float:
    """The size of most of the text, but not that of a title of a line or two above little other text."""
    body = weights.most_common(1)[0][0]
    smaller = [size for size in weights if size < body and weights[size] >= weights[body] / 3]
    return max(smaller) if lines_of[body] <= 2 and smaller else body


def _numbered_level(page: Sequence[Line], place: int, *, counts: bool) -> int:
    """The level of a heading in body type: it is numbered and short, and text follows, not another such number."""
    text = page[place].text.strip()
    match = NUMBERED.match(text)
    if match is None or ENDS.search(text) or len(text) > MOST_NUMBERED or _is_beside(page, place):
        return 0
    beside = [page[other] for other in (place - 1, place + 1) if 0 <= other < len(page)]
    if place + 1 == len(page) or any(_has_number_of_kind(line.text, match) for line in beside):
        return 0
    if match["chapter"]:
        return 1
    if match["part"]:
        return min(2 + match["part"].count("."), MOST_LEVELS) if counts else 0
    return MOST_LEVELS - 1


def _has_number_of_kind(text: str, match: re.Match[str]) -> bool:
    other = NUMBERED.match(text.strip())
    return other is not None and other.lastgroup == match.lastgroup


def can_head(text: str) -> bool:
    return len(text) <= MAX_CHARACTERS and sum(map(str.isalnum, text)) >= 2


def _is_beside(page: Sequence[Line], place: int) -> bool:
    """Whether something else is on the same line, so that this is a label, not a heading."""
    line = page[place]
    return any(
        abs(other.baseline - line.baseline) < 0.5 * line.size and other.size and not other.is_table
        for number in (place - 1, place + 1)
        if 0 <= number < len(page)
        for other in (page[number],)
    )

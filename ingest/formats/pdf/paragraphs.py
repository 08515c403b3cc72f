"""Which lines form a paragraph: decided by their distance, the indent, and how full the line before is and ends."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ingest.formats.pdf.lines import Line
from ingest.formats.pdf.words import is_wide, units
from rag.language.ends import COMMAS, ends_with, is_finished
from rag.language.numbering import CHINESE_ITEM

WIDE = re.compile("[\u2e80-\ufeff]")
BULLET = re.compile(r"\s*(?:[•●▪■◦○‣⁃∙·➢✓]|[-–*](?=\s))\s*")
NUMBERED = re.compile(
    rf"\s*(?:\d{{1,3}}\s*[.、．)）](?!\d)|[(（]\d{{1,3}}[)）]|\[\d{{1,3}}\]\s|{CHINESE_ITEM}|[☑☐]"
    r"|[Qq]\d{1,3}\s*[:：.、])"
)
# Closing punctuation does not begin a line: it takes the character before it along.
FIRST_WORD = re.compile(r"(?:[!-~]+|.)[，。、；：！？）》」』”’…]*")
# The dots that lead to a page number in a table of contents.
LEADER = re.compile(r"(?:[.·…_]\s?){4,}\s*[\divxlc]+$")
# A label with its value; two of them below each other are two lines.
LABELLED = re.compile(r"[^\s:：][^:：]{0,20}[:：]\s?[^\s/]")
# Shares of the type size, or of the column width.
INDENT, MOST_INDENT, SAME_SIZE = 0.8, 5.0, 0.06
LONG_ENOUGH = 0.55
NEIGHBOURS = 40
ALIKE = 60.0
MANY = 4
# A column narrower than this, in type sizes, is narrow.
NARROW = 24
# Units of the shortest line that an author may have broken.
SHORTEST = 24

Pitches = dict[tuple[float, bool, bool], float]


class Edge(NamedTuple):
    """The right end of a column, and how many lines reach it. `is_lone`: only one of many does, which says nothing
    about where lines are broken."""

    at: float
    line_count: int
    is_lone: bool


class Layout:
    """Joins lines to paragraphs, knowing the usual distances between the lines of a document."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        self._pitches = _pitches(pages)

    def continues(self, before: Line, line: Line, edge: Edge, *, is_first: bool, is_heading: bool, turns: bool) -> bool:
        """Whether a line continues the paragraph of the one before. `is_first`: the one before begins its paragraph.
        `edge` is that of its column. `turns`: the line begins a new page."""
        if line.is_table or line.is_mono or not line.size or abs(before.size - line.size) > SAME_SIZE * line.size:
            return False
        if BULLET.match(line.text) or (NUMBERED.match(line.text) and not is_heading):
            return False
        step = before.baseline - line.baseline
        if step > 1.2 * self._pitches.get(_pitch_key(before, line), 1.8 * line.size):
            return False
        text = before.text.rstrip()
        if LEADER.search(text) or (LABELLED.match(text) and LABELLED.match(line.text)):
            return False
        ends = is_finished(text)
        fills = _fills(before, line, edge)
        if turns or step < 0:  # a new column or page: after a full sentence nothing shows that the paragraph goes on
            is_full = fills and units(text) >= SHORTEST
            return not is_heading and not ends and (is_full or line.text[:1].islower() or ends_with(text, COMMAS))
        indent = line.box[0] - before.box[0]
        if _is_centred(before, line):
            indent = 0.0
        if is_heading:
            return line.text[:1].islower() or (fills and abs(indent) <= INDENT * line.size)
        if indent > INDENT * line.size and not _hangs(before.text):
            return fills and not ends
        if indent < -INDENT * line.size and (not is_first or indent < -MOST_INDENT * line.size):
            return not ends and line.text[:1].islower()
        return fills or _is_unfinished(before, line, edge)


def right_edges(page: Sequence[Line]) -> list[Edge]:
    """The edge of each line's column: how far neighbours with a similar left edge reach."""
    edges = []
    for place, line in enumerate(page):
        left, right = line.box[0], line.box[2]
        alike = [
            other.box[2]
            for other in page[max(0, place - NEIGHBOURS) : place + NEIGHBOURS]
            if not other.rows and other.box[0] < right and -ALIKE < other.box[0] - left < ALIKE
        ]
        farthest = max(alike, default=right)
        # In a wide column short lines tell nothing: they may be the last of their paragraphs.
        is_narrow = farthest - left < NARROW * line.size
        told = alike if is_narrow else [at for at in alike if 2 * (at - left) > farthest - left]
        reached = sum(at > farthest - 2 * line.size for at in told)
        edges.append(Edge(farthest, reached, len(told) >= MANY and reached == 1))
    return edges


def _pitch_key(before: Line, line: Line) -> tuple[float, bool, bool]:
    """The kind of a step between lines: lines with Chinese are mostly taller than English ones of the same size."""
    return line.size, bool(WIDE.search(before.text)), bool(WIDE.search(line.text))


def _pitches(pages: Sequence[Sequence[Line]]) -> Pitches:
    """The usual distance between two lines of a paragraph, for each kind of step."""
    steps: dict[tuple[float, bool, bool], Counter[float]] = {}
    for page in pages:
        for before, line in pairwise(page):
            step = round((before.baseline - line.baseline) * 2) / 2
            if line.size and before.size == line.size and 0.9 * line.size <= step <= 2.5 * line.size:
                steps.setdefault(_pitch_key(before, line), Counter())[step] += 1
    # The smallest of the frequent ones: paragraphs are further apart than lines.
    return {
        key: min(step for step, count in counts.items() if count * 4 >= max(counts.values()))
        for key, counts in steps.items()
    }


def _fills(before: Line, line: Line, edge: Edge) -> bool:
    """Whether the line before was full, so that the first word of this one had to move here."""
    if edge.is_lone or (edge.line_count < 2 and units(before.text) < SHORTEST):
        return False
    width = _first_word_width(line)
    if _is_centred(before, line):
        width *= 0.5
    return before.box[2] + width > edge.at - 0.5 * line.size


def _is_unfinished(before: Line, line: Line, edge: Edge) -> bool:
    """Whether a line that is not full, perhaps broken by its author, still continues in this one."""
    text, first = before.text.rstrip(), line.text.lstrip()[:1]
    if is_finished(text) or not first or units(text) < SHORTEST:
        return False
    if text[-1] == "-" and text[-2:-1].isalpha() and first.isalpha():
        return True
    width, column = before.box[2] - before.box[0], edge.at - before.box[0]
    if ends_with(text, COMMAS) or first in "，。、；：！？）》」』”’,.;:!?)":
        return width > LONG_ENOUGH * column / 2
    if is_wide(text[-1:]) and is_wide(first):
        return width > column - 2.5 * line.size and not edge.is_lone
    if edge.is_lone and column < NARROW * line.size:
        return False
    return first.islower() and width > LONG_ENOUGH * column


def _is_centred(before: Line, line: Line) -> bool:
    middles = abs(before.box[0] + before.box[2] - line.box[0] - line.box[2]) / 2
    return middles < 2 and abs(before.box[0] - line.box[0]) > 4


def _hangs(text: str) -> bool:
    return bool(BULLET.match(text) or NUMBERED.match(text))


def _first_word_width(line: Line) -> float:
    word = FIRST_WORD.match(line.text.strip())
    return units(word[0] if word else "") / max(units(line.text), 1.0) * (line.box[2] - line.box[0])

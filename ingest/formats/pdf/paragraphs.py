"""Which lines are one paragraph: told by the distance, the indent, how full the line before is, and how it ends."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from ingest.formats.pdf.lines import Line
from ingest.formats.pdf.words import is_wide, units

WIDE = re.compile("[\u2e80-\ufeff]")
BULLET = re.compile(r"\s*(?:[•●▪■◦○‣⁃∙·➢✓]|[-–*](?=\s))\s*")
NUMBERED = re.compile(
    r"\s*(?:\d{1,3}\s*[.、．)）](?!\d)|[(（]\d{1,3}[)）]|\[\d{1,3}\]\s|[一二三四五六七八九十]{1,3}、|[☑☐]"
    r"|[Qq]\d{1,3}\s*[:：.、])"
)
# Closing punctuation does not begin a line: it takes the character before it along.
FIRST_WORD = re.compile(r"(?:[!-~]+|.)[，。、；：！？）》」』”’…]*")
SENTENCE_END = re.compile(r"[。！？.!?:：;；…][”’\"）)]?$")
# The dots that lead to a page number in a list of contents.
LEADER = re.compile(r"(?:[.·…_]\s?){4,}\s*[\divxlc]+$")
COMMA = re.compile(r"[,，、]$")
# Shares of the size of type, or of the width of the column.
INDENT, MOST_INDENT, SAME_SIZE = 0.8, 5.0, 0.06
LONG_ENOUGH = 0.55
NEIGHBOURS = 40
ALIKE = 60.0
MANY = 4
# Units of the shortest line that an author may have broken.
SHORTEST = 24

Pitches = dict[tuple[float, bool, bool], float]


class Edge(NamedTuple):
    """Where a column ends on the right. `is_lone` says that of many lines only one reaches it, so that it tells nothing
    of where lines are broken."""

    at: float
    is_lone: bool


class Layout:
    """How far the lines of a document are from each other, and where its columns end."""

    def __init__(self, pages: Sequence[Sequence[Line]]) -> None:
        self._pitches = _pitches(pages)

    def continues(self, before: Line, line: Line, edge: Edge, *, is_first: bool, is_heading: bool, turns: bool) -> bool:
        """Whether a line goes on with the paragraph of the one before, which `is_first` says begins it. `edge` is that
        of its column; `turns` says that the line begins a new page."""
        if line.is_table or line.is_mono or not line.size or abs(before.size - line.size) > SAME_SIZE * line.size:
            return False
        if BULLET.match(line.text) or (NUMBERED.match(line.text) and not is_heading):
            return False
        step = before.baseline - line.baseline
        if step > 1.2 * self._pitches.get(_pitch_key(before, line), 1.8 * line.size):
            return False
        text = before.text.rstrip()
        if LEADER.search(text):
            return False
        ends = bool(SENTENCE_END.search(text))
        fills = _fills(before, line, edge)
        if turns or step < 0:  # a new column or page: after a full sentence nothing says that the paragraph goes on
            is_full = fills and units(text) >= SHORTEST
            return not is_heading and not ends and (is_full or line.text[:1].islower() or bool(COMMA.search(text)))
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
    """For each line the edge of the column it stands in: how far neighbours that begin alike reach."""
    edges = []
    for place, line in enumerate(page):
        left, right = line.box[0], line.box[2]
        alike = [
            other.box[2]
            for other in page[max(0, place - NEIGHBOURS) : place + NEIGHBOURS]
            if not other.rows and other.box[0] < right and -ALIKE < other.box[0] - left < ALIKE
        ]
        farthest = max(alike, default=right)
        long = [at for at in alike if 2 * (at - left) > farthest - left]
        edges.append(Edge(farthest, len(long) >= MANY and sum(farthest - 2 * line.size < at for at in long) == 1))
    return edges


def _pitch_key(before: Line, line: Line) -> tuple[float, bool, bool]:
    """Lines with Chinese in them are mostly higher than English ones of the same size."""
    return line.size, bool(WIDE.search(before.text)), bool(WIDE.search(line.text))


def _pitches(pages: Sequence[Sequence[Line]]) -> Pitches:
    """How far one line of a paragraph is below the other."""
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
    if edge.is_lone:
        return False
    width = _first_word_width(line)
    if _is_centred(before, line):
        width *= 0.5
    return before.box[2] + width > edge.at - 0.5 * line.size


def _is_unfinished(before: Line, line: Line, edge: Edge) -> bool:
    """Whether a line that is not full, as where an author has broken it, still goes on in this one."""
    text, first = before.text.rstrip(), line.text.lstrip()[:1]
    if SENTENCE_END.search(text) or not first or units(text) < SHORTEST:
        return False
    if text[-1] == "-" and text[-2:-1].isalpha() and first.isalpha():
        return True
    width, column = before.box[2] - before.box[0], edge.at - before.box[0]
    if COMMA.search(text) or first in "，。、；：！？）》」』”’,.;:!?)":
        return width > LONG_ENOUGH * column / 2
    if is_wide(text[-1:]) and is_wide(first):
        return width > column - 2.5 * line.size and not edge.is_lone
    return first.islower() and width > LONG_ENOUGH * column


def _is_centred(before: Line, line: Line) -> bool:
    middles = abs(before.box[0] + before.box[2] - line.box[0] - line.box[2]) / 2
    return middles < 2 and abs(before.box[0] - line.box[0]) > 4


def _hangs(text: str) -> bool:
    return bool(BULLET.match(text) or NUMBERED.match(text))


def _first_word_width(line: Line) -> float:
    word = FIRST_WORD.match(line.text.strip())
    return units(word[0] if word else "") / max(units(line.text), 1.0) * (line.box[2] - line.box[0])

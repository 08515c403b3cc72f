"""The reading order of the shapes on a slide: by their position, whichever was drawn first."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

# With more shapes than this, they are only sorted from the top down.
MOST_SHAPES = 400
# Boxes are of one size if the tallest is at most this many times as tall as the lowest.
ALIKE = 1.5
# Gaps of about the same width are cut together.
NEARLY = 0.8


class Box(NamedTuple):
    left: int
    top: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.left + max(self.width, 0)

    @property
    def bottom(self) -> int:
        return self.top + max(self.height, 0)


class _Cut(NamedTuple):
    """The parts between the widest gaps in one direction, and how wide these are."""

    parts: list[list[int]]
    gap: int


def reading_order(boxes: Sequence[Box | None]) -> list[int]:
    """The numbers of the boxes in reading order; those without a place come first, in their given order.

    Boxes are cut apart at the widest gaps, again and again: rows are read from the top, columns from the left. Boxes of
    one size in rows and columns are read row by row.
    """
    placed = [number for number, box in enumerate(boxes) if box is not None]
    order = [number for number, box in enumerate(boxes) if box is None]
    known = [box or Box(0, 0, 0, 0) for box in boxes]
    if len(placed) > MOST_SHAPES:
        return order + sorted(placed, key=lambda number: (known[number].top, known[number].left))
    stack = [placed]
    while stack:
        part = stack.pop()
        pieces = _pieces(part, known) if len(part) > 1 else None
        if pieces is None:
            order += sorted(part, key=lambda number: (known[number].top, known[number].left, number))
        else:
            stack += pieces[::-1]
    return order


def _pieces(part: Sequence[int], boxes: Sequence[Box]) -> list[list[int]] | None:
    rows = _cut(part, lambda number: (boxes[number].top, boxes[number].bottom))
    columns = _cut(part, lambda number: (boxes[number].left, boxes[number].right))
    if len(rows.parts) < 2 and len(columns.parts) < 2:
        return None
    if len(rows.parts) < 2 or len(columns.parts) < 2:
        return rows.parts if len(rows.parts) > 1 else columns.parts
    heights = [boxes[number].height for number in part]
    are_alike = max(heights) <= ALIKE * min(heights)
    return rows.parts if are_alike or rows.gap >= columns.gap else columns.parts


def _cut(part: Sequence[int], span: Callable[[int], tuple[int, int]]) -> _Cut:
    order = sorted(part, key=span)
    ends = list(accumulate((span(number)[1] for number in order), max))
    gaps = [span(number)[0] - end for number, end in zip(order[1:], ends, strict=False)]
    widest = max(gaps, default=-1)
    if widest < 0:
        return _Cut([list(part)], -1)
    parts = [[order[0]]]
    for number, gap in zip(order[1:], gaps, strict=True):
        if gap >= 0 and gap >= NEARLY * widest:
            parts.append([number])
        else:
            parts[-1].append(number)
    return _Cut(parts, widest)

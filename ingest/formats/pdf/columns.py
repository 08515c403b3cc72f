"""The reading order of the lines of a page: one column after the other."""

from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.lines import Line

# Taller lines are turned. Lines that overlap in height by a larger share are in one row, or in two columns.
TALL, OVERLAP = 100.0, 0.35
# By how many type sizes the next line may be higher, as beside a cell of several lines.
MOST_STEP_UP = 3.0


def in_columns(lines: Sequence[Line], width: float) -> list[Line]:
    """The lines in reading order.

    PDF files usually paint text in that order. It is kept unless it alternates between two columns, or the page has
    one column that is painted in another order.
    """
    gutter = _gutter(lines, width)
    if gutter is None:
        return _downwards(lines) or list(lines)
    sides = [-1 if line.box[2] <= gutter else 1 if line.box[0] >= gutter else 0 for line in lines]
    beside = [side for side in sides if side]
    if sum(one != other for one, other in pairwise(beside)) <= 3:
        return list(lines)
    # Lines across both columns divide the page into bands; in each the left column comes before the right one.
    across = sorted((line for line, side in zip(lines, sides, strict=True) if not side), key=lambda line: -line.box[3])

    def place(item: tuple[Line, int]) -> tuple[int, int, float]:
        line, side = item
        above = sum(other.box[1] >= line.box[3] - line.height / 2 for other in across)
        return (2 * above + (1 if side else 0), side, -line.box[3])

    return [line for line, _ in sorted(zip(lines, sides, strict=True), key=place)]


def _gutter(lines: Sequence[Line], width: float) -> float | None:
    """The middle of an upright white strip near the middle of the page with text on both sides."""
    best: tuple[int, float] | None = None
    for step in range(35, 66):
        x = width * step / 100
        left = sum(line.box[2] <= x and line.box[2] - line.box[0] > width / 6 for line in lines)
        right = sum(line.box[0] >= x and line.box[2] - line.box[0] > width / 6 for line in lines)
        crossing = sum(line.box[0] < x < line.box[2] for line in lines)
        if min(left, right) >= 5 and crossing * 4 <= min(left, right) and (best is None or -crossing > best[0]):
            best = (-crossing, x)
    return best[1] if best else None


def _downwards(lines: Sequence[Line]) -> list[Line] | None:
    """The lines from the top down; None if they are painted so anyway, or some are side by side outside a row."""
    ups = [(other.box[3] - one.box[3]) / max(other.size, 8.0) for one, other in pairwise(lines)]
    if max(ups, default=0.0) <= MOST_STEP_UP and 2 * sum(up > 0.5 for up in ups) <= len(ups):
        return None
    rows: list[list[Line]] = []
    upright = (line for line in lines if line.box[3] - line.box[1] < TALL or line.rows)
    for line in sorted(upright, key=lambda line: -line.box[3]):
        if rows and min(other.box[1] for other in rows[-1]) < line.box[3] - OVERLAP * line.height:
            if not all(_is_in_row(line, other) for other in rows[-1]):
                return None
            rows[-1].append(line)
        else:
            rows.append([line])
    ordered = [line for row in rows for line in sorted(row, key=lambda line: line.box[0])]
    return ordered if len(ordered) == len(lines) else None


def _is_in_row(one: Line, other: Line) -> bool:
    is_beside = one.box[0] >= other.box[2] - 1 or other.box[0] >= one.box[2] - 1
    return is_beside and abs(one.baseline - other.baseline) <= 0.3 * max(one.size, other.size)

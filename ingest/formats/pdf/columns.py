"""The order in which the lines of a page are read: one column after the other."""

from collections.abc import Sequence
from itertools import pairwise

from ingest.formats.pdf.lines import Line

# Pages of which this share of the lines is painted above the one before are painted from the foot up.
UPWARDS = 0.5


def in_columns(lines: Sequence[Line], width: float) -> list[Line]:
    """The lines in the order of reading.

    What is painted is mostly painted in that order, and it is kept, unless it jumps to and fro between two columns.
    """
    gutter = _gutter(lines, width)
    if gutter is None:
        return sorted(lines, key=lambda line: -line.box[3]) if _is_upwards(lines) else list(lines)
    sides = [-1 if line.box[2] <= gutter else 1 if line.box[0] >= gutter else 0 for line in lines]
    beside = [side for side in sides if side]
    if sum(one != other for one, other in pairwise(beside)) <= 3:
        return list(lines)
    # Lines over both columns part the page into bands; in each the left column goes before the right one.
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


def _is_upwards(lines: Sequence[Line]) -> bool:
    pairs = [(one, other) for one, other in pairwise(lines) if one.box[0] < other.box[2] and other.box[0] < one.box[2]]
    return sum(other.box[1] > one.box[1] + 1 for one, other in pairs) > max(UPWARDS * len(pairs), 2)

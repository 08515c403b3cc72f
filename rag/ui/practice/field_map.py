"""A treemap of the topics: each is a rectangle, larger for more questions, and none is a sliver (Bruls, Huizing and van
Wijk: Squarified Treemaps, 2000)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

# Width and height of the map on a desktop and on a phone. The style sheet draws it flatter, so that squares become wide
# enough for words.
WIDE, TALL = (100, 54), (100, 230)


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, in percent of the map's width and height."""

    x: float
    y: float
    width: float
    height: float

    def style(self, prefix: str) -> str:
        """The rectangle as custom properties of CSS."""
        sides = zip("xywh", (self.x, self.y, self.width, self.height), strict=True)
        return ";".join(f"--{prefix}{side}:{value:.2f}%" for side, value in sides)


def boxes(counts: Sequence[int], size: tuple[float, float]) -> list[Box]:
    """The rectangle of each count, in the order of `counts`. Areas are proportional to the square roots of the counts,
    so that small ones stay legible."""
    weights = [sqrt(max(1, count)) for count in counts]
    order = sorted(range(len(counts)), key=lambda place: (-weights[place], place))
    width, height = size
    scale = width * height / sum(weights) if weights else 0.0
    found: dict[int, Box] = {}
    x = y = 0.0
    while order:
        wide, high = width - x, height - y
        side = min(wide, high)
        areas = [weights[place] * scale for place in order]
        taken = 1
        while taken < len(order) and _worst(areas[: taken + 1], side) <= _worst(areas[:taken], side):
            taken += 1
        depth = sum(areas[:taken]) / side
        along = 0.0
        for place, area in zip(order[:taken], areas[:taken], strict=True):
            length = area / depth
            box = (x, y + along, depth, length) if wide >= high else (x + along, y, length, depth)
            found[place] = Box(100 * box[0] / width, 100 * box[1] / height, 100 * box[2] / width, 100 * box[3] / height)
            along += length
        x, y = (x + depth, y) if wide >= high else (x, y + depth)
        order = order[taken:]
    return [found[place] for place in range(len(counts))]


def _worst(areas: Sequence[float], side: float) -> float:
    """The largest aspect ratio of rectangles that lie side by side along `side`."""
    total = sum(areas)
    return max(max(side**2 * area / total**2, total**2 / (side**2 * area)) for area in areas)

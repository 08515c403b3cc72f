"""The map of the topics: a rectangle each, the larger the more questions it has, tiled so that none is a sliver
(Bruls, Huizing and van Wijk: Squarified Treemaps, 2000)."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

# Width by height of the map on a desktop and on a phone. The style sheet draws it lower than that: what is square here
# is wide there, as words are.
WIDE, TALL = (100, 54), (100, 230)


@dataclass(frozen=True, slots=True)
class Box:
    """In percent of the map."""

    x: float
    y: float
    width: float
    height: float

    def style(self, prefix: str) -> str:
        """As custom properties of CSS."""
        sides = zip("xywh", (self.x, self.y, self.width, self.height), strict=True)
        return ";".join(f"--{prefix}{side}:{value:.2f}%" for side, value in sides)


def boxes(counts: Sequence[int], size: tuple[float, float]) -> list[Box]:
    """The rectangle of each count. Their areas go by the root of the counts, so that what is small can be read."""
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
    """How far the least square of rectangles side by side is from a square."""
    total = sum(areas)
    return max(max(side**2 * area / total**2, total**2 / (side**2 * area)) for area in areas)

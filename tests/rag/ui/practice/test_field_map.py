"""The map of the topics covers its space, without gaps and without overlaps."""

from itertools import combinations

import pytest

from rag.ui.practice.field_map import TALL, WIDE, Box, boxes


@pytest.mark.parametrize("size", [WIDE, TALL])
@pytest.mark.parametrize("counts", [[], [1], [0, 3], [170, 158, 152, 151, 127, 116, 88, 20, 5, 1], [7] * 40])
def test_the_rectangles_tile_the_map(counts: list[int], size: tuple[int, int]) -> None:
    found = boxes(counts, size)
    assert len(found) == len(counts)
    assert sum(box.width * box.height for box in found) == pytest.approx(10_000 if counts else 0)
    assert all(box.x + box.width <= 100.001 and box.y + box.height <= 100.001 for box in found)
    assert not any(overlap(a, b) > 0.001 for a, b in combinations(found, 2))
    large = [box.width * box.height for box in found]
    assert sorted(large, reverse=True) == [area for _, area in sorted(zip(counts, large, strict=True), reverse=True)]


def overlap(a: Box, b: Box) -> float:
    wide = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
    high = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
    return max(0.0, wide) * max(0.0, high)

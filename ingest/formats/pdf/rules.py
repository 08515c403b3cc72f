"""The drawings of a page: the rules that make tables, with cells that span several places, and pictures."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pypdfium2
import pypdfium2.raw as pdfium

from ingest.formats.pdf.glyphs import Box, View

# Drawn rectangles thinner than this are rules.
RULE_THICKNESS = 3.0
TOUCHING = 3.0
MAX_RULES = 2_000

Spot = tuple[int, int]
"""Row and column, from the upper left."""


@dataclass(frozen=True, slots=True)
class Drawings:
    """The rules of a page, the share of it that pictures cover, and how many other shapes there are."""

    rules: tuple[Box, ...]
    picture_share: float
    shapes: int


def drawings(page: pypdfium2.PdfPage, view: View) -> Drawings:
    rules: list[Box] = []
    pictures, shapes = 0.0, 0
    for item in page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE)):
        left, bottom, right, top = view.box(*_on_the_page(item))
        if item.type == pdfium.FPDF_PAGEOBJ_IMAGE:
            across, up = min(right, view.width) - max(left, 0.0), min(top, view.height) - max(bottom, 0.0)
            pictures += max(across, 0.0) * max(up, 0.0)
            continue
        shapes += 1
        if len(rules) < MAX_RULES:
            rules += _rules_of(left, bottom, right, top)
    return Drawings(tuple(rules), min(pictures / max(view.width * view.height, 1.0), 1.0), shapes)


def _on_the_page(item: pypdfium2.PdfObject) -> Box:
    """The bounds of an object on the page; within a form, PDFium measures them relative to the form."""
    left, bottom, right, top = item.get_bounds()
    form = item.container
    while form is not None:
        matrix = form.get_matrix()
        corners = [matrix.on_point(x, y) for x in (left, right) for y in (bottom, top)]
        left, right = min(x for x, _ in corners), max(x for x, _ in corners)
        bottom, top = min(y for _, y in corners), max(y for _, y in corners)
        form = form.container
    return left, bottom, right, top


def _rules_of(left: float, bottom: float, right: float, top: float) -> list[Box]:
    width, height = right - left, top - bottom
    if min(width, height) <= RULE_THICKNESS < max(width, height):
        return [(left, bottom, right, top)]
    if min(width, height) > 2 * RULE_THICKNESS:  # a box is four rules
        return [
            (left, bottom, right, bottom), (left, top, right, top),
            (left, bottom, left, top), (right, bottom, right, top),
        ]  # fmt: skip
    return []


@dataclass(frozen=True, slots=True)
class Grid:
    """The rules of a table: the borders of its columns, left to right, and of its rows, bottom to top; and the places
    that have a rule below or beside them."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]
    rules_below: frozenset[Spot] = frozenset()
    rules_beside: frozenset[Spot] = frozenset()

    @property
    def box(self) -> Box:
        return (self.columns[0], self.rows[0], self.columns[-1], self.rows[-1])

    def holds(self, x: float, y: float) -> bool:
        return self.columns[0] < x < self.columns[-1] and self.rows[0] < y < self.rows[-1]

    def row(self, y: float) -> int:
        """The number of the row, from the top, at a height."""
        return len(self.rows) - 1 - bisect_right(self.rows, y)

    def column(self, x: float) -> int:
        return min(max(bisect_right(self.columns, x) - 1, 0), len(self.columns) - 2)

    def parts(self, row: int, column: int, *, down: bool) -> bool:
        """Whether a rule is drawn between a place and the one below it, or beside it."""
        return (row, column) in (self.rules_below if down else self.rules_beside)


def grids(rules: Sequence[Box]) -> list[Grid]:
    """The grids of rules that touch each other and form at least two rows and two columns."""
    groups: list[list[Box]] = []
    for rule in rules:
        touching = [group for group in groups if any(_touch(rule, other) for other in group)]
        groups = [group for group in groups if not any(group is other for other in touching)]
        groups.append([rule, *(other for group in touching for other in group)])
    found = []
    for group in groups:
        columns = _merged((box[0] + box[2]) / 2 for box in group if box[3] - box[1] > box[2] - box[0])
        rows = _merged((box[1] + box[3]) / 2 for box in group if box[2] - box[0] >= box[3] - box[1])
        if len(columns) >= 3 and len(rows) >= 3:
            found.append(Grid(columns, rows, *_drawn(group, columns, rows)))
    return found


def _drawn(group: Sequence[Box], columns: Sequence[float], rows: Sequence[float]) -> tuple[frozenset[Spot], ...]:
    """The places with a rule below them, and those with a rule beside them."""
    below: set[Spot] = set()
    beside: set[Spot] = set()
    height = len(rows) - 1
    across, up = ([(one + other) / 2 for one, other in pairwise(places)] for places in (columns, rows))
    for left, bottom, right, top in group:
        if right - left >= top - bottom:
            border = _nearest(rows, (bottom + top) / 2)
            inside = range(bisect_left(across, left - TOUCHING), bisect_right(across, right + TOUCHING))
            below.update((height - 1 - border, column) for column in inside)
        if top - bottom >= right - left:
            border = _nearest(columns, (left + right) / 2)
            inside = range(bisect_left(up, bottom - TOUCHING), bisect_right(up, top + TOUCHING))
            beside.update((height - 1 - number, border - 1) for number in inside)
    return frozenset(below), frozenset(beside)


def _nearest(places: Sequence[float], place: float) -> int:
    """The number of the border that a rule belongs to: the last one not beyond the rule."""
    return max(bisect_right(places, place + TOUCHING / 2) - 1, 0)


def _touch(one: Box, other: Box) -> bool:
    return (
        one[0] <= other[2] + TOUCHING and other[0] <= one[2] + TOUCHING
        and one[1] <= other[3] + TOUCHING and other[1] <= one[3] + TOUCHING
    )  # fmt: skip


def _merged(places: Iterable[float]) -> tuple[float, ...]:
    result: list[float] = []
    for place in sorted(places):
        if not result or place - result[-1] > 2 * TOUCHING:
            result.append(place)
    return tuple(result)

"""One page of a PDF -> its lines in reading order, with tables put together from their rules."""

import ctypes
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import pypdfium2
import pypdfium2.raw as pdfium

from ingest.formats.markdown import table

# Drawn rectangles thinner than this are rules.
RULE_THICKNESS = 3.0
TOUCHING = 3.0
MAX_RULES = 2_000
MAX_PAGE_CHARACTERS = 200_000
# A gap this wide (in heights of the line) parts two columns, not two words.
COLUMN_GAP = 1.6
SOFT_HYPHENS = "\x02\xad\ufffe"
MONOSPACED = ("mono", "courier", "consolas", "menlo", "code", "typewriter", "cmtt")

Box = tuple[float, float, float, float]
"""left, bottom, right, top in points, the origin at the lower left of the page."""


@dataclass(frozen=True, slots=True)
class Glyph:
    text: str
    box: Box
    index: int


@dataclass(frozen=True, slots=True)
class Line:
    """What stands on one line of one column; `size` is its font's, in points. A table is a line of its own kind."""

    text: str
    box: Box
    size: float
    baseline: float = 0.0
    is_mono: bool = False
    is_table: bool = False

    @property
    def height(self) -> float:
        return max(self.box[3] - self.box[1], 1.0)


@dataclass(frozen=True, slots=True)
class Page:
    lines: tuple[Line, ...]
    width: float
    height: float
    is_scan: bool


def read_page(page: pypdfium2.PdfPage) -> Page:
    """The lines of a page. A page without text that shows a picture is a scan."""
    width, height = page.get_size()
    text_page = page.get_textpage()
    rows = _rows(text_page)
    rules, picture_area = _drawings(page)
    grids = _grids(rules)
    lines: list[Line] = []
    cells: list[dict[tuple[int, int], list[str]]] = [{} for _ in grids]
    placed: set[int] = set()
    for row in rows:
        outside: list[Glyph] = []
        for glyph in row:
            number = next((n for n, grid in enumerate(grids) if grid.holds(glyph.box)), None)
            if number is None:
                outside.append(glyph)
                continue
            cells[number].setdefault(grids[number].cell(glyph.box), []).append(glyph.text)
            if number not in placed:
                placed.add(number)
                lines.append(Line(str(number), grids[number].box, 0.0, is_table=True))
        for number in placed:
            for content in cells[number].values():
                if content[-1] != "\n":
                    content.append("\n")
        lines += _line_parts(text_page, outside)
    lines = [_filled(line, grids, cells) if line.is_table else line for line in lines]
    lines = _in_columns([line for line in lines if line.text.strip()], width)
    is_scan = sum(len(line.text) for line in lines) < 16 and picture_area > 0.4 * width * height
    text_page.close()
    return Page(tuple(lines), width, height, is_scan)


def _rows(text_page: pypdfium2.PdfTextPage) -> list[list[Glyph]]:
    """The characters as they were painted, cut where PDFium sees the end of a line."""
    raw = text_page.raw
    count = min(text_page.count_chars(), MAX_PAGE_CHARACTERS)
    rows: list[list[Glyph]] = [[]]
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    pending = ""
    for index in range(count):
        code = pdfium.FPDFText_GetUnicode(raw, index)
        character = chr(code) if code < 0x110000 else "\ufffd"
        if character in "\r\n":
            if rows[-1]:
                rows.append([])
            continue
        if 0xD800 <= code < 0xDC00:  # a character beyond 0xFFFF comes in two halves
            pending = character
            continue
        if pending:
            character = (pending + character).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
            pending = ""
        pdfium.FPDFText_GetCharBox(raw, index, left, right, bottom, top)
        rows[-1].append(Glyph(character, (left.value, bottom.value, right.value, top.value), index))
    return [row for row in rows if row]


def _line_parts(text_page: pypdfium2.PdfTextPage, row: Sequence[Glyph]) -> list[Line]:
    """The lines in a row of characters: one, or several where a wide gap or a step back parts columns."""
    parts: list[list[Glyph]] = [[]]
    previous: Glyph | None = None
    for glyph in row:
        if glyph.text.isspace():
            if parts[-1]:
                parts[-1].append(glyph)
            continue
        if previous is not None:
            height = max(glyph.box[3] - glyph.box[1], previous.box[3] - previous.box[1], 4.0)
            gap = glyph.box[0] - previous.box[2]
            if gap > COLUMN_GAP * max(height, 8.0) or gap < -4 * height:
                parts.append([])
        parts[-1].append(glyph)
        previous = glyph
    return [_line(text_page, part) for part in parts if part]


def _line(text_page: pypdfium2.PdfTextPage, glyphs: Sequence[Glyph]) -> Line:
    shown = [glyph for glyph in glyphs if not glyph.text.isspace()] or list(glyphs)
    middle = shown[len(shown) // 2].index
    is_mono = all(_is_mono(text_page, glyph.index) for glyph in (shown[0], shown[len(shown) // 2], shown[-1]))
    box = (
        min(glyph.box[0] for glyph in shown), min(glyph.box[1] for glyph in shown),
        max(glyph.box[2] for glyph in shown), max(glyph.box[3] for glyph in shown),
    )  # fmt: skip
    return Line(
        "".join(glyph.text for glyph in glyphs).rstrip(),
        box,
        _font_size(text_page, middle),
        _baseline(text_page, middle),
        is_mono,
    )


def _font_size(text_page: pypdfium2.PdfTextPage, index: int) -> float:
    size = float(pdfium.FPDFText_GetFontSize(text_page.raw, index))
    matrix = pdfium.FS_MATRIX()
    if pdfium.FPDFText_GetMatrix(text_page.raw, index, matrix):
        size *= max(abs(matrix.d), abs(matrix.b)) or 1.0
    return round(size * 2) / 2


def _baseline(text_page: pypdfium2.PdfTextPage, index: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(text_page.raw, index, x, y)
    return y.value


def _is_mono(text_page: pypdfium2.PdfTextPage, index: int) -> bool:
    buffer = ctypes.create_string_buffer(128)
    flags = ctypes.c_int()
    pdfium.FPDFText_GetFontInfo(text_page.raw, index, buffer, 128, flags)
    name = buffer.value.decode("utf-8", "replace").lower()
    return any(word in name for word in MONOSPACED) and "cjk" not in name


# Tables


@dataclass(frozen=True, slots=True)
class Grid:
    """A table's rules: where its columns begin, left to right, and its rows, bottom to top."""

    columns: tuple[float, ...]
    rows: tuple[float, ...]

    @property
    def box(self) -> Box:
        return (self.columns[0], self.rows[0], self.columns[-1], self.rows[-1])

    def holds(self, box: Box) -> bool:
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return self.columns[0] < x < self.columns[-1] and self.rows[0] < y < self.rows[-1]

    def cell(self, box: Box) -> tuple[int, int]:
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        return len(self.rows) - 1 - bisect_right(self.rows, y), bisect_right(self.columns, x) - 1


def _drawings(page: pypdfium2.PdfPage) -> tuple[list[Box], float]:
    """The rules drawn on a page, and the area of the largest picture."""
    rules: list[Box] = []
    picture = 0.0
    for item in page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_PATH, pdfium.FPDF_PAGEOBJ_IMAGE)):
        left, bottom, right, top = item.get_bounds()
        if item.type == pdfium.FPDF_PAGEOBJ_IMAGE:
            picture = max(picture, (right - left) * (top - bottom))
        elif len(rules) < MAX_RULES:
            width, height = right - left, top - bottom
            if min(width, height) <= RULE_THICKNESS < max(width, height):
                rules.append((left, bottom, right, top))
            elif min(width, height) > 2 * RULE_THICKNESS:  # a box is four rules
                rules += [(left, bottom, right, bottom), (left, top, right, top)]
                rules += [(left, bottom, left, top), (right, bottom, right, top)]
    return rules, picture


def _grids(rules: Sequence[Box]) -> list[Grid]:
    """Rules that touch each other and make at least two rows and two columns."""
    groups: list[list[Box]] = []
    for rule in rules:
        touching = [group for group in groups if any(_touch(rule, other) for other in group)]
        groups = [group for group in groups if not any(group is other for other in touching)]
        groups.append([rule, *(other for group in touching for other in group)])
    grids = []
    for group in groups:
        columns = _merged((box[0] + box[2]) / 2 for box in group if box[3] - box[1] > box[2] - box[0])
        rows = _merged((box[1] + box[3]) / 2 for box in group if box[2] - box[0] >= box[3] - box[1])
        if len(columns) >= 3 and len(rows) >= 3:
            grids.append(Grid(columns, rows))
    return grids


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


def _filled(line: Line, grids: Sequence[Grid], cells: Sequence[dict[tuple[int, int], list[str]]]) -> Line:
    number = int(line.text)
    grid, content = grids[number], cells[number]
    rows = [
        ["".join(content.get((row, column), ())).strip() for column in range(len(grid.columns) - 1)]
        for row in range(len(grid.rows) - 1)
    ]
    return Line(table(rows), line.box, 0.0, is_table=True)


# Columns


def _in_columns(lines: Sequence[Line], width: float) -> list[Line]:
    """The lines in the order of reading.

    What is painted is mostly painted in that order, and it is kept, unless it jumps to and fro between two columns.
    """
    gutter = _gutter(lines, width)
    if gutter is None:
        return list(lines)
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

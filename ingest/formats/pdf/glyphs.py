"""The characters of a page as PDFium sees them -> runs of one style, in the order in which they are painted."""

import ctypes
import math
from dataclasses import dataclass, replace

import pypdfium2
import pypdfium2.raw as pdfium

MAX_PAGE_CHARACTERS = 200_000
# A gap this wide (in letter heights, about 0.8 of the type size) separates two columns, not two words.
COLUMN_GAP = 1.6
# A gap this wide, in type sizes, may separate two cells: no space between words is as wide.
CELL_GAP = 0.7
# Represents a space that PDFium inserted where two characters are apart.
GUESSED_SPACE = "\x1f"
SOFT_HYPHENS = "\x02\xad\ufffe"
MONOSPACED = ("mono", "courier", "consolas", "menlo", "code", "typewriter", "cmtt")
HEAVY = ("bold", "black", "heavy", "demi")
FORCE_BOLD = 1 << 18
BOLD_WEIGHT = 600
FILLED_AND_DRAWN = 2
SAMPLES = 4
# Flatter boxes do not count as boxes.
FLAT = 0.05
SAME_BASELINE = 0.1
TURNED, ASLANT = -1e9, 4

Box = tuple[float, float, float, float]
"""left, bottom, right, top in points, the origin at the lower left of the page as it is shown."""
Style = tuple[float, float, bool]
"""The style of a character: its box except for the width, and whether its code is unmapped."""


@dataclass(frozen=True, slots=True)
class View:
    """How a page is shown: the corner and size of its visible part, and by how many quarters it is turned."""

    left: float
    bottom: float
    width: float
    height: float
    quarters: int = 0

    def box(self, left: float, bottom: float, right: float, top: float) -> Box:
        """A box of the page, converted to the page as it is shown."""
        left, right = left - self.left, right - self.left
        bottom, top = bottom - self.bottom, top - self.bottom
        if self.quarters == 1:
            return bottom, self.height - right, top, self.height - left
        if self.quarters == 2:
            return self.width - right, self.height - top, self.width - left, self.height - bottom
        if self.quarters == 3:
            return self.width - top, left, self.width - bottom, right
        return left, bottom, right, top

    def turned(self, quarters: int) -> "View":
        """The view after the page is turned further."""
        width, height = (self.height, self.width) if quarters % 2 else (self.width, self.height)
        return replace(self, width=width, height=height, quarters=(self.quarters + quarters) % 4)


@dataclass(slots=True)
class Run:
    """Neighbouring characters of one style on one line. `lefts` and `rights` say where each begins and ends, `turn` by
    how many quarters they are turned, `begins_row` that PDFium sees a new line there."""

    text: str
    lefts: list[float]
    rights: list[float]
    bottom: float
    top: float
    size: float
    baseline: float
    begins_row: bool = False
    is_mono: bool = False
    is_bold: bool = False
    turn: int = 0
    is_unmapped: bool = False

    @property
    def left(self) -> float:
        return self.lefts[0]

    @property
    def right(self) -> float:
        return self.rights[-1]

    @property
    def box(self) -> Box:
        return min(self.lefts), self.bottom, max(self.rights), self.top

    def cut(self, start: int, end: int) -> "Run":
        """A part of the run without the spaces around it; it must hold something else."""
        while self.text[start] in (" ", GUESSED_SPACE):
            start += 1
        while self.text[end - 1] in (" ", GUESSED_SPACE):
            end -= 1
        return replace(self, text=self.text[start:end], lefts=self.lefts[start:end], rights=self.rights[start:end])


def view_of(page: pypdfium2.PdfPage) -> View:
    left, bottom, _, _ = page.get_bbox()
    width, height = page.get_size()
    return View(left, bottom, width, height, page.get_rotation() // 90 % 4)


def column_gap(size: float) -> float:
    return COLUMN_GAP * max(0.8 * size, 8.0)


def cell_gap(size: float) -> float:
    return CELL_GAP * max(size, 6.0)


class Glyphs:
    """Reads the runs of one page. `is_cut` says that the page holds more characters than are read."""

    def __init__(self, text_page: pypdfium2.PdfTextPage, view: View) -> None:
        self._text_page = text_page  # kept alive, because `raw` is freed with it
        self.raw = text_page.raw
        self.count = text_page.count_chars()
        self.is_cut = self.count > MAX_PAGE_CHARACTERS
        self.view = view
        self.runs: list[Run] = []
        self._numbers = [ctypes.c_double() for _ in range(4)]
        self._matrix = pdfium.FS_MATRIX()
        self._name = ctypes.create_string_buffer(128)
        self._flags = ctypes.c_int()
        self._font_size = 0.0
        self._clear()

    def _clear(self) -> None:
        self._text: list[str] = []
        self._lefts: list[float] = []
        self._rights: list[float] = []
        self._first = self._last = 0

    def read(self) -> list[Run]:
        raw, rect, view = self.raw, pdfium.FS_RECTF(), self.view
        unicode, loose_box, has_no_unicode = (
            pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetLooseCharBox, pdfium.FPDFText_HasUnicodeMapError,
        )  # fmt: skip
        is_plain, is_moved = not view.quarters, bool(view.left or view.bottom)
        begins_row, high_half, right, widest, step_back = True, "", 0.0, 0.0, 0.0
        styles: set[Style] = set()  # the styles of the run's letters
        for index in range(min(self.count, MAX_PAGE_CHARACTERS)):
            code = unicode(raw, index)
            is_unmapped = bool(has_no_unicode(raw, index))
            if code in (10, 13) and not is_unmapped:
                self._close()
                begins_row = True
                continue
            if 0xD800 <= code < 0xDC00 and not is_unmapped:  # a character beyond 0xFFFF comes in two halves
                high_half = chr(code)
                continue
            character = chr(code) if code < 0x110000 else "\ufffd"
            if high_half:
                character, high_half = _joined(high_half, character), ""
            loose_box(raw, index, rect)
            left, bottom, end, top = rect.left, rect.bottom, rect.right, rect.top
            if character.isspace() and not is_unmapped:
                if self._text:  # a space outside a run belongs to the text after it, and may move with it
                    is_guess = top == bottom or left - right > end - left
                    self._add(GUESSED_SPACE if is_guess else " ", right, right, self._last)
                continue
            if is_plain and top - bottom > FLAT:
                if is_moved:
                    left, bottom, end, top = view.box(left, bottom, end, top)
                found: Style = (bottom, top, is_unmapped)
            else:
                (left, bottom, end, top), found = self._tight(index, is_unmapped=is_unmapped)
            is_new = found not in styles and not self._keeps_style(index, found)
            if is_new or not self._text or not -step_back <= left - right <= widest:
                self._close()
                run = self._open(index, bottom, top, begins_row=begins_row, is_unmapped=is_unmapped)
                begins_row = False
                styles.clear()
                widest, step_back = (1e9, 1e9) if run.turn else (cell_gap(run.size), 4 * max(run.size, 4.0))
            styles.add(found)
            self._add(character, left, end, index)
            right = end
        self._close()
        return self.runs

    def _add(self, character: str, left: float, right: float, index: int) -> None:
        self._text.append(character)
        self._lefts.append(left)
        self._rights.append(right)
        self._last = index

    def _keeps_style(self, index: int, found: Style) -> bool:
        """Whether a different box is only the letter's own, as with fonts that do not state their height."""
        if not self._text or found[2] != self.runs[-1].is_unmapped:
            return False
        if self.runs[-1].turn:
            return self._turn(index) == self.runs[-1].turn
        if found[0] == TURNED:
            return False
        return (
            abs(self._baseline(index) - self.runs[-1].baseline) < SAME_BASELINE
            and float(pdfium.FPDFText_GetFontSize(self.raw, index)) == self._font_size
        )

    def _open(self, index: int, bottom: float, top: float, *, begins_row: bool, is_unmapped: bool) -> Run:
        self._first = self._last = index
        size, baseline, turn = self._size(index), self._baseline(index), self._turn(index)
        if not turn:  # the letter's own box may be lower
            bottom, top = baseline - 0.22 * size, baseline + 0.78 * size
        run = Run(
            "", [], [], bottom, top, size, baseline, begins_row=begins_row, turn=turn, is_unmapped=is_unmapped
        )  # fmt: skip
        self._font_size = float(pdfium.FPDFText_GetFontSize(self.raw, index))
        self.runs.append(run)
        return run

    def _close(self) -> None:
        if not self._text:
            return
        run = self.runs[-1]
        run.text, run.lefts, run.rights = "".join(self._text), self._lefts, self._rights
        places = sorted({self._first + (self._last - self._first) * n // SAMPLES for n in range(SAMPLES + 1)})
        kinds = [self._kind(place) for place in places]
        run.is_mono = all(is_mono for is_mono, _ in kinds)
        run.is_bold = all(is_bold for _, is_bold in kinds)
        self._clear()

    def _tight(self, index: int, *, is_unmapped: bool) -> tuple[Box, Style]:
        """The box and style of a character for which PDFium knows no loose box, as in turned type."""
        left, right, bottom, top = self._numbers
        pdfium.FPDFText_GetCharBox(self.raw, index, left, right, bottom, top)
        box = self.view.box(left.value, bottom.value, right.value, top.value)
        if turn := self._turn(index):
            return box, (TURNED, float(turn), is_unmapped)
        return box, (self._baseline(index), self._size(index), is_unmapped)

    def _baseline(self, index: int) -> float:
        x, y = self._numbers[:2]
        pdfium.FPDFText_GetCharOrigin(self.raw, index, x, y)
        return self.view.box(x.value, y.value, x.value, y.value)[1]

    def _size(self, index: int) -> float:
        size = float(pdfium.FPDFText_GetFontSize(self.raw, index))
        if pdfium.FPDFText_GetMatrix(self.raw, index, self._matrix):
            size *= max(abs(self._matrix.d), abs(self._matrix.b)) or 1.0
        return round(size * 2) / 2

    def _turn(self, index: int) -> int:
        """By how many quarters a character is turned clockwise for the reader; ASLANT if by something else."""
        quarters = float(pdfium.FPDFText_GetCharAngle(self.raw, index)) / (math.pi / 2)
        return ASLANT if abs(quarters - round(quarters)) > 0.1 else round(quarters + self.view.quarters) % 4

    def _kind(self, index: int) -> tuple[bool, bool]:
        """Whether a character is monospaced, and whether it is bold."""
        pdfium.FPDFText_GetFontInfo(self.raw, index, self._name, 128, self._flags)
        name = self._name.value.decode("utf-8", "replace").lower()
        is_mono = "cjk" not in name and any(word in name for word in MONOSPACED)
        if self._flags.value & FORCE_BOLD or any(word in name for word in HEAVY):
            return is_mono, True
        if pdfium.FPDFText_GetFontWeight(self.raw, index) >= BOLD_WEIGHT:
            return is_mono, True
        item = pdfium.FPDFText_GetTextObject(self.raw, index)
        return is_mono, bool(item) and pdfium.FPDFTextObj_GetTextRenderMode(item) == FILLED_AND_DRAWN


def _joined(high: str, low: str) -> str:
    return (high + low).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

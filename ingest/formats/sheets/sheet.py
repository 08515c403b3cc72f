"""One sheet of a workbook: its cells as they are shown, its merges and tables, its remarks, and what is hidden."""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple

from ingest.formats.extract import MAX_CHARACTERS, UnreadableError
from ingest.formats.office_xml import ON, local_name, text_of
from ingest.formats.sheets.dates import number_of
from ingest.formats.sheets.heads import Cell
from ingest.formats.sheets.number_formats import GENERAL, general, shown
from ingest.formats.sheets.package import Package, Style, elements, text_in, unescaped
from rag.errors import Unreadable

MAX_ROWS, MAX_COLUMNS = 50_000, 16_384
MAX_CELLS = 1_000_000
# Merges, remarks and blank cells with a look of their own; more are a mistake, or meant to do harm.
MOST_MERGES, MOST_REMARKS, MOST_BLANKS = 50_000, 5_000, 200_000
MOST_TABLES = 100
PLACE = re.compile(r"\$?([A-Z]{1,3})\$?([1-9]\d{0,6})")
# How many rows, columns or cells a warning names.
NAMED = 10


class Area(NamedTuple):
    """Rows and columns from the first to the last, counted from 0."""

    top: int
    left: int
    bottom: int
    right: int

    def holds(self, row: int, column: int) -> bool:
        return self.top <= row <= self.bottom and self.left <= column <= self.right


@dataclass(slots=True)
class Sheet:
    """The content of a sheet. `blanks` are the looks of cells without text, `tables` the areas declared as tables with
    the number of their head rows, `boxes` the texts that lie over the cells."""

    cells: dict[tuple[int, int], Cell] = field(default_factory=dict)
    blanks: dict[tuple[int, int], int] = field(default_factory=dict)
    merges: list[Area] = field(default_factory=list)
    remarks: dict[tuple[int, int], str] = field(default_factory=dict)
    tables: list[tuple[Area, int]] = field(default_factory=list)
    boxes: list[str] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)

    def is_hidden(self, row: int, column: int) -> bool:
        return row in self.hidden_rows or column in self.hidden_columns


def read_sheet(package: Package, part: str) -> Sheet:
    """The sheet of a part. Raises UnreadableError."""
    sheet = Sheet()
    _Reader(package, sheet).read(part)
    for own in package.related(part, "table")[:MOST_TABLES]:
        _read_table(package, own, sheet)
    threads = package.related(part, "threadedComment")
    for own in threads or package.related(part, "comments"):
        _read_remarks(package, own, sheet, threaded=bool(threads))
    for own in package.related(part, "drawing"):
        paragraphs = (text_of(paragraph) for paragraph in elements(package.archive, own, "p"))
        sheet.boxes += dict.fromkeys(text for text in paragraphs if text.strip())
    return sheet


class _Reader:
    """Reads the part of a sheet once, from its beginning to its end."""

    def __init__(self, package: Package, sheet: Sheet) -> None:
        self.package = package
        self.sheet = sheet
        self.row = -1
        self.characters = 0
        self.unknown: list[str] = []
        self.struck: list[str] = []
        self.unseen: list[str] = []

    def read(self, part: str) -> None:
        sheet, is_cut = self.sheet, False
        for element in elements(self.package.archive, part, "row", "col", "mergeCell"):
            name = local_name(element)
            if name == "row":
                is_cut = is_cut or not self._read_row(element)
            elif name == "col" and _is_hidden(element, "width"):
                last = min(_whole(element.get("max")), MAX_COLUMNS)
                sheet.hidden_columns.update(range(_whole(element.get("min")) - 1, last))
            elif name == "mergeCell" and len(sheet.merges) < MOST_MERGES:
                sheet.merges += filter(None, [area_of(element.get("ref", ""))])
        self._tell(is_cut=is_cut)

    def _read_row(self, element: Any) -> bool:
        """Read a row; returns False if it is beyond the limits."""
        sheet = self.sheet
        self.row = _whole(element.get("r")) - 1 if element.get("r") else self.row + 1
        if self.row >= MAX_ROWS or len(sheet.cells) > MAX_CELLS:
            return False
        column = -1
        space = element.tag.removesuffix("row")  # the namespace of its content
        for cell in element.iterchildren(f"{space}c"):
            letters = cell.get("r", "").rstrip("0123456789")
            column = column_of(letters) if letters.isalpha() else column + 1
            style = self.package.style(cell.get("s"))
            text, is_number = self._shown(cell, space, style, column)
            self.characters += len(text)
            if self.characters > MAX_CHARACTERS:
                hint = "split the file"
                raise UnreadableError(
                    f"contains more than {MAX_CHARACTERS:,} characters of text", hint=hint, reason=Unreadable.LARGE
                )
            if text and not text.isspace():
                sheet.cells[self.row, column] = Cell(text, is_number, style.look)
            elif style.look and len(sheet.blanks) < MOST_BLANKS:
                sheet.blanks[self.row, column] = style.look
        if _is_hidden(element, "ht"):
            sheet.hidden_rows.add(self.row)
        return True

    def _shown(self, cell: Any, space: str, style: Style, column: int) -> tuple[str, bool]:
        """The text of a cell, and whether it is a number."""
        kind, value = cell.get("t", "n"), cell.findtext(f"{space}v") or ""
        if not value and kind != "str" and cell.find(f"{space}f") is not None:
            self.unknown.append(name_of(self.row, column))
        said, number = self._value(kind, value, cell.find(f"{space}is") if kind == "inlineStr" else None)
        if number is not None and style.code == GENERAL:
            said = said if kind == "d" else general(number)
        elif number is not None:
            said = shown(number, style.code, from_1904=self.package.from_1904)
            if not said:
                self.unseen.append(name_of(self.row, column))
        if said and style.is_struck:
            self.struck.append(name_of(self.row, column))
            said = ""
        return said, number is not None

    def _value(self, kind: str, value: str, inline: Any) -> tuple[str, float | None]:
        strings = self.package.strings
        if kind == "s":
            return (strings[int(value)] if value.isdecimal() and int(value) < len(strings) else ""), None
        if kind == "inlineStr":
            return ("" if inline is None else text_in(inline)), None
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(value, value), None
        try:
            if kind == "d":  # a date as ISO writes it, which most programs leave to the format
                return value, number_of(datetime.fromisoformat(value), from_1904=self.package.from_1904)
            number = float(value) if kind == "n" and value else None
        except (ValueError, OverflowError):
            number = None
        return unescaped(value), number if number is not None and math.isfinite(number) else None

    def _tell(self, *, is_cut: bool) -> None:
        sheet, tell = self.sheet, self.sheet.warnings.append
        if is_cut:
            tell(f"only the first {MAX_ROWS:,} rows or {MAX_CELLS:,} cells were read")
        rows = sorted({row for row, _ in sheet.cells} & sheet.hidden_rows)
        if rows:
            tell(f"hidden rows were left out: {listed(_runs(rows))}")
        columns = sorted({column for _, column in sheet.cells} & sheet.hidden_columns)
        if columns:
            tell(f"hidden columns were left out: {listed(map(letters_of, columns))}")
        if self.unknown:
            tell(
                f"formulas without a computed value were left out: {listed(self.unknown)} (open the file in a "
                "spreadsheet program and save it)"
            )
        if self.struck:
            tell(f"struck-out cells were left out: {listed(self.struck)}")
        if self.unseen:
            tell(f"cells hidden by their number format were left out: {listed(self.unseen)}")


def _is_hidden(element: Any, size: str) -> bool:
    return element.get("hidden") in ON or (element.get(size) in ("0", "0.0"))


def _read_table(package: Package, part: str, sheet: Sheet) -> None:
    for table in elements(package.archive, part, "table"):
        if area := area_of(table.get("ref", "")):
            sheet.tables.append((area, _whole(table.get("headerRowCount"), 1)))


def _read_remarks(package: Package, part: str, sheet: Sheet, *, threaded: bool) -> None:
    authors: list[str] = []
    for element in elements(package.archive, part, "author", "threadedComment" if threaded else "comment"):
        place = PLACE.fullmatch(element.get("ref", ""))
        if local_name(element) == "author":
            authors.append((element.text or "").strip())
        elif place and len(sheet.remarks) < MOST_REMARKS:
            texts = [child for child in element if local_name(child) == "text"]
            said = " ".join("".join(text.itertext() if threaded else [text_in(text)]) for text in texts)
            number = element.get("authorId", "")
            author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
            # Programs write the author's name above the remark.
            said = " ".join(said.split()).removeprefix(f"{author}:").removeprefix(f"{author}：").strip()
            at = int(place[2]) - 1, column_of(place[1])
            sheet.remarks[at] = " / ".join(filter(None, (sheet.remarks.get(at), said)))


def area_of(reference: str) -> Area | None:
    """
    >>> area_of("B2:D7")
    Area(top=1, left=1, bottom=6, right=3)
    """
    first, _, last = reference.partition(":")
    begin, end = PLACE.fullmatch(first), PLACE.fullmatch(last or first)
    if begin is None or end is None:
        return None
    area = Area(int(begin[2]) - 1, column_of(begin[1]), int(end[2]) - 1, column_of(end[1]))
    return area if area.top <= area.bottom and area.left <= area.right else None


@lru_cache(maxsize=MAX_COLUMNS)
def column_of(letters: str) -> int:
    """
    >>> column_of("A"), column_of("AB")
    (0, 27)
    """
    number = 0
    for letter in letters.upper()[:3]:
        number = 26 * number + ord(letter) - 64
    return number - 1


def letters_of(column: int) -> str:
    """
    >>> letters_of(0), letters_of(27)
    ('A', 'AB')
    """
    letters = ""
    while column >= 0:
        column, rest = divmod(column, 26)
        letters, column = chr(65 + rest) + letters, column - 1
    return letters


def name_of(row: int, column: int) -> str:
    return f"{letters_of(column)}{row + 1}"


def _whole(text: str | None, missing: int = 0) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else missing


def _runs(rows: list[int]) -> Iterator[str]:
    """
    >>> list(_runs([3, 4, 5, 8]))
    ['4-6', '9']
    """
    start = None
    for place, row in enumerate(rows):
        start = row if start is None else start
        if place + 1 == len(rows) or rows[place + 1] != row + 1:
            yield f"{start + 1}-{row + 1}" if row > start else str(row + 1)
            start = None


def listed(names: Iterable[str]) -> str:
    """The first of many names, and how many more there are."""
    found = list(names)
    more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
    return ", ".join(found[:NAMED]) + more

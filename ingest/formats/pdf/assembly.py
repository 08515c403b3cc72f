"""The lines of all pages -> one text: headings, paragraphs, lists, code, tables, and where each page begins in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ingest.formats.markdown import MAX_COLUMNS, fence, heading, table
from ingest.formats.pdf.headings import Type, type_of
from ingest.formats.pdf.lines import Line
from ingest.formats.pdf.paragraphs import BULLET, NUMBERED, Edge, Layout, right_edges
from ingest.formats.pdf.words import Words, glue
from rag.language.ends import is_finished

# Columns of tables on two pages that are this close to each other, in points, are the same.
SAME_COLUMN = 6.0
# A document with more than MOST_MONO monospaced lines is prose, not code, if LEAST_FULL of them fill the page.
MOST_MONO, LEAST_FULL = 0.6, 0.35
MONO_EDGE, SHORTEST_FULL = 8, 50
MOST_HEADS, LEAST_ROWS = 3, 3
MOST_OF_FOOTNOTE = 0.92


@dataclass(slots=True)
class Table:
    """A table that may continue on the next page. `begins_page`: it is the first on its page. `breaks`: the rows at
    which the next pages begin."""

    rows: list[tuple[str, ...]]
    columns: tuple[float, ...]
    begins_page: bool
    breaks: list[int] = field(default_factory=list)

    @property
    def has_head(self) -> bool:
        """Whether the first row is a head: not if there are several rows and all of them begin with numbers."""
        return len(self.rows) < LEAST_ROWS or not all(row[0].isdecimal() for row in self.rows)

    def goes_on(self, line: Line) -> bool:
        """Whether a table on another page has the same columns."""
        if len(line.columns) != len(self.columns) or len(self.columns) - 1 > MAX_COLUMNS:
            return False
        slack = max(SAME_COLUMN, min(other - one for one, other in pairwise(self.columns)) / 4)
        return all(abs(one - other) <= slack for one, other in zip(self.columns, line.columns, strict=True))

    def extend(self, rows: Sequence[tuple[str, ...]]) -> None:
        """Add the rows of the next page without a repeated head. Where the page break cuts a cell of the first column,
        its text is repeated."""
        self.breaks.append(len(self.rows))
        repeated = 0
        while repeated < min(len(rows) - 1, MOST_HEADS) and rows[repeated] == self.rows[repeated]:
            repeated += 1
        is_cut = True
        for row in rows[repeated:]:
            is_cut = is_cut and not row[0]
            self.rows.append((self.rows[-1][0], *row[1:]) if is_cut and len(self.rows) > 1 else row)


@dataclass(slots=True)
class Assembly:
    """The text put together so far. `borders` holds the offset at which each page begins."""

    words: Words
    layout: Layout
    type: Type
    parts: list[str] = field(default_factory=list)
    borders: list[int] = field(default_factory=list)
    length: int = 0
    _code: list[str] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _before: tuple[Line, Edge] | None = None
    _is_first_line: bool = True
    _is_item: bool = False
    _level: int = 0
    _table: Table | None = None
    _page_begins: bool = True
    _first_part: int = 0
    _paragraph: int = 0

    def add(self, page: Sequence[Line]) -> None:
        edges = right_edges(page)
        self._page_begins = True
        self._first_part = len(self.parts)
        for place, line in enumerate(page):
            if line.is_note:
                self._notes.append(line.text)
            elif line.is_table:
                self._add_table(line)
            elif line.is_mono and len(line.text) > 1:
                self._add_code(_indent(line, page, place) + line.text)
            else:
                self._add_line(line, edges[place], self.type.level(page, place))
        self._close_code()
        if self._page_begins:
            self._close()
            self._begin_page(0)

    def add_feet(self, lines: Sequence[Line]) -> None:
        """Put the footnotes of a page before the paragraph that continues on the next one."""
        if not lines:
            return
        feet = Assembly(self.words, self.layout, self.type)
        feet.add(lines)
        text = feet.text().strip()
        if self._paragraph < self._first_part:  # it has begun on an earlier page
            self._before = None
            self._put(text)
            return
        first = self.parts[self._paragraph] if self._paragraph else "\n\n" + self.parts[0]
        self.parts[self._paragraph : self._paragraph + 1] = [("\n\n" if self._paragraph else "") + text, first]
        self.length += len(text) + 2

    def text(self) -> str:
        self._close()
        return "".join(self.parts).strip("\n") + "\n"

    def _close(self) -> None:
        """End the open block, and put the remarks on it after it."""
        self._close_code()
        self._close_table()
        notes, self._notes = self._notes, []
        for note in notes:
            self._put(note)
        if notes:
            self._before = None

    def _put(self, text: str, separator: str = "\n\n") -> None:
        between = separator if self.parts else ""
        self._begin_page(len(between))
        self.parts.append(between + text)
        self.length += len(between) + len(text)

    def _begin_page(self, separator: int) -> None:
        if self._page_begins:
            self.borders.append(self.length + separator)
            self._page_begins = False

    def _add_line(self, line: Line, edge: Edge, level: int) -> None:
        self._close_code()
        self._close_table()
        text = line.text
        if (
            level
            and not self._level
            and line.size == self.type.body
            and not self._has_ended()
            and self._goes_on(line, 0)
        ):
            level = 0  # a bold line within a paragraph
        if level == self._level and self._goes_on(line, level):
            self._go_on(text)
            self._is_first_line = False
        else:
            self._close()
            bullet = BULLET.match(text)
            is_item = bullet is not None or NUMBERED.match(text) is not None
            follows = is_item and self._is_item and self._before is not None and not level
            if level:
                text = heading(text, level)
            elif bullet is not None and bullet.end() < len(text):
                text = f"- {text[bullet.end() :]}"
            self._paragraph = len(self.parts)
            self._put(text, "\n" if follows else "\n\n")
            self._is_first_line, self._is_item = True, is_item and not level
        self._before, self._level = (line, edge), level

    def _goes_on(self, line: Line, level: int) -> bool:
        return self._before is not None and self.layout.continues(
            *(self._before[0], line, self._before[1]),
            is_first=self._is_first_line, is_heading=bool(level), turns=self._page_begins,
        )  # fmt: skip

    def _has_ended(self) -> bool:
        """Whether the line before ends a sentence."""
        return self._before is None or is_finished(self._before[0].text)

    def _go_on(self, text: str) -> None:
        between, cut = glue(self.parts[-1], text, self.words)
        if cut:
            self.parts[-1] = self.parts[-1][:-cut]
            self.length -= cut
        self._begin_page(len(between))
        self.parts.append(between + text)
        self.length += len(between) + len(text)

    def _add_code(self, text: str) -> None:
        if not self._code:
            self._close()
        self._begin_page(2 if self.parts else 0)
        self._code.append(text)
        self._before = None

    def _close_code(self) -> None:
        if self._code:
            code, self._code = self._code, []
            self._put(fence("\n".join(code)))

    def _add_table(self, line: Line) -> None:
        self._close_code()
        rows = list(line.rows)
        if self._table is not None and self._page_begins and self._table.goes_on(line):
            self._table.extend(rows)
        else:
            self._close()
            self._table = Table(rows, line.columns, self._page_begins)
        self._page_begins, self._before = False, None

    def _close_table(self) -> None:
        if self._table is None:
            return
        open_table, self._table = self._table, None
        begins, self._page_begins = self._page_begins, open_table.begins_page
        written = table(open_table.rows, headless=not open_table.has_head)
        self._put(written)
        lines = written.split("\n")
        for row in open_table.breaks:
            self.borders.append(
                self.length - len(written) + sum(len(text) + 1 for text in lines[: row + 2 - open_table.has_head])
            )
        self._page_begins = begins


def assemble(pages: Sequence[Sequence[Line]]) -> Assembly:
    """All pages put together."""
    if _is_typed(pages):
        pages = [[replace(line, is_mono=False) for line in page] for page in pages]
    words = Words(lambda: (line.text for page in pages for line in page))
    result = Assembly(words, Layout(pages), type_of(pages))
    for page, following in zip(pages, [*pages[1:], ()], strict=True):
        count = _feet(page, following, result.type.body)
        result.add(page[: len(page) - count])
        result.add_feet(page[len(page) - count :])
    return result


def _feet(page: Sequence[Line], following: Sequence[Line], body: float) -> int:
    """How many lines at the end of a page are footnotes that separate a sentence from its rest on the next page."""
    count = 0
    while count < len(page) and 0 < page[-1 - count].size <= MOST_OF_FOOTNOTE * body:
        count += 1
    last = next((line for line in reversed(page[: len(page) - count]) if not line.is_note), None)
    first = next((line for line in following if not line.is_note), None)
    if not count or last is None or first is None or last.size != body or first.size != body:
        return 0
    return 0 if is_finished(last.text) else count


def _is_typed(pages: Sequence[Sequence[Line]]) -> bool:
    """Whether a document is prose in monospaced type, not code: most of its lines are, and many of them are full."""
    lines = [line for page in pages for line in page if line.size]
    typed = [line for line in lines if line.is_mono]
    if len(typed) <= MOST_MONO * len(lines):
        return False
    widths = sorted(len(line.text) for line in typed)
    widest = widths[len(widths) * 19 // 20]
    full = sum(widest - MONO_EDGE <= width <= widest + MONO_EDGE for width in widths)
    return widest >= SHORTEST_FULL and full >= LEAST_FULL * len(typed)


def _indent(line: Line, page: Sequence[Line], place: int) -> str:
    """The spaces by which a line of code was indented; a PDF only has their width."""
    run = [other for other in page[max(0, place - 60) : place + 60] if other.is_mono]
    left = min(other.box[0] for other in run)
    width = min((other.box[2] - other.box[0]) / len(other.text) for other in run)
    return " " * min(40, round((line.box[0] - left) / width)) if width > 0.5 else ""

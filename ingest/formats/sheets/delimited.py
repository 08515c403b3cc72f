"""CSV and TSV -> Markdown tables."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract, UnreadableError, join_blocks
from ingest.formats.sheets.heads import Cell, is_data
from ingest.formats.sheets.layout import blocks_of
from ingest.formats.sheets.sheet import MAX_CELLS, Sheet, listed
from ingest.formats.sheets.written import written

# In the order in which they are preferred if several would do.
DELIMITERS = "\t,;|"
# For text whose lines are one field each; no text file contains this character.
NONE = "\x1f"
SAMPLE_LINES = 50
MAX_FIELD_CHARACTERS = 1_000_000
MAX_ROWS = 50_000
# The line that tells Excel the delimiter.
SEPARATOR = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
# A comma between digits may be part of a number.
DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
NUMBER = re.compile(r"[-+(]?\s*[¥$€£₩￥]?\s*\d[\d.,' ]*\s*%?\)?")
# How many characters of a remark above the table are reported, and how many remarks of a file.
MOST_OF_A_REMARK, MOST_REMARKS = 200, 20


class Dialect(NamedTuple):
    """How the fields of a text are delimited and quoted."""

    delimiter: str
    skips_space: bool = False
    escapes: bool = False
    quotes: bool = True

    def rows(self, lines: Sequence[str], *, strict: bool = False) -> Iterator[list[str]]:
        return csv.reader(
            lines,
            strict=strict,
            delimiter=self.delimiter,
            skipinitialspace=self.skips_space,
            escapechar="\\" if self.escapes else None,
            quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE,
        )


def read(data: bytes) -> Extract:
    return read_delimited(data)


def read_tabbed(data: bytes) -> Extract:
    """TSV: tabs divide the fields, whatever else the lines hold."""
    return read_delimited(data, "\t")


def read_delimited(data: bytes, usual: str = "") -> Extract:
    """The tables of a text. `usual` is the delimiter if it can be. Raises UnreadableError."""
    text, warnings = decoded(data)
    # Not splitlines(): it ends a line at characters that fields may contain.
    lines = [*io.StringIO(text, newline="")]
    csv.field_size_limit(MAX_FIELD_CHARACTERS)
    delimiter = ""
    if lines and (said := SEPARATOR.fullmatch(lines[0].strip(" \r\n"))):
        delimiter, lines = said[1], lines[1:]
    count = next((place for place, line in enumerate(lines) if not line.startswith("#")), len(lines))
    remarks, lines = lines[:count], lines[count:]
    dialect = _dialect(lines, delimiter or _delimiter(lines, usual))
    head = _head_among(remarks, lines, dialect)
    remarks, lines = remarks[: len(remarks) - len(head)], [*head, *lines]
    told = [*warnings, *(f"remark: {line[1:].strip()[:MOST_OF_A_REMARK]}" for line in remarks[:MOST_REMARKS])]
    try:
        rows, more = _rows(lines, dialect)
    except csv.Error as error:
        raise UnreadableError(f"is not a valid CSV file: {error}", hint="save it again as CSV in UTF-8") from error
    return Extract(join_blocks(_shown(rows)), warnings=(*told, *more))


def _rows(lines: Sequence[str], dialect: Dialect) -> tuple[list[list[str]], list[str]]:
    """The rows, and warnings about what was not read, or not as it is written."""
    warnings: list[str] = []
    if dialect.quotes and sum(line.count('"') for line in lines) % 2 and _runs_on(lines, dialect):
        warnings.append("a quotation mark is never closed: all quotation marks are read as text")
        dialect = dialect._replace(quotes=False)
    rows: list[list[str]] = []
    cells = 0
    for row in dialect.rows(lines):
        cells += len(row)
        if len(rows) == MAX_ROWS or cells > MAX_CELLS:
            warnings.append(f"only the first {len(rows):,} rows were read")
            break
        rows.append(row)
    widths = Counter(len(row) for row in rows if any(row))
    usual = widths.most_common(1)[0][0] if widths else 0
    other = [str(place) for place, row in enumerate(rows, start=1) if len(row) > usual]
    if other and len(widths) > 1:
        warnings.append(f"rows with more than the usual {usual} fields: {listed(other)}")
    return rows, warnings


def _runs_on(lines: Sequence[str], dialect: Dialect) -> bool:
    """Whether the last field spans several lines, as with a quotation mark that is never closed."""
    last: list[str] = []
    try:
        for row in dialect.rows(lines):
            last = row
    except csv.Error:
        return True
    return bool(last) and "\n" in last[-1].rstrip("\r\n")


def _shown(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    sheet = Sheet(
        cells={
            (number, column): Cell(text, bool(NUMBER.fullmatch(text.strip())))
            for number, row in enumerate(rows)
            for column, text in enumerate(row)
            if text.strip()
        }
    )
    for block in blocks_of(sheet, is_delimited=True):
        yield from written(block)


def _delimiter(lines: Sequence[str], usual: str) -> str:
    """The delimiter that gives most lines, if possible also the first, as many fields; `NONE` if there is none."""
    # Not csv.Sniffer: its regular expressions take minutes on hostile lines.
    sample = [line for line in lines[: 2 * SAMPLE_LINES] if line.strip()][:SAMPLE_LINES]
    worth = {delimiter: _worth(sample, delimiter) for delimiter in DELIMITERS}
    able = [delimiter for delimiter in DELIMITERS if worth[delimiter][-1] > 0.5]
    if usual in able:
        return usual
    if len(able) > 1 and "," in able and _is_decimal_comma(sample):
        able.remove(",")
    return max(able, key=lambda delimiter: worth[delimiter], default=NONE)


def _worth(sample: Sequence[str], delimiter: str) -> tuple[bool, bool, float]:
    """Whether quotation marks are where fields begin and end, whether the first line has the usual number of fields,
    and the share of lines that have it; lines with another number count half."""
    dialect = _dialect(sample, delimiter)
    try:
        rows = [row for row in dialect.rows(sample) if row]
    except csv.Error:
        return False, False, 0.0
    counts = Counter(map(len, rows))
    usual, found = counts.most_common(1)[0] if counts else (0, 0)
    if usual < 2:
        return False, False, 0.0
    is_first = len(rows[0]) == usual
    # In prose, which may also be below a name, a space follows.
    spaced = sum(field.startswith(" ") for row in rows for field in row[1:])
    if not is_first and 2 * spaced > sum(len(row) - 1 for row in rows):
        return False, False, 0.0
    other = sum(count for size, count in counts.items() if 1 < size != usual) if is_first else 0
    return _is_quoted_right(sample, dialect), is_first, (found + other / 2) / len(rows)


def _is_quoted_right(sample: Sequence[str], dialect: Dialect) -> bool:
    try:
        return len([*dialect.rows(sample, strict=True)]) > 0
    except csv.Error:
        return False


def _is_decimal_comma(sample: Sequence[str]) -> bool:
    """Whether all commas are between digits."""
    text = "".join(re.sub(r'"[^"]*"', "", line) for line in sample)
    return text.count(",") == len(DECIMAL_COMMA.findall(text)) > 0


def _dialect(lines: Sequence[str], delimiter: str) -> Dialect:
    text = "".join(lines[:SAMPLE_LINES])
    mark = re.escape(delimiter)
    return Dialect(
        delimiter,
        skips_space=delimiter != " " and bool(re.search(f'{mark} +"', text)),
        escapes='""' not in text and bool(re.search(rf'\\"[^{mark}\r\n"]', text)),
    )


def _head_among(remarks: Sequence[str], lines: Sequence[str], dialect: Dialect) -> list[str]:
    """The last remark above a table if it is its head: its first column is called #, or no other line can be."""
    if not remarks:
        return []
    rows = [row for row in dialect.rows(lines[:SAMPLE_LINES]) if row]
    names = next(dialect.rows([remarks[-1]]), [])
    if not rows or len(names) < 2 or len(names) != len(rows[0]):
        return []
    if names[0].strip() == "#":
        return [remarks[-1]]
    return [remarks[-1].lstrip("# ")] if is_data([[Cell(text) for text in row] for row in rows]) else []

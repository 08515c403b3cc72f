"""Tables without rules: at least three rows of short pieces whose columns line up."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import mean, median

from ingest.formats.pdf.lines import MARKS, Line, join_pieces
from ingest.formats.pdf.words import Words, glue, units

LEAST_ROWS = 3
SAME_HEIGHT = 0.3
# The next row is at most this far below, in type sizes.
MOST_STEP = 3.2
# A line closer to the one above it than this share of the row distance continues it.
WRAPPED = 0.85
# Columns of prose: this many units (two for a Chinese character) in most lines, which fill most of the width.
PROSE_UNITS, PROSE_SHARE = 18, 0.75
MOST_COLUMNS, MOST_ROWS = 30, 200
# How many rows of a page may be tried in vain as the start of a table.
MOST_ATTEMPTS = 300
# The least share of the rows in which each column holds something.
LEAST_FILLED = 0.3

Row = list[Line]
Column = tuple[float, float]


def with_tables(lines: Sequence[Line], words: Words) -> list[Line]:
    """The lines, with those that form a table joined into one."""
    rows = _rows(lines)
    result: list[Line] = []
    place, attempts = 0, 0
    while place < len(rows):
        end = _before_crossing(rows, place, _end_of_table(rows, place)) if attempts < MOST_ATTEMPTS else place
        table = _table(rows[place:end], words) if end - place >= LEAST_ROWS else None
        if table is None:
            attempts += len(rows[place]) > 1
            result += rows[place]
            place += 1
        else:
            result.append(table)
            place = end
    return join_pieces(result)


def _rows(lines: Sequence[Line]) -> list[Row]:
    """Groups of lines at the same height, painted one after the other from left to right."""
    rows: list[Row] = []
    for line in lines:
        last = rows[-1][-1] if rows else None
        if (
            last is not None
            and line.size and last.size
            and abs(line.baseline - last.baseline) <= SAME_HEIGHT * max(line.size, last.size)
            and line.box[0] > last.box[2] - 1
        ):  # fmt: skip
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _end_of_table(rows: Sequence[Row], start: int) -> int:
    """The end of the consecutive rows that may be one table; its first row must have several pieces."""
    if not 2 <= len(rows[start]) <= MOST_COLUMNS or _is_code(rows[start]):
        return start
    end = last_full = start + 1
    columns = _columns([rows[start]])
    while end < min(len(rows), start + MOST_ROWS) and _is_below(rows[end - 1][0], rows[end][0]):
        row = rows[end]
        if len(row) > MOST_COLUMNS or _is_code(row):
            break
        if len(row) > len(columns) and sum(len(other) > 1 for other in rows[start:end]) >= LEAST_ROWS:
            break
        if len(row) > 1:
            columns = _columns(rows[start : end + 1])
            if len(columns) < 2:
                break
            last_full = end + 1
        elif len(_touched(row[0], columns)) > 1:
            break
        end += 1
    # Lines below the last full row belong to it only if they are closer than rows are.
    while last_full < end and _is_wrapped(rows[last_full - 1][0], rows[last_full][0], _step(rows[start:last_full])):
        last_full += 1
    return last_full


def _before_crossing(rows: Sequence[Row], start: int, end: int) -> int:
    """The row where a line across the columns ends the table; a head may span several columns, but not the first."""
    if end - start < LEAST_ROWS:
        return start
    columns = _columns(rows[start:end])
    for place in range(start, end):
        touched = [_touched(line, columns) for line in rows[place]]
        if any(len(found) > 1 and (found[0] == 0 or len(touched) == 1) for found in touched):
            return place
    return end


def _is_code(row: Row) -> bool:
    return all(line.is_mono for line in row)


def _is_below(above: Line, line: Line) -> bool:
    return bool(line.size) and 0 < above.baseline - line.baseline <= MOST_STEP * max(above.size, line.size)


def _columns(rows: Sequence[Row]) -> list[Column]:
    """The columns as strips, taken from the rows with the most pieces."""
    most = max(map(len, rows))
    spans = sorted((line.box[0], line.box[2]) for row in rows if len(row) == most for line in row)
    columns: list[Column] = []
    for left, right in spans:
        if columns and left <= columns[-1][1] + 1:
            columns[-1] = (columns[-1][0], max(right, columns[-1][1]))
        else:
            columns.append((left, right))
    return columns


def _touched(line: Line, columns: Sequence[Column]) -> list[int]:
    """The columns that a piece touches; if it touches none, the nearest."""
    found = [n for n, (left, right) in enumerate(columns) if line.box[0] < right and line.box[2] > left]
    if found:
        return found
    middle = (line.box[0] + line.box[2]) / 2
    return [min(range(len(columns)), key=lambda n: abs((columns[n][0] + columns[n][1]) / 2 - middle))]


def _step(rows: Sequence[Row]) -> float:
    full = [row[0].baseline for row in rows if len(row) > 1]
    return median([one - other for one, other in pairwise(full)] or [0.0])


def _is_wrapped(above: Line, line: Line, step: float) -> bool:
    return above.baseline - line.baseline < WRAPPED * step


def _table(rows: Sequence[Row], words: Words) -> Line | None:
    columns = _columns(rows)
    full = [row for row in rows if len(row) > 1]
    if len(columns) < 2 or len(columns) != max(map(len, rows)) or len(full) < LEAST_ROWS:
        return None
    pieces = [[line for row in full for line in row if _touched(line, columns) == [n]] for n in range(len(columns))]
    if sum(map(_is_prose, pieces)) > 1 or any(map(_is_list, pieces)):
        return None
    if min(map(len, pieces)) < max(2, LEAST_FILLED * len(full)):
        return None
    step = _step(rows)
    texts: list[list[str]] = []
    above: Row | None = None
    for row in rows:
        cells = _laid_out(row, columns)
        goes_on = above is not None and not cells[0] and (len(row) == 1 or _is_wrapped(above[0], row[0], step))
        if texts and (goes_on or (above is not None and _is_wrapped(above[0], row[0], step))):
            texts[-1] = [_joined(one, other, words) for one, other in zip(texts[-1], cells, strict=True)]
        else:
            texts.append(cells)
        above = row
    lines = [line for row in rows for line in row]
    box = (
        min(line.box[0] for line in lines), min(line.box[1] for line in lines),
        max(line.box[2] for line in lines), max(line.box[3] for line in lines),
    )  # fmt: skip
    edges = (*(left for left, _ in columns), columns[-1][1])
    return Line("", box, 0.0, rows=tuple(map(tuple, texts)), columns=edges)


def _laid_out(row: Row, columns: Sequence[Column]) -> list[str]:
    """The cells of a row; a piece that spans several columns is repeated in each."""
    cells = [""] * len(columns)
    for line in row:
        for number in _touched(line, columns):
            cells[number] = f"{cells[number]} {line.text}".strip()
    return cells


def _joined(one: str, other: str, words: Words) -> str:
    if not one or not other:
        return one or other
    between, cut = glue(one, other, words)
    return one[: len(one) - cut] + between + other


def _is_prose(lines: Sequence[Line]) -> bool:
    """Whether the pieces of a column are lines of a text, which are long and mostly fill their column."""
    if not lines:
        return False
    widths = [line.box[2] - line.box[0] for line in lines]
    return median(units(line.text) for line in lines) >= PROSE_UNITS and mean(widths) >= PROSE_SHARE * max(widths)


def _is_list(lines: Sequence[Line]) -> bool:
    return 2 * sum(line.text[:1] in MARKS and len(line.text) > 1 for line in lines) >= len(lines) > 0

"""Excel workbook -> a heading and a Markdown table for each sheet."""

import io
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from itertools import takewhile

from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from ingest.formats.archive import open_archive
from ingest.formats.extract import Extract, UnreadableError, join_blocks
from ingest.formats.markdown import heading, table

MAX_ROWS = 50_000
# A sheet with one value in its last corner is as wide as it can be: looked at before its rows are made.
MAX_CELLS = 5_000_000
# Places that merged cells may fill; more are a mistake, or made to do harm.
MOST_COPIES = 200_000


def read(data: bytes) -> Extract:
    open_archive(data, "XLSX").close()
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        blocks: list[str] = []
        warnings: list[str] = []
        for name in workbook.sheet_names:
            sheet = workbook.get_sheet_by_name(name)
            if sheet.total_height * sheet.total_width > MAX_CELLS:
                warnings.append(f"the sheet {name!r} was left out: it spans more than {MAX_CELLS:,} cells")
                continue
            rows = sheet.to_python(nrows=MAX_ROWS)
            if sheet.total_height > MAX_ROWS:
                warnings.append(f"only the first {MAX_ROWS:,} rows of the sheet {name!r} were read")
            laid_out = _laid_out(sheet, [[_shown(cell) for cell in row] for row in rows])
            above = _titles(laid_out)
            text = table(laid_out[len(above) :])
            if text or above:
                blocks += [heading(name, 2), *above, text]
    except (CalamineError, ValueError, OSError) as error:
        raise UnreadableError(f"is no XLSX file: {error}", hint="save it anew as XLSX") from error
    return Extract(join_blocks(blocks), warnings=tuple(warnings))


def _laid_out(sheet: CalamineSheet, rows: list[list[str]]) -> list[list[str]]:
    """The rows with the text of each merged cell in all the places that it goes over."""
    left = MOST_COPIES
    top, edge = sheet.start or (0, 0)
    for (first, column), (last, end) in sheet.merged_cell_ranges or []:
        places = [
            (row, place)
            for row in range(max(first - top, 0), min(last - top + 1, len(rows)))
            for place in range(max(column - edge, 0), min(end - edge + 1, len(rows[row])))
        ]
        left -= len(places)
        if left < 0:
            break
        said = next((rows[row][place] for row, place in places if rows[row][place]), "")
        for row, place in places:
            rows[row][place] = said
    return rows


def _titles(rows: Sequence[Sequence[str]]) -> list[str]:
    """What the first rows say, each in one cell that goes over all columns: titles of the table, not its head."""
    said = takewhile(lambda row: len(row) > 1 and len(set(row)) == 1 and row[0], rows)
    return [row[0] for row in said]


Cell = int | float | str | bool | time | date | datetime | timedelta


def _shown(cell: Cell) -> str:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return cell.isoformat(sep=" ") if isinstance(cell, datetime) else str(cell)

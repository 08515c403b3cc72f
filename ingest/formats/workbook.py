"""Excel workbook -> a heading and a Markdown table for each sheet."""

import io
from datetime import date, datetime, time, timedelta

from python_calamine import CalamineError, CalamineWorkbook

from ingest.formats.archive import open_archive
from ingest.formats.extract import Extract, UnreadableError, join_blocks
from ingest.formats.markdown import heading, table

MAX_ROWS = 50_000
# A sheet with one value in its last corner is as wide as it can be: looked at before its rows are made.
MAX_CELLS = 5_000_000


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
            text = table([[_shown(cell) for cell in row] for row in rows])
            if text:
                blocks += [heading(name, 2), text]
    except (CalamineError, ValueError, OSError) as error:
        raise UnreadableError(f"is no XLSX file: {error}", hint="save it anew as XLSX") from error
    return Extract(join_blocks(blocks), warnings=tuple(warnings))


Cell = int | float | str | bool | time | date | datetime | timedelta


def _shown(cell: Cell) -> str:
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return cell.isoformat(sep=" ") if isinstance(cell, datetime) else str(cell)

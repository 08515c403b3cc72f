"""Excel workbook -> a heading for each sheet, with its texts and tables in Markdown."""

from collections.abc import Iterator

from ingest.formats.archive import BROKEN, MISSING
from ingest.formats.extract import Extract, UnreadableError, join_blocks
from ingest.formats.markdown import heading
from ingest.formats.sheets.layout import blocks_of, loose_remarks
from ingest.formats.sheets.package import Package, open_package
from ingest.formats.sheets.sheet import Sheet, read_sheet
from ingest.formats.sheets.written import paragraph, written


def read(data: bytes) -> Extract:
    try:
        return _read(data)
    except (*BROKEN, *MISSING) as error:
        raise UnreadableError(f"is not a valid XLSX file: {error}", hint="save it again as XLSX") from error


def _read(data: bytes) -> Extract:
    package = open_package(data)
    warnings: list[str] = []
    with package.archive:
        text = join_blocks(_sheets(package, warnings))
    return Extract(text, warnings=tuple(warnings))


def _sheets(package: Package, warnings: list[str]) -> Iterator[str]:
    for part in package.sheets:
        if part.is_hidden:
            warnings.append(f"the sheet {part.name!r} is hidden and was left out")
        elif not part.part:
            warnings.append(f"the sheet {part.name!r} has no cells and was left out")
        else:
            sheet = read_sheet(package, part.part)
            said = _shown(sheet)
            first = next(said, "")
            yield from [heading(part.name, 2), first] if first else []
            yield from said
            warnings += (f"the sheet {part.name!r}: {warning}" for warning in sheet.warnings)


def _shown(sheet: Sheet) -> Iterator[str]:
    for block in blocks_of(sheet):
        yield from written(block)
    yield from filter(None, map(paragraph, [*sheet.boxes, *loose_remarks(sheet)]))

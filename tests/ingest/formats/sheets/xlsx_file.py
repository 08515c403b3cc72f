"""Small workbooks, written part by part as spreadsheet programs write them."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ingest.formats.sheets.sheet import name_of

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
Rows = Sequence[Sequence[Any]]
BOLD, FILLED, STRUCK = "bold", "filled", "struck"


@dataclass(frozen=True)
class Styled:
    """A value with a number format or a look (`BOLD`, `FILLED`, `STRUCK`)."""

    value: object
    code: str = "General"
    look: str = ""


@dataclass(frozen=True)
class Raw:
    """A cell as XML, such as a formula or an error: its attributes and what is in it."""

    xml: str
    attributes: str = ""


@dataclass
class Page:
    """A sheet: its rows (None is a cell that is not there), and what else belongs to it."""

    rows: Rows
    merges: Sequence[str] = ()
    remarks: Mapping[str, str] = field(default_factory=dict)
    threads: Mapping[str, str] = field(default_factory=dict)
    hidden_rows: Sequence[int] = ()
    hidden_columns: Sequence[int] = ()
    state: str = "visible"
    table: str = ""
    boxes: Sequence[str] = ()


def workbook(pages: Mapping[str, Page | Rows], *, from_1904: bool = False) -> bytes:
    """The bytes of a workbook with these sheets."""
    sheets = {name: page if isinstance(page, Page) else Page(page) for name, page in pages.items()}
    styles: list[tuple[str, str]] = [("General", "")]
    parts: dict[str, str] = {}
    for number, page in enumerate(sheets.values(), start=1):
        _add_sheet(parts, number, page, styles)
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" state="{page.state}" r:id="rId{n}"/>'
        for n, (name, page) in enumerate(sheets.items(), start=1)
    )
    parts["xl/workbook.xml"] = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{KIND}"><workbookPr date1904="{int(from_1904)}"/>'
        f"<sheets>{listed}</sheets></workbook>"
    )
    targets = [(f"rId{n}", "worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)]
    parts["xl/_rels/workbook.xml.rels"] = _relations([*targets, ("rId0", "styles", "styles.xml")])
    parts["_rels/.rels"] = _relations([("rId1", "officeDocument", "xl/workbook.xml")])
    parts["xl/styles.xml"] = _styles(styles)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return target.getvalue()


def _add_sheet(parts: dict[str, str], number: int, page: Page, styles: list[tuple[str, str]]) -> None:
    rows = "".join(
        f'<row r="{n + 1}"{" hidden=" + chr(34) + "1" + chr(34) if n + 1 in page.hidden_rows else ""}>'
        + "".join(_cell(n, column, value, styles) for column, value in enumerate(row) if value is not None)
        + "</row>"
        for n, row in enumerate(page.rows)
    )
    columns = "".join(f'<col min="{n}" max="{n}" hidden="1"/>' for n in page.hidden_columns)
    merges = "".join(f'<mergeCell ref="{reference}"/>' for reference in page.merges)
    parts[f"xl/worksheets/sheet{number}.xml"] = (
        f'<worksheet xmlns="{MAIN}">' + (f"<cols>{columns}</cols>" if columns else "")
        + f"<sheetData>{rows}</sheetData>" + (f"<mergeCells>{merges}</mergeCells>" if merges else "") + "</worksheet>"
    )  # fmt: skip
    own: list[tuple[str, str, str]] = []
    if page.remarks:
        said = "".join(
            f'<comment ref="{place}" authorId="0"><text><r><t>{escape(text)}</t></r></text></comment>'
            for place, text in page.remarks.items()
        )
        parts[f"xl/comments{number}.xml"] = (
            f'<comments xmlns="{MAIN}"><authors><author>王工</author></authors>'
            f"<commentList>{said}</commentList></comments>"
        )
        own.append(("r1", "comments", f"../comments{number}.xml"))
    if page.threads:
        said = "".join(
            f'<threadedComment ref="{place.rstrip("+")}"><text>{escape(text)}</text></threadedComment>'
            for place, text in page.threads.items()
        )
        parts[f"xl/threads{number}.xml"] = f'<ThreadedComments xmlns="{MAIN}">{said}</ThreadedComments>'
        own.append(("r2", "threadedComment", f"../threads{number}.xml"))
    if page.table:
        parts[f"xl/tables/table{number}.xml"] = f'<table xmlns="{MAIN}" {page.table}/>'
        own.append(("r3", "table", f"../tables/table{number}.xml"))
    if page.boxes:
        said = "".join(f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>" for text in page.boxes)
        parts[f"xl/drawings/drawing{number}.xml"] = f'<wsDr xmlns:a="{DRAWING}"><txBody>{said}</txBody></wsDr>'
        own.append(("r4", "drawing", f"../drawings/drawing{number}.xml"))
    if own:
        parts[f"xl/worksheets/_rels/sheet{number}.xml.rels"] = _relations(own)


def _cell(row: int, column: int, value: object, styles: list[tuple[str, str]]) -> str:
    style = ("General", "")
    if isinstance(value, Styled):
        style, value = (value.code, value.look), value.value
    if style not in styles:
        styles.append(style)
    start = f'<c r="{name_of(row, column)}" s="{styles.index(style)}"'
    if isinstance(value, Raw):
        return f"{start} {value.attributes}>{value.xml}</c>"
    if isinstance(value, bool):
        return f'{start} t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"{start}><v>{value!r}</v></c>"
    return f'{start} t="inlineStr"><is><t>{escape(str(value))}</t></is></c>' if value else f"{start}/>"


def _styles(styles: Sequence[tuple[str, str]]) -> str:
    formats = "".join(
        f'<numFmt numFmtId="{200 + n}" formatCode={quoteattr(code)}/>' for n, (code, _) in enumerate(styles)
    )
    cells = "".join(
        f'<xf numFmtId="{200 + n}" fontId="{ {BOLD: 1, STRUCK: 2}.get(look, 0) }" fillId="{int(look == FILLED)}"/>'
        for n, (_, look) in enumerate(styles)
    )
    return (
        f'<styleSheet xmlns="{MAIN}"><numFmts>{formats}</numFmts><fonts><font/><font><b/></font><font><strike/></font>'
        '</fonts><fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="solid"/></fill>'
        f"</fills><cellXfs>{cells}</cellXfs></styleSheet>"
    )


def _relations(targets: Sequence[tuple[str, str, str]]) -> str:
    own = "".join(f'<Relationship Id="{one}" Type="{KIND}/{kind}" Target="{part}"/>' for one, kind, part in targets)
    return f'<Relationships xmlns="{RELATIONS}">{own}</Relationships>'

"""The blocks of a Word document -> Markdown."""

import re
from collections.abc import Iterator, Sequence

from ingest.formats.markdown import LIST_NUMBER, fence, heading
from ingest.formats.office.grid import Cell, Row, in_a_line, write
from ingest.formats.office.story import Omissions
from ingest.formats.office.word.blocks import NO_LEVEL, Block, Paragraph, Table
from rag.language.ends import COLONS, COMMAS, STOPS, ends_with

# A number that the program's own reader of Markdown knows.
LOOSE_MARK = re.compile(r"\d{1,3}、")
INDENT = "   "


def markdown(blocks: Sequence[Block], omissions: Omissions) -> str:
    text = "\n".join(_lines(blocks, omissions))
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _lines(blocks: Sequence[Block], omissions: Omissions) -> Iterator[str]:
    code: list[Paragraph] = []
    depths: list[int] = []  # of the items that the next one may be below
    for block in [*blocks, None]:
        if isinstance(block, Paragraph) and block.is_code and block.level >= NO_LEVEL:
            code.append(block)
            continue
        if code:
            yield from _code(code, omissions)
            code = []
        if isinstance(block, Paragraph):
            yield from _paragraph(block, depths)
            yield from _lines(block.beside, omissions)
        elif isinstance(block, Table):
            yield from _table(block, omissions)
        elif block:
            yield from ("", block, "")
        if not isinstance(block, Paragraph):
            depths.clear()


def _code(paragraphs: Sequence[Paragraph], omissions: Omissions) -> Iterator[str]:
    text = "\n".join(one.text for one in paragraphs)
    if text.strip():
        yield from ("", fence(text), "")
    for one in paragraphs:
        yield from _lines(one.beside, omissions)


def _paragraph(paragraph: Paragraph, depths: list[int]) -> Iterator[str]:
    text = paragraph.text.strip()
    if not text:
        return
    if paragraph.label is None or paragraph.level < NO_LEVEL:
        depths.clear()
    if paragraph.level < NO_LEVEL:
        yield from ("", heading(paragraph.labelled, paragraph.level + 1), "")
    elif paragraph.label is None:
        yield from ("", text, "")
    else:
        while depths and depths[-1] >= paragraph.label.depth:
            depths.pop()
        depths.append(paragraph.label.depth)
        yield INDENT * (len(depths) - 1) + _item(paragraph).replace("\n", " ")


def _item(paragraph: Paragraph) -> str:
    label, text = paragraph.label, paragraph.text.strip()
    if label is not None and LIST_NUMBER.fullmatch(label.text):
        return f"{label.text} {text}"
    if label is not None and LOOSE_MARK.fullmatch(label.text):
        return f"{label.text} {text}"
    return f"- {paragraph.labelled}"


def _table(table: Table, omissions: Omissions) -> Iterator[str]:
    """A table; or, if its cells merely lay out text, their content one after the other."""
    if _is_layout(table):
        for row in table.rows:
            for cell in row.cells:
                yield from _lines(cell.blocks, omissions)
        return
    for block in write(_rows(table, omissions), omissions.may_copy):
        yield from ("", block, "")


def _is_layout(table: Table) -> bool:
    cells = [[one for one in cell.blocks if _says(one)] for row in table.rows for cell in row.cells]
    filled = [cell for cell in cells if cell]
    if len(filled) == 1 or len({len(row.cells) for row in table.rows}) == 1 == max(
        len(row.cells) for row in table.rows
    ):
        return len(filled) == 1 or any(len(cell) > 1 or isinstance(cell[0], Table) for cell in filled)
    return any(
        len(cell) > 1 and any(isinstance(one, Paragraph) and one.level < NO_LEVEL for one in cell) for cell in filled
    )


def _says(block: Block) -> bool:
    return not isinstance(block, Paragraph) or bool(block.text.strip() or block.beside)


def _rows(table: Table, omissions: Omissions) -> list[Row]:
    return [
        Row(
            [Cell(_in_cell(cell.blocks, omissions), cell.across, cell.goes_on) for cell in row.cells],
            row.before,
            row.is_head,
        )
        for row in table.rows
    ]


def _in_cell(blocks: Sequence[Block], omissions: Omissions) -> str:
    """The content of a cell in one line."""
    text = ""
    before: Block | None = None
    for block in blocks:
        said = _said(block, omissions)
        if not said:
            continue
        are_items = _is_item(block) and _is_item(before)
        joint = "；" if text and are_items and not ends_with(text, STOPS + COLONS + COMMAS) else " " if text else ""
        text, before = f"{text}{joint}{said}", block
    return text


def _said(block: Block, omissions: Omissions) -> str:
    if isinstance(block, Paragraph):
        return " ".join(filter(None, (block.labelled, _in_cell(block.beside, omissions))))
    return in_a_line(_rows(block, omissions), omissions.may_copy) if isinstance(block, Table) else block


def _is_item(block: Block | None) -> bool:
    return isinstance(block, Paragraph) and block.label is not None and not block.label.text

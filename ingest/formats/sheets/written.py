"""The texts and tables of a sheet in Markdown."""

from collections.abc import Iterator

from ingest.formats.markdown import heading, table
from ingest.formats.sheets.heads import keys_of
from ingest.formats.sheets.layout import Block


def written(block: Block) -> Iterator[str]:
    """The blocks of text that a part of a sheet becomes."""
    yield from map(paragraph, block.above)
    for name, rows in block.parts:
        if name and not rows:
            yield paragraph(name)
        elif rows or block.head:
            headless = not any(block.head)
            text = table(rows if headless else [block.head, *rows], headless=headless, keys=keys_of(rows))
            yield from filter(None, [heading(name, 3) if name else "", text])
    yield from map(paragraph, block.notes)
    if block.remarks:
        yield "\n".join(f"- {' '.join(remark.split())}" for remark in block.remarks)


def paragraph(text: str) -> str:
    """A text of a cell or box: its lines, without space around them."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.splitlines())))

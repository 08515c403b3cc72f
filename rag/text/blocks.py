"""The parts of a Markdown text: blocks, which are stored with a passage, and how they belong together.

A document is parsed once, at ingest (`rag.text.markdown`), and its blocks are stored with its passages.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple
from unicodedata import east_asian_width

LINE_BREAK = re.compile(r"\r\n?|\n")


class BlockKind(StrEnum):
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "item"
    QUOTE = "quote"
    CODE = "code"
    FORMULA = "formula"
    TABLE = "table"
    RULE = "rule"


WHOLE = frozenset({BlockKind.CODE, BlockKind.FORMULA, BlockKind.TABLE})
"""Kinds that make sense only whole."""
PROSE = frozenset({BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.QUOTE})


class Block(NamedTuple):
    """Whole lines `text[start:end]`; `text[body_start:body_end]` is the content between their marks: the words of a
    heading, the text of a list item, the lines of code.

    `level` is that of a heading (1 to 6), else the block's depth in lists (0: in none). `list_number` is shared by all
    blocks of one list, its code and further paragraphs too; -1 outside of lists. `mark` is the list mark of the item
    that begins with this block. `indent` is the prefix of code lines in a list or a quotation. `announces` means that
    the last line leads to the next block. `section` is the number of its section among those of its document.
    """

    start: int
    end: int
    kind: BlockKind
    body_start: int
    body_end: int
    level: int = 0
    list_number: int = -1
    mark: str = ""
    language: str = ""
    indent: str = ""
    announces: bool = False
    section: int = 0

    def moved(self, by: int) -> "Block":
        return self._replace(
            start=self.start + by, end=self.end + by, body_start=self.body_start + by, body_end=self.body_end + by
        )

    @property
    def is_closed(self) -> bool:
        """Whether code has its closing fence."""
        return self.body_end < self.end


def columns(text: str) -> int:
    """A text's width in a terminal."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def code_lines(text: str, blocks: Iterable[Block]) -> frozenset[int]:
    """The numbers of the lines in code blocks, fences included."""
    starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
    spans = ((bisect_left(starts, b.start), bisect_right(starts, b.end)) for b in blocks if b.kind is BlockKind.CODE)
    return frozenset(number for first, last in spans for number in range(first, last))

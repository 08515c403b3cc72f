"""Blocks -> sentences, and blocks that can be quoted one by one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag.text.blocks import INLINE_VERBATIM, Block, BlockKind

# Before whose full stop a sentence goes on ("Hu et al. 发现"), unless the text ends there.
ABBREVIATIONS = "".join(
    rf"(?<!\b{name})" for name in ("et al", "vs", "cf", "Dr", r"e\.g", r"i\.e", "[Ff]ig", "[Ee]q", "[Ss]ec")
)
SENTENCE_END = re.compile(
    r"(?:[。！？]|[!?](?=[\s!?。！？”’」』）)\"*_]|$|[\u2e80-\u9fff]))+[”’」』）)]*"
    rf"|(?<=[a-z0-9)])(?:\.(?=\s*$)|{ABBREVIATIONS}\.(?=\s+[A-Z\u4e00-\u9fff]))"
)
QUOTE_MARK = re.compile(r"(?:[ \t]*>)+[ \t]?")


class UnitKind(StrEnum):
    HEADING = "heading"
    SENTENCE = "sentence"
    CODE = "code"
    FORMULA = "formula"
    TABLE = "table"


WHOLE_UNITS = {
    BlockKind.HEADING: UnitKind.HEADING,
    BlockKind.CODE: UnitKind.CODE,
    BlockKind.FORMULA: UnitKind.FORMULA,
    BlockKind.TABLE: UnitKind.TABLE,
}


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[start:end]` of a passage: a sentence, or a block that makes sense only whole.

    `begins_line` says that it opens a line, `mark` is the list mark before it (not part of the slice).
    """

    kind: UnitKind
    start: int
    end: int
    begins_line: bool = True
    mark: str = ""


def units(text: str, blocks: Sequence[Block]) -> list[Unit]:
    """The units of a passage in order: code, formulas and tables whole, sentences of everything else. White space and
    marks between them belong to none."""
    result: list[Unit] = []
    for block in blocks:
        kind = WHOLE_UNITS.get(block.kind)
        if kind is not None:
            result.append(Unit(kind, block.start, block.end))
        elif block.kind is not BlockKind.RULE:
            position, mark = block.body_start, ">" if block.kind is BlockKind.QUOTE else block.mark
            for line in text[block.body_start : block.body_end].splitlines(keepends=True):
                end = position + len(line)
                found = QUOTE_MARK.match(line) if block.kind is BlockKind.QUOTE else None
                result += _sentences(text, position + (found.end() if found else 0), end, mark)
                position, mark = end, mark if block.kind is BlockKind.QUOTE else ""
    return result


def _sentences(text: str, start: int, end: int, mark: str) -> list[Unit]:
    line = text[start:end]
    protected = [match.span() for match in INLINE_VERBATIM.finditer(line)]
    result: list[Unit] = []
    position = start
    for match in SENTENCE_END.finditer(line):
        if any(low < match.start() < high for low, high in protected):
            continue
        _append(result, text, position, start + match.end(), mark)
        position = start + match.end()
    _append(result, text, position, end, mark)
    return result


def _append(result: list[Unit], text: str, start: int, end: int, mark: str) -> None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    if start < end:
        result.append(Unit(UnitKind.SENTENCE, start, end, begins_line=not result, mark="" if result else mark))

"""Cuts blocks that are larger than a passage: at lines, sentences, words.

Each part of code has the fences, each part of a table its header, each part of a long row the row's short cells.
"""

from collections.abc import Iterable, Iterator, Sequence

from langchain_text_splitters import RecursiveCharacterTextSplitter

from ingest.structure.sections import Part
from rag.text.blocks import Block, BlockKind
from rag.text.mapped import MappedText
from rag.text.tables import BAR
from rag.text.tokens import encoding

SENTENCE_BORDERS = ["\n", "(?<=[。！？；!?;])", r"(?<=[.:]) ", "(?<=[，,、])", " ", ""]
SMALLEST_PART_TOKENS = 16
# Cells up to this size are repeated in each part of a row that is cut.
SHORT_CELL_TOKENS = 24
NOTHING = MappedText.added("")


def count_tokens(text: str) -> int:
    """Tokens of cl100k_base; text that looks like a special token is ordinary text."""
    return len(encoding().encode_ordinary(text))


def cut_part(part: Part, budget: int) -> list[tuple[Part, int]]:
    """A block, cut at lines, sentences, words if it has more than `budget` tokens, and the tokens of each part, one
    more for a line break. Each part repeats the fences or the table's header, unless they fill half of it."""
    tokens = count_tokens(part.content.text)
    if tokens <= budget:
        return [(part, tokens + 1)]
    return [(piece, count_tokens(piece.content.text) + 1) for piece in _parts_of(part, budget)]


def _parts_of(part: Part, budget: int) -> list[Part]:
    content, block = part.content, part.block
    before, after = _frame(part)
    head, tail = content[:before], content[after:]
    overhead = count_tokens(head.text) + count_tokens(tail.text)
    if overhead * 2 > budget:
        before, after, overhead = 0, len(content), 0
    size = max(SMALLEST_PART_TOKENS, budget - overhead)
    inside = content[before:after]
    pieces: Iterable[MappedText]
    if before and block.kind is BlockKind.TABLE:
        pieces = _rows_within(inside, size)
    elif before:
        pieces = _split(inside, size, ["\n", ""])
    else:
        pieces = ()
    parts: list[Part] = []
    for piece in pieces:
        inner = piece.strip("\n")
        framed = head + inner + tail
        body = (before, before + len(inner)) if block.kind is BlockKind.CODE else (0, len(framed))
        parts.append(Part(framed, block._replace(start=0, end=len(framed), body_start=body[0], body_end=body[1])))
    if not before:
        for start, end in _cuts(content.text, size, SENTENCE_BORDERS):
            parts += between(content, [block], start, end)
    last = len(parts) - 1
    return [
        Part(p.content, p.block._replace(mark=block.mark if n == 0 else "", announces=block.announces and n == last))
        for n, p in enumerate(parts)
    ]


def _frame(part: Part) -> tuple[int, int]:
    """The start and end of the text between what each part repeats: the fences of code, the header of a table."""
    block, text = part.block, part.content.text
    if block.kind is BlockKind.CODE and block.is_closed and block.body_start < block.body_end:
        return block.body_start, block.body_end
    lines = text.split("\n", 2)
    if block.kind is BlockKind.TABLE and len(lines) > 2 and set(lines[1].strip()) <= set("|-: "):
        return len(lines[0]) + len(lines[1]) + 2, len(text)
    return 0, len(text)


def _split(content: MappedText, size: int, borders: Sequence[str]) -> list[MappedText]:
    return [content[start:end] for start, end in _cuts(content.text, size, borders)]


def _cuts(text: str, size: int, borders: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The start and end of parts of at most `size` tokens; parts of white space alone are left out."""
    splitter = RecursiveCharacterTextSplitter(
        separators=list(borders), is_separator_regex=True, keep_separator="end", chunk_size=size, chunk_overlap=0,
        length_function=count_tokens, strip_whitespace=False,
    )  # fmt: skip
    position = 0
    for part in splitter.split_text(text):
        start = text.index(part, position)
        position = start + len(part)
        if part.strip():
            yield start, position


def _rows_within(rows: MappedText, size: int) -> Iterator[MappedText]:
    """Neighbouring rows of a table in groups of at most `size` tokens; a larger row is cut within its cells."""
    group: list[MappedText] = []
    filled = 0
    position = 0
    for line in rows.text.split("\n"):
        row = rows[position : position + len(line)]
        position += len(line) + 1
        tokens = count_tokens(line) + 1
        for part in [row] if tokens <= size else _row_in_parts(row, size):
            tokens = count_tokens(part.text) + 1
            if group and filled + tokens > size:
                yield MappedText.join("\n", group)
                group, filled = [], 0
            group.append(part)
            filled += tokens
    if any(row.text.strip() for row in group):
        yield MappedText.join("\n", group)


def _row_in_parts(row: MappedText, size: int) -> Iterator[MappedText]:
    """A row cut within its long cells, one after the other; each part repeats the short ones, mostly names and
    values."""
    cells = _cells(row)
    is_short = [count_tokens(cell.text) <= SHORT_CELL_TOKENS for cell in cells]
    beside = sum(count_tokens(cell.text) + 2 for cell, short in zip(cells, is_short, strict=True) if short)
    if beside * 2 > size:
        yield from _split(row, size, SENTENCE_BORDERS)
        return
    for place, cell in enumerate(cells):
        if is_short[place]:
            continue
        for part in _split(cell, size - beside, SENTENCE_BORDERS):
            beside_it = (part if n == place else one if is_short[n] else NOTHING for n, one in enumerate(cells))
            yield MappedText.added("| ") + MappedText.join(" | ", beside_it) + MappedText.added(" |")


def _cells(row: MappedText) -> list[MappedText]:
    bars = [found.start() for found in BAR.finditer(row.text)]
    starts, ends = [0, *(bar + 1 for bar in bars)], [*bars, len(row.text)]
    cells = [row[start:end].strip() for start, end in zip(starts, ends, strict=True)]
    outer = slice(not cells[0].text, len(cells) - (not cells[-1].text))
    return cells[outer]


def between(content: MappedText, blocks: Sequence[Block], start: int, end: int) -> list[Part]:
    """The parts of the blocks that lie in content[start:end], without white space around them."""
    parts = []
    for block in blocks:
        low, high = max(start, block.start), min(end, block.end)
        inside = content.text[low:high]
        low += len(inside) - len(inside.lstrip())
        high = low + len(inside.strip())
        if low < high:
            body = [min(max(place, low), high) - low for place in (block.body_start, block.body_end)]
            # The continuation of an item is not a new item.
            kind = BlockKind.PARAGRAPH if block.kind is BlockKind.LIST_ITEM and block.start < start else block.kind
            block = block._replace(start=0, end=high - low, kind=kind, body_start=body[0], body_end=body[1])
            parts.append(Part(content[low:high], block))
    return parts

"""The code of a code block, as whoever wrote it has it."""

from itertools import takewhile

from rag.text.blocks import Block


def code_of(text: str, block: Block) -> str:
    """Without fences, language and line prefixes."""
    body = text[block.body_start : block.body_end]
    return "\n".join(line[_shared(line, block.indent) :] for line in body.split("\n"))


def _shared(one: str, other: str) -> int:
    """The length of the common prefix of two texts."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])

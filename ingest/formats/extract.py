"""The result of every format reader, its error for an unreadable file, and a page as a picture."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rag.errors import Unreadable

# How a PNG file begins.
PNG = b"\x89PNG\r\n\x1a\n"

Box = tuple[float, float, float, float]
"""left, top, width, height in percent of the picture."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as a PNG file, and the boxes of its marks."""

    png: bytes
    width: int
    height: int
    boxes: tuple[Box, ...]


# A library of 2,000 pages has about a fifth of this.
MAX_CHARACTERS = 20_000_000


class UnreadableError(Exception):
    """The file cannot be read; `hint` says what its owner can do about it."""

    def __init__(self, message: str, *, hint: str, reason: Unreadable = Unreadable.DAMAGED) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Extract:
    """The text of a file, as Markdown where the format has structure.

    `pages` holds, for formats with pages (or slides), the offset in `text` at which each begins, the first one 0.
    `title` is the one that the file states. `warnings` say what was left out,
    `removed` holds the lines left out that a reader may want to see.
    """

    text: str
    title: str = ""
    pages: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    is_markdown: bool = True
    removed: tuple[str, ...] = ()


@dataclass(slots=True)
class TextBuilder:
    """Joins blocks, a blank line between them, and records where each begins. Limits its size."""

    parts: list[str] = field(default_factory=list)
    length: int = 0

    def add(self, block: str) -> int:
        """Append a block and return its offset."""
        start = self.length + (2 if self.parts else 0)
        if start + len(block) > MAX_CHARACTERS:
            raise UnreadableError(
                f"contains more than {MAX_CHARACTERS:,} characters of text",
                hint="split the file",
                reason=Unreadable.LARGE,
            )
        self.parts.append(block)
        self.length = start + len(block)
        return start

    @property
    def text(self) -> str:
        return "\n\n".join(self.parts)


def join_blocks(blocks: Iterable[str]) -> str:
    """The non-empty blocks, a blank line between them."""
    builder = TextBuilder()
    for block in blocks:
        if block.strip():
            builder.add(block.strip("\n"))
    return builder.text

"""Text that remembers the source position of each of its characters.

Cleaning drops, joins and repairs text, yet every citation must be one exact slice of the source. A `MappedText` is a
string with a list of *pieces*: each is a run of its characters copied verbatim from the source. Characters outside all
pieces (a repaired bullet, an added fence) have no place in the source.

>>> line = MappedText.copied("x  **y** z", 100)
>>> (line[:3] + line[5:6] + MappedText.added("!")).text
'x  y!'
>>> (line[:3] + line[5:6]).source_range(0, 4)
(100, 106)
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Self


class Piece(NamedTuple):
    """`length` characters from `text_start` of the text are at `source_start` of the source."""

    text_start: int
    source_start: int
    length: int


@dataclass(frozen=True, slots=True)
class MappedText:
    text: str
    pieces: tuple[Piece, ...] = ()

    @classmethod
    def copied(cls, text: str, source_start: int) -> Self:
        return cls(text, (Piece(0, source_start, len(text)),) if text else ())

    @classmethod
    def added(cls, text: str) -> Self:
        return cls(text)

    @classmethod
    def join(cls, separator: str, parts: Iterable[Self]) -> Self:
        texts: list[str] = []
        pieces: list[Piece] = []
        length = 0
        for part in parts:
            if texts and separator:
                texts.append(separator)
                length += len(separator)
            texts.append(part.text)
            for piece in part.pieces:
                moved = Piece(piece.text_start + length, piece.source_start, piece.length)
                if pieces and _continues(pieces[-1], moved):
                    moved = Piece(pieces[-1].text_start, pieces[-1].source_start, pieces.pop().length + moved.length)
                pieces.append(moved)
            length += len(part.text)
        return cls("".join(texts), tuple(pieces))

    def __add__(self, other: Self) -> Self:
        return self.join("", (self, other))

    def __len__(self) -> int:
        return len(self.text)

    def __getitem__(self, part: slice) -> Self:
        start, stop, step = part.indices(len(self.text))
        if step != 1:
            raise ValueError(f"a MappedText cannot be sliced with step {step}")
        pieces = []
        for piece in self._pieces_from(start):
            if piece.text_start >= stop:
                break
            low = max(piece.text_start, start)
            high = min(piece.text_start + piece.length, stop)
            if low < high:
                pieces.append(Piece(low - start, piece.source_start + low - piece.text_start, high - low))
        return type(self)(self.text[start:stop], tuple(pieces))

    def strip(self, characters: str | None = None) -> Self:
        start = len(self.text) - len(self.text.lstrip(characters))
        return self[start : max(start, len(self.text.rstrip(characters)))]

    def without(self, ranges: Iterable[tuple[int, int]]) -> Self:
        """The text without the given (start, end) ranges, in order and apart."""
        kept = []
        position = 0
        for start, end in ranges:
            kept.append(self[position:start])
            position = end
        kept.append(self[position:])
        return self.join("", kept)

    def source_range(self, start: int, end: int) -> tuple[int, int] | None:
        """The smallest source slice that covers text[start:end]; None if none of it is in the source."""
        low: int | None = None
        high = 0
        for piece in self._pieces_from(start):
            if piece.text_start >= end:
                break
            a = max(piece.text_start, start)
            b = min(piece.text_start + piece.length, end)
            if a < b:
                shift = piece.source_start - piece.text_start
                low = a + shift if low is None else min(low, a + shift)
                high = max(high, b + shift)
        return None if low is None else (low, high)

    def _pieces_from(self, place: int) -> Iterator[Piece]:
        """The pieces from the one at `place` on."""
        first = bisect_right(self.pieces, place, key=lambda piece: piece.text_start) - 1
        return map(self.pieces.__getitem__, range(max(first, 0), len(self.pieces)))

    @property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The exact source pieces, sorted and merged where they touch."""
        merged: list[tuple[int, int]] = []
        for start, end in sorted((p.source_start, p.source_start + p.length) for p in self.pieces):
            if merged and start <= merged[-1][1]:
                merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
            else:
                merged.append((start, end))
        return tuple(merged)


def _continues(left: Piece, right: Piece) -> bool:
    return left.text_start + left.length == right.text_start and left.source_start + left.length == right.source_start

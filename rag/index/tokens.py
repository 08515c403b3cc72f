"""Token vectors of every passage, two bits per number: late interaction compares a question with them.

Late interaction (Khattab & Zaharia, ColBERT, 2020): each token of the question looks for the most similar token of the
passage, and the passage scores the mean of these similarities. A mean-pooled embedder was trained on the mean alone,
yet its token vectors carry more than their mean: compare `ours` with `ours-without-tokens` in
`python -m rag eval retrieval`. Rare tokens weigh more here, by BM25's idf.

A vector is centred and rotated at random, which makes its numbers nearly Gaussian; each is rounded to the nearest of
four levels (Max, Quantizing for Minimum Distortion, 1960), which takes a quarter of a byte; see docs/results/tokens.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Encoded
from rag.index.arrays import Pieces, map_arrays, write_arrays
from rag.index.keywords import idf_of
from rag.index.store import Numbers

# For a Gaussian of deviation 1: the four levels with least squared error, and the borders between them.
UPPER = [0.4528, 1.510]
LEVELS = np.asarray([-level for level in reversed(UPPER)] + UPPER, np.float32)
BORDERS = (LEVELS[1:] + LEVELS[:-1]) / 2
BITS = 2
PER_BYTE = 8 // BITS
# The levels of the codes in two bytes, lowest bits first: looking up so many at a time takes a fraction of one by one.
PER_WORD = 2 * PER_BYTE
DECODED = LEVELS[np.arange(1 << 16)[:, np.newaxis] >> np.arange(0, 16, BITS) & (1 << BITS) - 1]
# Passages scored together; bounds the memory of a search for many (some 300 kB for each).
AT_ONCE = 128
# Tokens decoded together: what they take stays in the processor's cache, which halves the time of a search.
DECODED_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class PassageTokens:
    """The tokens of one passage: `codes`, shape (n, dimension / PER_BYTE); the others have shape (n,).

    Multiplying a code's levels by its scale, then dividing by its length, restores a unit vector.
    """

    codes: NDArray[np.uint8]
    scales: NDArray[np.float16]
    lengths: NDArray[np.float16]
    token_ids: NDArray[np.int32]


@dataclass(frozen=True)
class TokenCodec:
    """`rotation`, shape (dimension, dimension), and `centre`, shape (dimension,), are the same for all passages."""

    rotation: NDArray[np.float32]
    centre: NDArray[np.float32]

    @classmethod
    def make(cls, centre: NDArray[np.float32]) -> "TokenCodec":
        """The codec about a centre. The same dimension gives the same rotation."""
        random = np.random.default_rng(0).standard_normal((len(centre), len(centre)))
        return cls(np.linalg.qr(random)[0].astype(np.float32), centre.astype(np.float32))

    def nothing(self) -> PassageTokens:
        """The coded form of no tokens."""
        none = np.zeros(0, np.float16)
        return PassageTokens(np.zeros((0, len(self.centre) // PER_BYTE), np.uint8), none, none, np.zeros(0, np.int32))

    def encode(self, text: Encoded) -> PassageTokens:
        """Code a passage's tokens. PER_WORD must divide the dimension."""
        rotated = (text.tokens - self.centre) @ self.rotation
        scales = np.sqrt(np.mean(rotated * rotated, axis=1)).astype(np.float16)
        ratios = rotated / np.maximum(scales[:, np.newaxis], 1e-4)
        levels = np.zeros(ratios.shape, np.uint8)
        for border in BORDERS:  # less than a tenth of the time of np.searchsorted
            levels += ratios > border
        codes = np.zeros((len(levels), levels.shape[1] // PER_BYTE), np.uint8)
        for place in range(PER_BYTE):
            codes |= levels[:, place::PER_BYTE] << BITS * place
        decoded = LEVELS[levels] * scales[:, np.newaxis] + self.centre @ self.rotation
        lengths = np.linalg.norm(decoded, axis=1).astype(np.float16)
        return PassageTokens(codes, scales, lengths, text.token_ids.astype(np.int32))


@dataclass(frozen=True)
class TokenIndex:
    """The tokens of all passages, one passage after another: those of passage p are `starts[p]:starts[p + 1]`.

    `codes` has shape (tokens, dimension / PER_BYTE). The token `vocabulary[i]` occurs in `frequencies[i]` passages.
    `missing` are the numbers of the passages whose tokens are still to be made.
    """

    codec: TokenCodec
    starts: NDArray[np.int64]
    codes: NDArray[np.uint8]
    scales: NDArray[np.float16]
    lengths: NDArray[np.float16]
    token_ids: NDArray[np.int32]
    vocabulary: NDArray[np.int32]
    frequencies: NDArray[np.int32]
    missing: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def centre(self) -> NDArray[np.float32]:
        return self.codec.centre

    def __len__(self) -> int:
        return len(self.starts) - 1

    def comparable(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Those that have tokens: in a complete index, all."""
        return ~np.isin(numbers, self.missing)

    def passage(self, number: int) -> PassageTokens:
        part = slice(int(self.starts[number]), int(self.starts[number + 1]))
        return PassageTokens(self.codes[part], self.scales[part], self.lengths[part], self.token_ids[part])

    def vectors(self, number: int) -> NDArray[np.float32]:
        """Unit vectors of a passage's tokens, shape (n, dimension), decoded approximately."""
        rows = slice(int(self.starts[number]), int(self.starts[number + 1]))
        decoded = np.take(DECODED, self.codes[rows].view("<u2"), axis=0).reshape(-1, self.codec.centre.shape[0])
        decoded = (decoded * self.scales[rows, np.newaxis]) @ self.codec.rotation.T + self.codec.centre
        return np.asarray(decoded / self.lengths[rows, np.newaxis], np.float32)

    def scores(self, question: Encoded, numbers: Numbers) -> NDArray[np.float32]:
        """How well passages answer, shape (len(numbers),), about -1..1.

        Each question token, weighted by its rarity, contributes the cosine of the passage token most like it. A passage
        without tokens scores -1; a question without tokens scores all -1.
        """
        if len(numbers) > AT_ONCE:
            blocks = (numbers[start : start + AT_ONCE] for start in range(0, len(numbers), AT_ONCE))
            return np.concatenate([self.scores(question, block) for block in blocks])
        result = np.full(len(numbers), -1.0, np.float32)
        if not len(question.tokens):
            return result
        ranges = [np.arange(self.starts[number], self.starts[number + 1]) for number in numbers]
        filled = np.flatnonzero([len(part) for part in ranges])
        if not len(filled):
            return result
        borders = np.cumsum([0, *(len(ranges[place]) for place in filled[:-1])])
        best = np.maximum.reduceat(
            self._cosines(question, np.concatenate([ranges[place] for place in filled])), borders
        )
        weights = self.rarity(question.token_ids)
        result[filled] = best @ weights / weights.sum()
        return result

    def part_scores(
        self, question: Encoded, numbers: Sequence[int], parts: Sequence[NDArray[np.bool_]]
    ) -> list[NDArray[np.float32]]:
        """How well parts of passages answer, scored as passages are, shape (m,) for each passage.

        The parts of a passage, shape (m, n), say which of its last n tokens each part holds; one without tokens scores
        -1. Scoring all passages at once takes a third of the time of one by one.
        """
        result = [np.full(len(held), -1.0, np.float32) for held in parts]
        if not len(question.tokens) or not len(numbers):
            return result
        ranges = []
        for number, held in zip(numbers, parts, strict=True):
            start, end = int(self.starts[number]), int(self.starts[number + 1])
            ranges.append(np.arange(max(start, end - held.shape[1]), end))
        weights = self.rarity(question.token_ids)
        cosines = self._cosines(question, np.concatenate(ranges))
        begin = 0
        for place, (rows, held) in enumerate(zip(ranges, parts, strict=True)):
            if len(rows):
                own = cosines[begin : begin + len(rows)]
                best = np.stack([own[part].max(axis=0, initial=-1.0) for part in held[:, held.shape[1] - len(rows) :]])
                # Not a matrix product: on a few rows it may warn about numbers beyond their end.
                result[place] = np.asarray((best * weights).sum(axis=1) / weights.sum(), np.float32)
                begin += len(rows)
        return result

    def _cosines(self, question: Encoded, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Cosines of the tokens in `rows` with the question's, shape (len(rows), len(question.tokens))."""
        rotated = (question.tokens @ self.codec.rotation).T
        codes = self.codes[rows].view("<u2")
        cosines = np.empty((len(rows), rotated.shape[1]), np.float32)
        decoded = np.empty((DECODED_AT_ONCE, codes.shape[1], DECODED.shape[1]), np.float32)
        for begin in range(0, len(rows), DECODED_AT_ONCE):
            part = codes[begin : begin + DECODED_AT_ONCE]
            np.take(DECODED, part, axis=0, out=decoded[: len(part)], mode="clip")  # without a mode, `out` is buffered
            np.matmul(decoded[: len(part)].reshape(len(part), -1), rotated, out=cosines[begin : begin + len(part)])
        cosines *= self.scales[rows, np.newaxis]
        cosines += question.tokens @ self.codec.centre
        cosines /= self.lengths[rows, np.newaxis]
        return cosines

    def rarity(self, token_ids: NDArray[np.int32]) -> NDArray[np.float32]:
        """The idf of each token, shape (n,); one that occurs nowhere counts as the rarest."""
        places = np.searchsorted(self.vocabulary, token_ids)
        known = places < len(self.vocabulary)
        known[known] = self.vocabulary[places[known]] == token_ids[known]
        frequencies = np.zeros(len(token_ids), np.float32)
        frequencies[known] = self.frequencies[places[known]]
        return np.asarray(idf_of(len(self), frequencies), np.float32)


@dataclass(frozen=True)
class SomeTokens(TokenIndex):
    """The tokens of some passages; a token's rarity comes from all passages whose tokens are made."""

    passage_count: int = 0

    def __len__(self) -> int:
        return self.passage_count

    @classmethod
    def of(
        cls,
        passages: Sequence[PassageTokens],
        codec: TokenCodec,
        vocabulary: NDArray[np.int32],
        frequencies: NDArray[np.int32],
        passage_count: int,
    ) -> "SomeTokens":
        """The passages in their order; the other arguments describe all passages: their number and their tokens."""
        coded = [codec.nothing(), *passages]  # no passages still give arrays
        return cls(
            codec=codec,
            starts=np.cumsum([len(one.scales) for one in coded]),
            codes=np.concatenate([one.codes for one in coded]),
            scales=np.concatenate([one.scales for one in coded]),
            lengths=np.concatenate([one.lengths for one in coded]),
            token_ids=np.concatenate([one.token_ids for one in coded]),
            vocabulary=vocabulary,
            frequencies=frequencies,
            passage_count=passage_count,
        )


def save_tokens(codec: TokenCodec, passages: Sequence[PassageTokens | None], prefix: Path) -> None:
    """Write the tokens of passages in order, as arrays whose names begin with `prefix`; those of None are still to be
    made. Writes piece by piece, so the passages may be mapped from other files."""
    missing = [number for number, coded in enumerate(passages) if coded is None]
    made = [coded or codec.nothing() for coded in passages]
    lengths = np.asarray([len(passage.scales) for passage in made], np.int64)
    total = int(lengths.sum())
    distinct: Iterable[Any] = chain.from_iterable(np.unique(passage.token_ids) for passage in made)
    vocabulary, frequencies = np.unique(np.fromiter(distinct, np.int32), return_counts=True)
    arrays: dict[str, NDArray[Any] | Pieces] = {
        "rotation": codec.rotation,
        "centre": codec.centre,
        "starts": np.concatenate(([0], np.cumsum(lengths))),
        "vocabulary": vocabulary,
        "frequencies": frequencies.astype(np.int32),
        "codes": Pieces(np.uint8, (total, len(codec.centre) // PER_BYTE), (p.codes for p in made)),
        "scales": Pieces(np.float16, (total,), (p.scales for p in made)),
        "lengths": Pieces(np.float16, (total,), (p.lengths for p in made)),
        "token_ids": Pieces(np.int32, (total,), (p.token_ids for p in made)),
    }
    if missing:
        arrays["missing"] = np.asarray(missing, np.int64)
    write_arrays(prefix, arrays)


def load_tokens(prefix: Path) -> TokenIndex:
    """Map what `save_tokens` wrote: a question reads only the passages that it is compared with."""
    arrays = map_arrays(prefix)
    return TokenIndex(TokenCodec(np.array(arrays.pop("rotation")), np.array(arrays.pop("centre"))), **arrays)

"""Nearest passages, by the server, and late interaction over the token vectors of candidates, which come from there."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Encoded
from rag.index.milvus.rows import RowReader
from rag.index.milvus.schema import Table
from rag.index.store import Found, Numbers
from rag.index.tokens import SomeTokens, TokenCodec


class MilvusVectors:
    """Inner products of unit vectors."""

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader

    @property
    def dimension(self) -> int:
        return self._reader.generation.manifest.dimension

    def search(self, vector: NDArray[np.float32], count: int, within: NDArray[np.int64] | None = None) -> Found:
        hits = self._reader.search(Table.PASSAGES, "vector", vector.astype(np.float32), count, within)
        return ranked([number for number, _ in hits], [cosine for _, cosine in hits])

    def rows(self, numbers: Numbers) -> NDArray[np.float32]:
        found = self._reader.vectors([int(number) for number in numbers])
        return np.stack(found) if found else np.zeros((0, self.dimension), np.float32)

    def background(self) -> NDArray[np.int64]:
        return np.asarray(self._reader.generation.background, np.int64)


def ranked(numbers: Sequence[int], scores: Sequence[float]) -> Found:
    """Best first; ties by lower number."""
    found, measured = np.asarray(numbers, np.int64), np.asarray(scores, np.float32)
    order = np.lexsort((found, -measured))
    return found[order], measured[order]


class MilvusTokens:
    """`vocabulary` (ascending) are token ids, `frequencies` their numbers of passages."""

    def __init__(
        self, reader: RowReader, codec: TokenCodec, vocabulary: NDArray[np.int32], frequencies: NDArray[np.int32]
    ) -> None:
        self._reader = reader
        self.codec = codec
        self._vocabulary = vocabulary
        self._frequencies = frequencies

    @property
    def centre(self) -> NDArray[np.float32]:
        return self.codec.centre

    def comparable(self, numbers: Numbers) -> NDArray[np.bool_]:
        return np.ones(len(numbers), np.bool_)

    def scores(self, question: Encoded, numbers: Numbers) -> NDArray[np.float32]:
        own, places = self._some(numbers)
        return own.scores(question, places)

    def part_scores(
        self, question: Encoded, numbers: Sequence[int], parts: Sequence[NDArray[np.bool_]]
    ) -> list[NDArray[np.float32]]:
        own, places = self._some(numbers)
        return own.part_scores(question, places.tolist(), parts)

    def vectors(self, number: int) -> NDArray[np.float32]:
        return self._some([number])[0].vectors(0)

    def rarity(self, token_ids: NDArray[np.int32]) -> NDArray[np.float32]:
        return self._some([])[0].rarity(token_ids)

    def _some(self, numbers: Numbers) -> tuple[SomeTokens, NDArray[np.int64]]:
        """The tokens of these passages, each once, and each one's place."""
        distinct, places = np.unique(np.asarray(numbers, np.int64), return_inverse=True)
        coded = self._reader.tokens(distinct.tolist())
        passages = self._reader.generation.manifest.passages
        return SomeTokens.of(coded, self.codec, self._vocabulary, self._frequencies, passages), places.reshape(-1)

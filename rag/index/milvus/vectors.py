"""Nearest passages, by the server."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag.index.milvus.fetched import Fetched
from rag.index.milvus.schema import Table
from rag.index.store import Found, Numbers


class MilvusVectors:
    """Inner products of unit vectors."""

    def __init__(self, fetched: Fetched) -> None:
        self._fetched = fetched

    @property
    def dimension(self) -> int:
        return self._fetched.generation.manifest.dimension

    def search(self, vector: NDArray[np.float32], count: int, within: NDArray[np.int64] | None = None) -> Found:
        hits = self._fetched.search(Table.PASSAGES, "vector", vector.astype(np.float32), count, within)
        return ranked([number for number, _ in hits], [cosine for _, cosine in hits])

    def rows(self, numbers: Numbers) -> NDArray[np.float32]:
        found = self._fetched.vectors([int(number) for number in numbers])
        return np.stack(found) if found else np.zeros((0, self.dimension), np.float32)

    def background(self) -> NDArray[np.int64]:
        return np.asarray(self._fetched.generation.background, np.int64)


def ranked(numbers: Sequence[int], scores: Sequence[float]) -> Found:
    """Best first; ties by lower number."""
    found, measured = np.asarray(numbers, np.int64), np.asarray(scores, np.float32)
    order = np.lexsort((found, -measured))
    return found[order], measured[order]

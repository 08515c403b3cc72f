"""BM25 whose scores equal those of the embedded store.

A passage's term vector holds the saturated frequency of each term; the question's holds each term's rarity. Rarity
changes with every generation and is known here. Saturation depends on the mean passage length, which also changes with
every generation, while rows do not: so the server proposes passages by the mean at the time of writing, and this module
rescores them by the true mean, from their term counts. A score exceeds the server's by at most the ratio of the two
means, which tells when no passage can be missing.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag.index.keywords import K1, B, idf_of
from rag.index.milvus.records import TermCounts
from rag.index.milvus.rows import RowReader
from rag.index.milvus.schema import Table
from rag.index.milvus.vectors import ranked
from rag.index.store import Found, Numbers

# The server adds 32-bit numbers in its own order.
ROUNDING = 1e-4
# The most that the server returns.
MOST = 16_384
WIDER = 4


class MilvusKeywords:
    """`table` maps a term to its dimension and its number of passages."""

    def __init__(self, reader: RowReader, table: dict[str, tuple[int, int]]) -> None:
        self.reader = reader
        self._table = table

    def narrowed(self, reader: RowReader) -> "MilvusKeywords":
        return MilvusKeywords(reader, self._table)

    @property
    def passage_count(self) -> int:
        return self.reader.generation.manifest.passages

    @cached_property
    def latin_terms(self) -> list[str]:
        return sorted(term for term, (_, frequency) in self._table.items() if frequency and term < "\x80")

    def match(self, query: Sequence[str]) -> "MilvusMatch":
        known = {term: count for term, count in Counter(query).items() if self.frequency(term)}
        dimensions = np.asarray([self._table[term][0] for term in known], np.uint32)
        frequencies = np.asarray([self.frequency(term) for term in known], np.float64)
        return MilvusMatch(
            self.reader, dimensions, np.asarray(list(known.values()), np.float32), self._idf(frequencies)
        )

    def ceiling(self, query: Sequence[str]) -> float:
        """The score no passage can exceed."""
        unknown = float(self._idf(np.zeros(1))[0] * (K1 + 1))
        return sum(
            count
            * (float(self._idf(np.asarray([self.frequency(term)]))[0] * (K1 + 1)) if self.frequency(term) else unknown)
            for term, count in Counter(query).items()
        )

    def frequency(self, term: str) -> int:
        return self._table.get(term, (0, 0))[1]

    def _idf(self, frequencies: NDArray[np.float64]) -> NDArray[np.float32]:
        return idf_of(self.passage_count, frequencies).astype(np.float32)


class MilvusMatch:
    """The scores of one query of known terms: their dimensions, frequency in the query, and rarity."""

    def __init__(
        self, reader: RowReader, dimensions: NDArray[np.uint32], named: NDArray[np.float32], idf: NDArray[np.float32]
    ) -> None:
        self._reader = reader
        self._dimensions = dimensions
        self._named = named
        self._idf = idf

    def best(self, count: int, within: NDArray[np.int64] | None = None) -> Found:
        if not len(self._dimensions):
            return ranked([], [])
        query = dict(zip(self._dimensions.tolist(), (self._named * self._idf).tolist(), strict=True))
        generation = self._reader.generation
        most_higher = max(1.0, generation.mean_length / generation.weighed_at) * (1 + ROUNDING)
        asked = 2 * count
        while True:
            hits = self._reader.search(Table.PASSAGES, "terms", query, min(asked, MOST), within)
            numbers, scores = ranked(found := [number for number, _ in hits], self.of(found).tolist())
            complete = len(hits) < asked or asked >= min(generation.manifest.passages, MOST)
            if complete or scores[count - 1] >= hits[-1][1] * most_higher:
                return numbers[:count], scores[:count]
            asked *= WIDER

    def of(self, numbers: Numbers) -> NDArray[np.float32]:
        mean = self._reader.generation.mean_length
        rows = self._reader.counts([int(number) for number in numbers])
        return np.asarray([self._score(row, mean) for row in rows], np.float32)

    def _score(self, row: TermCounts, mean: float) -> float:
        places = np.searchsorted(row.terms, self._dimensions)
        places[places == len(row.terms)] = 0
        present = np.flatnonzero(row.terms[places] == self._dimensions) if len(row.terms) else np.zeros(0, np.int64)
        if not len(present):
            return 0.0
        weights = (self._idf[present] * saturated(row.counts[places[present]], row.length, mean)).astype(np.float32)
        # Added one by one, as in the embedded store; a pairwise sum would differ in the last bit.
        return float(np.cumsum(self._named[present] * weights)[-1])


def saturated(counts: NDArray[np.uint16], length: int, mean: float) -> NDArray[np.float32]:
    """Weights of terms with these `counts` in a passage of `length` terms, before rarity, 0..K1 + 1."""
    often = counts.astype(np.float32)
    weights = often * (K1 + 1) / (often + K1 * (1 - B + B * np.float32(length) / np.float32(mean)))
    return np.asarray(weights, np.float32)

"""Vectors of one generation, in FAISS.

Up to FLAT_LIMIT passages the index is flat: every vector is compared. Above that, memory holds codes of two bits per
dimension (RaBitQ); the passages that they propose are ranked by exact vectors, memory-mapped from disk, so only a
passage that was not proposed can be missed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from rag.errors import IndexCorruptError
from rag.index.arrays import map_array
from rag.index.store import BACKGROUND

EXACT_FILE = "vectors.npy"
SEARCH_FILE = "vectors.faiss"
# Comparing this many vectors of 384 numbers takes a few milliseconds; saving less is not worth a miss.
FLAT_LIMIT = 20_000
# Bits per dimension. One bit would need 4 times as many proposals, each a disk read, for the same recall.
CODE_BITS = 2
# The codes propose half the square root of their number (1,000,000: 500), and at least four per requested result;
# recall@10 is then above .99: `python -m tools.bench vectors`.
PROPOSED_PER_ROOT = 0.5
PROPOSED_PER_RESULT = 4
# Vectors read at once from a part of the index.
WITHIN_AT_ONCE = 20_000
CODES_IN_A_BLOCK = 32  # FAISS's default; it precedes the bits in the call


@dataclass(frozen=True)
class Vectors:
    """Unit vectors by passage number. `exact` has shape (n, dimension); `index` is flat, or holds codes of them."""

    exact: NDArray[np.float32]
    index: Any

    def __len__(self) -> int:
        return len(self.exact)

    def search(
        self, vector: NDArray[np.float32], count: int, within: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Numbers and cosines of the `count` passages nearest to a unit vector of shape (dimension,), best first; with
        `within`, only among these numbers.

        The cosines are exact. Ties go to the lower number.
        """
        count = min(count, len(self) if within is None else len(within))
        if not count:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if within is not None:
            # Compare all: how many codes would have to be proposed is unknown.
            parts = np.split(within, range(WITHIN_AT_ONCE, len(within), WITHIN_AT_ONCE))
            numbers, cosines = within, np.concatenate([_products(self.rows(part), query) for part in parts])
        elif isinstance(self.index, faiss.IndexFlat):
            # Not FAISS's search: it wakes threads for each question, which costs up to 15 ms while another library's
            # threads spin, and can only be turned off for the whole process.
            cosines = _products(self.exact, query)
            numbers = np.flatnonzero(cosines >= np.partition(cosines, -count)[-count])  # the best, with ties
            cosines = cosines[numbers]
        else:
            wanted = max(int(PROPOSED_PER_ROOT * math.sqrt(len(self))), PROPOSED_PER_RESULT * count)
            (numbers,) = self.index.search(query[np.newaxis], min(wanted, len(self)))[1]
            numbers = np.sort(numbers[numbers >= 0])
            cosines = _products(self.rows(numbers), query)
        best = np.lexsort((numbers, -cosines))[:count]
        return numbers[best], cosines[best]

    @property
    def dimension(self) -> int:
        return int(self.exact.shape[1])

    def rows(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        """The vectors of these passages, shape (len(numbers), dimension)."""
        return self.exact[np.asarray(numbers, dtype=np.int64)]

    def background(self) -> NDArray[np.int64]:
        return spread_evenly(len(self), BACKGROUND)

    def all(self) -> NDArray[np.float32]:
        """Every vector, shape (n, dimension), bit for bit as saved; a view."""
        return self.exact


def save_vectors(vectors: NDArray[np.float32], folder: Path) -> None:
    """Write unit vectors, shape (n, dimension), in passage order. The same vectors give the same files."""
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    if len(vectors) <= FLAT_LIMIT:
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
    else:
        index = build_proposals(vectors)
        np.save(folder / EXACT_FILE, vectors, allow_pickle=False)
    faiss.write_index(index, str(folder / SEARCH_FILE))


def load_vectors(folder: Path) -> Vectors:
    """Read what `save_vectors` wrote. It does not detect flipped bytes: verify the checksums first."""
    file = folder / SEARCH_FILE
    try:
        index = faiss.read_index(str(file))
        if isinstance(index, faiss.IndexFlat):
            return Vectors(_view(index), index)
        file = folder / EXACT_FILE
        exact = map_array(file)
    except (OSError, EOFError, ValueError, RuntimeError) as error:
        raise IndexCorruptError(
            f"{file.name} does not hold vectors: {error}", hint="rebuild it: python -m ingest --rebuild"
        ) from error
    if exact.shape != (index.ntotal, index.d):
        raise IndexCorruptError(
            f"{EXACT_FILE} holds vectors of shape {exact.shape}, {SEARCH_FILE} {index.ntotal:,} of {index.d} numbers",
            hint="rebuild it: python -m ingest --rebuild",
        )
    return Vectors(np.asarray(exact), index)


def _view(index: Any) -> NDArray[np.float32]:
    """A flat index's vectors, not copied: the index owns the memory and must outlive the view."""
    if not index.ntotal:
        return np.zeros((0, index.d), np.float32)
    view: NDArray[np.float32] = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d)
    view.flags.writeable = False
    return view.reshape(index.ntotal, index.d)


def spread_evenly(length: int, count: int) -> NDArray[np.int64]:
    """`count` evenly spaced numbers below `length`."""
    return np.linspace(0, length - 1, count).astype(np.int64)


def _products(rows: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """`rows @ query` in the calling thread.

    With so little work BLAS mostly waits for its threads, on a busy machine 40 times as long.
    """
    return np.asarray(np.einsum("ij,j->i", rows, query), dtype=np.float32)


def build_proposals(vectors: NDArray[np.float32]) -> Any:
    """Index of codes of unit vectors, about their mean; deterministic.

    Gao & Long, RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound (2024).
    """
    index = faiss.IndexRaBitQFastScan(vectors.shape[1], faiss.METRIC_INNER_PRODUCT, CODES_IN_A_BLOCK, CODE_BITS)
    index.train(vectors)
    index.add(vectors)
    return index

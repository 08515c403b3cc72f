"""Vectors of one generation, in FAISS.

Up to FLAT_LIMIT passages the index is flat: every vector is compared. Above that, memory holds codes of two bits per
dimension (RaBitQ), and the passages that they propose are ranked by their exact vectors, which are memory-mapped from
disk; only a passage that was not proposed can be missed.
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
# Comparing this many vectors of 384 numbers takes a few milliseconds; for less a miss is not worth it.
FLAT_LIMIT = 20_000
# Bits a dimension. With one, 4 times as many passages must be proposed for the same recall, each a read from the disk.
CODE_BITS = 2
# The codes propose half the square root of their number (1,000,000: 500), and at least four for each one asked for;
# recall@10 is then above .99: `python -m tools.bench vectors`.
PROPOSED_PER_ROOT = 0.5
PROPOSED_PER_RESULT = 4
# Vectors of a part of the index that are read at once.
WITHIN_AT_ONCE = 20_000
CODES_IN_A_BLOCK = 32  # the default of FAISS, to be stated where the bits are


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
        `within` of these numbers only.

        The cosines are exact. Of equally near passages the lower number comes first.
        """
        count = min(count, len(self) if within is None else len(within))
        if not count:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        query = np.ascontiguousarray(vector, dtype=np.float32)
        if within is not None:
            # All of them are compared: how many codes would have to propose them is not known.
            parts = np.split(within, range(WITHIN_AT_ONCE, len(within), WITHIN_AT_ONCE))
            numbers, cosines = within, np.concatenate([_products(self.rows(part), query) for part in parts])
        elif isinstance(self.index, faiss.IndexFlat):
            # Not the search of FAISS: it wakes threads for each question, which costs up to 15 ms where those of
            # another library are spinning, and can only be told otherwise for the whole process.
            cosines = _products(self.exact, query)
            numbers = np.flatnonzero(cosines >= np.partition(cosines, -count)[-count])  # the best, and equals of them
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
        """Every vector, shape (n, dimension), bit by bit as it was saved; a view."""
        return self.exact


def save_vectors(vectors: NDArray[np.float32], folder: Path) -> None:
    """Write unit vectors, shape (n, dimension), in passage order. The same vectors make the same files."""
    vectors = np.ascontiguousarray(vectors, dtype=np.float32)
    if len(vectors) <= FLAT_LIMIT:
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
    else:
        index = build_proposals(vectors)
        np.save(folder / EXACT_FILE, vectors, allow_pickle=False)
    faiss.write_index(index, str(folder / SEARCH_FILE))


def load_vectors(folder: Path) -> Vectors:
    """Read what `save_vectors` wrote. Flipped bytes are accepted without complaint: verify the checksums first."""
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
    """The vectors of a flat index without a copy: the index owns the memory and must live as long as the view."""
    if not index.ntotal:
        return np.zeros((0, index.d), np.float32)
    view: NDArray[np.float32] = faiss.rev_swig_ptr(index.get_xb(), index.ntotal * index.d)
    view.flags.writeable = False
    return view.reshape(index.ntotal, index.d)


def spread_evenly(length: int, count: int) -> NDArray[np.int64]:
    """`count` of the numbers below `length`, at equal distances."""
    return np.linspace(0, length - 1, count).astype(np.int64)


def _products(rows: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """`rows @ query` in the calling thread.

    BLAS shares so little work among its threads that it mostly waits for them, on a busy machine 40 times as long.
    """
    return np.asarray(np.einsum("ij,j->i", rows, query), dtype=np.float32)


def build_proposals(vectors: NDArray[np.float32]) -> Any:
    """The codes of unit vectors, about their mean; nothing in it is random.

    Gao & Long, RaBitQ: Quantizing High-Dimensional Vectors with a Theoretical Error Bound (2024).
    """
    index = faiss.IndexRaBitQFastScan(vectors.shape[1], faiss.METRIC_INNER_PRODUCT, CODES_IN_A_BLOCK, CODE_BITS)
    index.train(vectors)
    index.add(vectors)
    return index

"""Vectors of one generation: a flat FAISS index of unit vectors, whose inner product is the cosine."""

from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from rag.errors import IndexCorruptError


def save_vectors(vectors: NDArray[np.float32], file: Path) -> None:
    """Write unit vectors, shape (n, dimension), in passage order."""
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors, dtype=np.float32))
    faiss.write_index(index, str(file))


def load_vectors(file: Path) -> faiss.Index:
    """Read what `save_vectors` wrote. FAISS accepts flipped bytes without complaint: verify the checksum first."""
    try:
        return faiss.read_index(str(file))
    except RuntimeError as error:
        raise IndexCorruptError(
            f"{file.name} is not a FAISS index: {error}", hint="rebuild it: python -m ingest --rebuild"
        ) from error


def all_vectors(index: faiss.Index) -> NDArray[np.float32]:
    """Every stored vector, shape (n, dimension)."""
    return np.asarray(index.reconstruct_n(0, index.ntotal), dtype=np.float32).reshape(index.ntotal, index.d)

"""FAISS against NumPy."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag.errors import IndexCorruptError
from rag.index.vectors import all_vectors, load_vectors, save_vectors


@pytest.fixture
def vectors() -> NDArray[np.float32]:
    rows = np.random.default_rng(7).standard_normal((200, 48)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def test_the_nearest_are_those_that_numpy_finds(vectors: NDArray[np.float32], tmp_path: Path) -> None:
    save_vectors(vectors, tmp_path / "vectors")
    index = load_vectors(tmp_path / "vectors")
    for query in vectors[:20]:
        scores, numbers = index.search(query.reshape(1, -1), 10)
        expected = np.argsort(-(vectors @ query), kind="stable")[:10]
        assert numbers[0].tolist() == expected.tolist()
        np.testing.assert_allclose(scores[0], (vectors @ query)[expected], atol=1e-6)


def test_what_is_stored_comes_back_bit_by_bit(vectors: NDArray[np.float32], tmp_path: Path) -> None:
    save_vectors(vectors, tmp_path / "vectors")
    np.testing.assert_array_equal(all_vectors(load_vectors(tmp_path / "vectors")), vectors)


def test_no_vectors_are_an_index_too(tmp_path: Path) -> None:
    save_vectors(np.zeros((0, 48), dtype=np.float32), tmp_path / "vectors")
    index = load_vectors(tmp_path / "vectors")
    assert all_vectors(index).shape == (0, 48)


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_bytes(b"nothing of the kind")
    with pytest.raises(IndexCorruptError, match="vectors is not a FAISS index"):
        load_vectors(tmp_path / "vectors")

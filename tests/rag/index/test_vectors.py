"""The exact search and the one through codes, against NumPy."""

from pathlib import Path

import faiss
import numpy as np
import pytest
from numpy.typing import NDArray

from rag.errors import IndexCorruptError
from rag.index import vectors as module
from rag.index.vectors import EXACT_FILE, SEARCH_FILE, Vectors, load_vectors, save_vectors


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


@pytest.fixture
def vectors() -> NDArray[np.float32]:
    return unit(np.random.default_rng(7).standard_normal((200, 48)))


@pytest.fixture(scope="module")
def clustered() -> NDArray[np.float32]:
    """4,000 vectors around 50 centres, which lie around a common mean as those of a text embedder do."""
    chance = np.random.default_rng(11)
    centres = 3 + chance.standard_normal((50, 96))
    return unit(centres[chance.integers(0, 50, 4_000)] + 0.7 * chance.standard_normal((4_000, 96)))


@pytest.fixture
def low_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FLAT_LIMIT", 1_000)


def saved(rows: NDArray[np.float32], folder: Path) -> Vectors:
    folder.mkdir(exist_ok=True)
    save_vectors(rows, folder)
    return load_vectors(folder)


def test_the_nearest_are_those_that_numpy_finds(vectors: NDArray[np.float32], tmp_path: Path) -> None:
    index = saved(vectors, tmp_path)
    assert not (tmp_path / EXACT_FILE).exists()
    for query in vectors[:20]:
        numbers, cosines = index.search(query, 10)
        expected = np.argsort(-(vectors @ query), kind="stable")[:10]
        assert numbers.tolist() == expected.tolist()
        np.testing.assert_allclose(cosines, (vectors @ query)[expected], atol=1e-6)


def test_equally_near_vectors_come_in_order_of_number(vectors: NDArray[np.float32], tmp_path: Path) -> None:
    index = saved(np.concatenate([vectors[:3]] * 4), tmp_path)
    assert index.search(vectors[1], 3)[0].tolist() == [1, 4, 7]
    assert index.search(vectors[1], 6)[0].tolist()[:4] == [1, 4, 7, 10]


def test_more_than_there_are_is_all_of_them(vectors: NDArray[np.float32], tmp_path: Path) -> None:
    numbers, cosines = saved(vectors, tmp_path).search(vectors[0], 1_000)
    assert sorted(numbers.tolist()) == list(range(200))
    assert (np.diff(cosines) <= 0).all()


@pytest.mark.usefixtures("low_limit")
def test_codes_find_nearly_all_of_the_nearest_with_their_exact_cosines(
    clustered: NDArray[np.float32], tmp_path: Path
) -> None:
    index = saved(clustered, tmp_path)
    assert not isinstance(index.index, faiss.IndexFlat)
    queries = unit(clustered[::40] + 0.02 * np.random.default_rng(3).standard_normal((100, 96)))
    found = 0
    for query in queries:
        numbers, cosines = index.search(query, 10)
        exact = clustered @ query
        np.testing.assert_allclose(cosines, exact[numbers], atol=1e-6)
        assert (np.diff(cosines) <= 0).all()
        found += len(set(numbers.tolist()) & set(np.argsort(-exact, kind="stable")[:10].tolist()))
    assert found >= 0.98 * 10 * len(queries)


@pytest.mark.usefixtures("low_limit")
def test_codes_give_as_many_as_were_asked_for(clustered: NDArray[np.float32], tmp_path: Path) -> None:
    index = saved(clustered, tmp_path)
    for count in (1, 50, 900, 4_000, 5_000):
        numbers, _ = index.search(clustered[5], count)
        assert len(set(numbers.tolist())) == len(numbers) == min(count, 4_000)
        assert numbers[0] == 5


@pytest.mark.usefixtures("low_limit")
def test_the_same_vectors_make_the_same_files(clustered: NDArray[np.float32], tmp_path: Path) -> None:
    saved(clustered, tmp_path / "one")
    saved(clustered.copy(), tmp_path / "two")
    again = load_vectors(tmp_path / "one").all()
    saved(again, tmp_path / "three")
    for name in (EXACT_FILE, SEARCH_FILE):
        files = [(tmp_path / folder / name).read_bytes() for folder in ("one", "two", "three")]
        assert files[0] == files[1] == files[2]


@pytest.mark.parametrize("limit", [100, 1_000])
def test_what_is_stored_comes_back_bit_by_bit(
    limit: int, vectors: NDArray[np.float32], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FLAT_LIMIT", limit)
    index = saved(vectors, tmp_path)
    assert isinstance(index.index, faiss.IndexFlat) == (limit >= len(vectors))
    assert len(index) == 200
    np.testing.assert_array_equal(index.all(), vectors)
    np.testing.assert_array_equal(index.rows([7, 3, 7]), vectors[[7, 3, 7]])
    assert index.rows([]).shape == (0, 48)
    assert not index.all().flags.writeable


def test_no_vectors_are_an_index_too(vectors: NDArray[np.float32], tmp_path: Path) -> None:
    index = saved(np.zeros((0, 48), dtype=np.float32), tmp_path)
    assert index.all().shape == (0, 48)
    assert [len(part) for part in index.search(vectors[0], 5)] == [0, 0]


@pytest.mark.usefixtures("low_limit")
@pytest.mark.parametrize("name", [EXACT_FILE, SEARCH_FILE])
@pytest.mark.parametrize("data", [b"", b"nothing of the kind"])
def test_a_file_of_something_else_is_refused(
    name: str, data: bytes, clustered: NDArray[np.float32], tmp_path: Path
) -> None:
    saved(clustered, tmp_path)
    (tmp_path / name).write_bytes(data)
    with pytest.raises(IndexCorruptError, match=f"{name} does not hold vectors") as caught:
        load_vectors(tmp_path)
    assert "--rebuild" in caught.value.hint


@pytest.mark.usefixtures("low_limit")
def test_files_that_do_not_belong_together_are_refused(clustered: NDArray[np.float32], tmp_path: Path) -> None:
    saved(clustered, tmp_path)
    save_vectors(clustered[:2_000], tmp_path)
    np.save(tmp_path / EXACT_FILE, clustered)
    with pytest.raises(IndexCorruptError, match=r"of shape \(4000, 96\), vectors\.faiss 2,000 of 96"):
        load_vectors(tmp_path)
    (tmp_path / EXACT_FILE).unlink()
    with pytest.raises(IndexCorruptError, match=EXACT_FILE):
        load_vectors(tmp_path)

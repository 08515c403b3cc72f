"""Arrays on disk: any reader of safetensors finds them, ours without reading them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from rag.index.arrays import Pieces, map_arrays, write_arrays


def test_what_is_written_is_found_by_us_and_by_the_library(tmp_path: Path) -> None:
    plain: dict[str, NDArray[Any]] = {
        "letters": np.frombuffer(b"abc", np.uint8),
        "halves": np.asarray([0.5, -2], np.float16),
        "numbers": np.arange(7, dtype=np.int64),
        "grid": np.arange(6, dtype=np.float32).reshape(2, 3),
        "nothing": np.zeros(0, np.int32),
    }
    file = tmp_path / "arrays.safetensors"
    write_arrays(file, plain)
    for found in (map_arrays(file), load_file(file)):
        assert set(found) == set(plain)
        for name, array in plain.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array.reshape(-1))


def test_pieces_come_one_after_another(tmp_path: Path) -> None:
    file = tmp_path / "arrays.safetensors"
    pieces = (np.full((2, 2), number, np.uint8) for number in range(3))
    write_arrays(file, {"pieces": Pieces(np.uint8, 12, pieces), "one": np.ones(1, np.float32)})
    assert map_arrays(file)["pieces"].tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]


def test_pieces_must_be_as_many_as_announced(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="pieces has not the 3 items"):
        write_arrays(tmp_path / "x", {"pieces": Pieces(np.uint8, 3, [np.zeros(2, np.uint8)])})


def test_a_file_of_empty_arrays(tmp_path: Path) -> None:
    write_arrays(tmp_path / "x", {"a": np.zeros(0, np.int32), "b": np.zeros(0, np.float16)})
    assert {name: (array.dtype.name, len(array)) for name, array in map_arrays(tmp_path / "x").items()} == {
        "a": ("int32", 0),
        "b": ("float16", 0),
    }

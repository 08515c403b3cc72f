"""Weights mapped from their file, and files that are damaged."""

from pathlib import Path

import numpy as np
import pytest
from ml_dtypes import bfloat16
from safetensors.numpy import save_file

from rag.embedding.stored import read_weights, widened


def test_numbers_are_those_that_were_written(tmp_path: Path) -> None:
    file = tmp_path / "weights.safetensors"
    exact = np.random.default_rng(1).normal(size=(5, 7)).astype(np.float32)
    save_file({"half": exact.astype(bfloat16), "whole": exact}, file)
    found = read_weights(file)
    np.testing.assert_array_equal(widened(found["half"]), exact.astype(bfloat16).astype(np.float32))
    np.testing.assert_array_equal(widened(found["whole"]), exact)


@pytest.mark.parametrize("keep", [4, 40, -1])
def test_a_file_that_is_cut_short_is_refused(tmp_path: Path, keep: int) -> None:
    file = tmp_path / "weights.safetensors"
    save_file({"whole": np.zeros((5, 7), np.float32)}, file)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"cut short|bytes"):
        read_weights(file)


def test_other_numbers_are_refused(tmp_path: Path) -> None:
    save_file({"whole": np.zeros(3, np.int64)}, tmp_path / "weights.safetensors")
    with pytest.raises(ValueError, match="I64"):
        read_weights(tmp_path / "weights.safetensors")

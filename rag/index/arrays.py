"""Named arrays on disk, each in its own .npy file: written in pieces, read memory-mapped.

The arrays `starts` and `codes` of `tokens` are `tokens.starts.npy` and `tokens.codes.npy`.
"""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

# numpy parses a header with `ast.literal_eval`, which in CPython 3.11 sometimes fails when two threads call it at
# once ("AST constructor recursion depth mismatch", python/cpython#106905).
_HEADERS = threading.Lock()


@dataclass(frozen=True, slots=True)
class Pieces:
    """An array delivered in consecutive pieces along its first axis."""

    dtype: type[np.generic]
    shape: tuple[int, ...]
    pieces: Iterable[NDArray[Any]]


def write_arrays(prefix: Path, arrays: Mapping[str, NDArray[Any] | Pieces]) -> None:
    """Write each array to `PREFIX.name.npy`."""
    for name, array in arrays.items():
        with _file(prefix, name).open("wb") as stream:
            if isinstance(array, Pieces):
                _write_pieces(stream, name, array)
            else:
                np.save(stream, array, allow_pickle=False)


def map_arrays(prefix: Path) -> dict[str, NDArray[Any]]:
    """Memory-map what `write_arrays` wrote. It does not detect flipped bytes: verify the checksums first."""
    start, end = f"{prefix.name}.", ".npy"
    return {
        file.name.removeprefix(start).removesuffix(end): map_array(file)
        for file in sorted(prefix.parent.glob(f"{start}*{end}"))
    }


def as_array(texts: Iterable[str]) -> NDArray[np.uint8]:
    """Texts in UTF-8, each ended by NUL; a NUL within one becomes a space."""
    return np.frombuffer("".join(text.replace("\0", " ") + "\0" for text in texts).encode(), np.uint8)


def texts_of(array: NDArray[np.uint8]) -> list[str]:
    """What `as_array` was given."""
    return array.tobytes().decode().split("\0")[:-1]


def map_array(file: Path) -> NDArray[Any]:
    """One .npy file, memory-mapped."""
    with _HEADERS:
        return np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))


def _write_pieces(stream: Any, name: str, array: Pieces) -> None:
    # Not into a memory map: writing to one on a full disk kills the process.
    dtype = np.dtype(array.dtype)
    header = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": array.shape}
    npy.write_array_header_1_0(stream, header)
    start = stream.tell()
    for piece in array.pieces:
        stream.write(np.ascontiguousarray(piece, dtype).data)
    if stream.tell() - start != int(np.prod(array.shape)) * dtype.itemsize:
        raise ValueError(f"{name} has not the shape {array.shape} that was announced")


def _file(prefix: Path, name: str) -> Path:
    return prefix.with_name(f"{prefix.name}.{name}.npy")

"""One-dimensional arrays in a safetensors file: written piece by piece, and read without being read.

The library can do neither for NumPy. The format: u64 length of a JSON header, the header, the arrays
(https://github.com/huggingface/safetensors#format).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DTYPES: dict[str, type[np.generic]] = {
    "U8": np.uint8,
    "F16": np.float16,
    "I32": np.int32,
    "I64": np.int64,
    "F32": np.float32,
}
_NAMES = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
_ALIGNMENT = 8


@dataclass(frozen=True, slots=True)
class Pieces:
    """An array that comes in pieces, which together have `count` items."""

    dtype: type[np.generic]
    count: int
    pieces: Iterable[NDArray[Any]]


def write_arrays(file: Path, arrays: Mapping[str, NDArray[Any] | Pieces]) -> None:
    """Write arrays under their names. Larger types come first, so that each lies where its type wants it."""
    parts = {
        name: array if isinstance(array, Pieces) else Pieces(array.dtype.type, array.size, (array,))
        for name, array in arrays.items()
    }
    parts = dict(sorted(parts.items(), key=lambda item: -np.dtype(item[1].dtype).itemsize))
    header: dict[str, Any] = {}
    position = 0
    for name, part in parts.items():
        dtype = np.dtype(part.dtype)
        end = position + part.count * dtype.itemsize
        header[name] = {"dtype": _NAMES[dtype], "shape": [part.count], "data_offsets": [position, end]}
        position = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _ALIGNMENT)
    with file.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        start = stream.tell()
        for name, part in parts.items():
            for piece in part.pieces:
                stream.write(np.ascontiguousarray(piece, part.dtype).data)
            if stream.tell() - start != header[name]["data_offsets"][1]:
                raise ValueError(f"{name} has not the {part.count:,} items that were announced")


def map_arrays(file: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a file, memory-mapped. Flipped bytes are accepted without complaint: verify the checksum first."""
    with file.open("rb") as stream:
        size = int.from_bytes(stream.read(8), "little")
        header = json.loads(stream.read(size))
    if not any(record["data_offsets"][1] for record in header.values()):  # an empty range cannot be mapped
        return {name: np.zeros(0, _DTYPES[record["dtype"]]) for name, record in header.items()}
    data = np.asarray(np.memmap(file, dtype=np.uint8, mode="r", offset=8 + size))
    return {
        name: data[slice(*record["data_offsets"])].view(_DTYPES[record["dtype"]]) for name, record in header.items()
    }

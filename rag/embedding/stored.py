"""Weights of a safetensors file, mapped into memory: only the parts read take any.

NumPy has no bfloat16, in which the default embedder is stored: such numbers are kept as the upper 16 bits of a float32.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = Mapping[str, NDArray[Any]]
Floats = NDArray[np.float32]

_KINDS = {"BF16": np.uint16, "F16": np.float16, "F32": np.float32}


def read_weights(file: Path) -> dict[str, NDArray[Any]]:
    """Every tensor by name; bfloat16 as 16-bit integers. Raises OSError, and ValueError if the file is damaged or has
    other number types."""
    whole = np.memmap(file, np.uint8, "r")
    start = 8 + int.from_bytes(whole[:8].tobytes(), "little")
    if start > len(whole):
        raise ValueError(f"{file.name} is cut short")
    head = json.loads(whole[8:start].tobytes())
    return {name: _tensor(whole[start:], name, told) for name, told in head.items() if name != "__metadata__"}


def _tensor(body: NDArray[np.uint8], name: str, told: Mapping[str, Any]) -> NDArray[Any]:
    kind, (begin, end) = _KINDS.get(told["dtype"]), told["data_offsets"]
    if kind is None or not 0 <= begin <= end <= len(body):
        raise ValueError(f"{name} is of {told['dtype']} numbers, bytes {begin} to {end} of {len(body)}")
    return body[begin:end].view(kind).reshape(told["shape"])


def widened(numbers: NDArray[Any]) -> Floats:
    """As float32. 16-bit integers are bfloat16."""
    if numbers.dtype == np.uint16:
        return (numbers.astype(np.uint32) << 16).view(np.float32)
    return np.asarray(numbers, np.float32)

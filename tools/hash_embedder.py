"""An embedder without a model, for tests and for tools that embed more than a model could."""

import zlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Encoded
from rag.language.terms import fold, terms
from rag.settings import Settings

SIZES = (1, 2, 3)  # of the n-grams, in characters
# What a byte makes of the checksum so far.
CRC = np.array([zlib.crc32(bytes([number ^ 0xFF])) ^ 0xFF000000 for number in range(256)], np.uint32)
LONGEST = 4  # bytes of a character in UTF-8


class HashEmbedder:
    """A fast, deterministic Embedder: hashed character n-grams. Texts that share wording are near each other."""

    identity = "hash@1"
    dimension = 256
    max_tokens = 512

    def embed_passages(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> NDArray[np.float32]:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self.embed_query(text)
            if progress:
                progress(row + 1, len(texts))
        return vectors

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self._vectors([text])[0]
        return vector

    def _vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Of shape (texts, dimension)."""
        folded = [f" {fold(text)} " for text in texts]
        rows = np.repeat(np.arange(len(folded)), [len(text) for text in folded])
        sums = np.zeros(len(folded) * self.dimension)
        for size, codes in zip(SIZES, _codes("".join(folded)), strict=True):
            within = rows[: len(codes)] == rows[size - 1 :]  # of one text
            places = (rows[: len(codes)] * self.dimension + codes % self.dimension)[within]
            sums += np.bincount(places, np.where(codes & 0x1000, size, -size)[within], len(sums))
        vectors = sums.reshape(-1, self.dimension).astype(np.float32)
        lengths = np.sqrt(np.sum(vectors * vectors, axis=1, keepdims=True))
        vectors[lengths[:, 0] == 0, 0] = 1.0
        return np.asarray(vectors / np.maximum(lengths, 1.0), dtype=np.float32)

    def encode_passages(
        self, texts: Sequence[str], progress: Callable[[int, int], None] | None = None
    ) -> Iterator[tuple[int, Encoded]]:
        yield from enumerate(self.encode_queries(texts))
        if progress:
            progress(len(texts), len(texts))

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        return [self._encode(text) for text in texts]

    def _encode(self, text: str) -> Encoded:
        """Its tokens are its keyword terms, each like others that share characters with it."""
        found = terms(text)
        return Encoded(
            self.embed_query(text),
            self._vectors(found),
            np.asarray([zlib.crc32(term.encode()) >> 1 for term in found], np.int32),
        )

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """About as many as a real tokenizer would: one for a Chinese character, one for four others."""
        return [2 + sum(4 if ord(character) > 0x2E80 else 1 for character in text) // 4 for text in texts]

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [_term_spans(text) for text in texts]


def load_hash_embedder(settings: Settings) -> HashEmbedder:
    """What workers of a cluster load in the place of a model."""
    return HashEmbedder()


def _codes(text: str) -> Iterator[NDArray[np.uint32]]:
    """For each of SIZES, `zlib.crc32` of the n-gram that begins at each character, as UTF-8."""
    data = np.frombuffer(text.encode("utf-8", "replace") + bytes(LONGEST), np.uint8)
    starts = np.flatnonzero((data[:-LONGEST] & 0xC0) != 0x80)
    lengths = np.diff(starts, append=len(data) - LONGEST)
    sums = np.full(len(starts), 0xFFFFFFFF, np.uint32)
    for size in SIZES:
        sums = sums[: max(0, len(starts) - size + 1)]
        for place in range(LONGEST):
            longer = CRC[(sums ^ data[starts[size - 1 :] + place]) & 0xFF] ^ (sums >> 8)
            sums = np.where(lengths[size - 1 :] > place, longer, sums)
        yield ~sums


def _term_spans(text: str) -> NDArray[np.int32]:
    """Where the terms stand; one that was folded beyond recognition stands where the one before it does."""
    spans, start = [], 0
    for term in terms(text):
        found = fold(text).find(term, start)
        start = found if found >= 0 else start
        spans.append((start, start + len(term)))
    return np.asarray(spans, np.int32).reshape(-1, 2)

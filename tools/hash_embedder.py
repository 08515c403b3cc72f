"""An embedder without a model, for tests and for tools that embed more than a model could."""

import zlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Encoded
from rag.language.terms import fold, terms
from rag.settings import Settings


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
        folded = f" {fold(text)} "
        vector = np.zeros(self.dimension, dtype=np.float32)
        for size in (1, 2, 3):
            for start in range(len(folded) - size + 1):
                code = zlib.crc32(folded[start : start + size].encode("utf-8", "replace"))
                vector[code % self.dimension] += size if code & 0x1000 else -size
        length = float(np.linalg.norm(vector))
        if not length:
            vector[0] = length = 1.0
        return np.asarray(vector / length, dtype=np.float32)

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
        tokens = [self.embed_query(term) for term in found]
        return Encoded(
            self.embed_query(text),
            np.asarray(tokens, np.float32).reshape(-1, self.dimension),
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


def _term_spans(text: str) -> NDArray[np.int32]:
    """Where the terms stand; one that was folded beyond recognition stands where the one before it does."""
    spans, start = [], 0
    for term in terms(text):
        found = fold(text).find(term, start)
        start = found if found >= 0 else start
        spans.append((start, start + len(term)))
    return np.asarray(spans, np.int32).reshape(-1, 2)

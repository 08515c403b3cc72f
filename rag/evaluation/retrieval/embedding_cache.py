"""An embedder that embeds no text twice: it keeps vectors in memory, and in a file if one is given."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from rag.embedding import Embedder, Encoded, Progress, Vectors
from rag.errors import UsageError


class CachedEmbedder:
    """Wraps an embedder behind the same interface. `file` keeps the vectors between runs, by the SHA-256 of the text.
    Raises UsageError if the file is damaged."""

    def __init__(self, embedder: Embedder, file: Path | None = None) -> None:
        self.embedder = embedder
        self.identity = embedder.identity
        self.dimension = embedder.dimension
        self.max_tokens = embedder.max_tokens
        self._file = file
        self._vectors: dict[bytes, Vectors] = {}
        self._bypassed = False
        if file is not None and file.is_file():
            try:
                stored = load_file(file)
                self._vectors = {key.tobytes(): row for key, row in zip(stored["keys"], stored["vectors"], strict=True)}
            except (SafetensorError, KeyError, ValueError) as error:
                raise UsageError(f"{file} is damaged: {error}", hint="remove it; it is made anew") from error
        self._saved = len(self._vectors)

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        keys = [_key("passage", text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        found = self.embedder.embed_passages(list(missing.values()), progress)
        self._vectors.update(zip(missing, found, strict=True))
        return np.asarray([self._vectors[key] for key in keys], np.float32).reshape(len(keys), self.dimension)

    def embed_query(self, text: str) -> Vectors:
        if self._bypassed:
            return self.embedder.embed_query(text)
        key = _key("query", text)
        if key not in self._vectors:
            self._vectors[key] = self.embedder.embed_query(text)
        return self._vectors[key]

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[int, Encoded]]:
        """Not cached: only ingest uses it."""
        return self.embedder.encode_passages(texts, progress)

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        """Not cached: each question is encoded once."""
        return self.embedder.encode_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self.embedder.count_tokens(texts)

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return self.embedder.token_spans(texts)

    @contextmanager
    def bypassed(self) -> Iterator[None]:
        """Within this context every question is embedded anew: a cached vector says nothing about speed."""
        self._bypassed = True
        try:
            yield
        finally:
            self._bypassed = False

    def save(self) -> None:
        """Write the file, if there are new vectors since it was read."""
        if self._file is None or len(self._vectors) == self._saved:
            return
        keys = np.frombuffer(b"".join(self._vectors), np.uint8).reshape(len(self._vectors), -1)
        data = save({"keys": keys, "vectors": np.stack(list(self._vectors.values()))})
        self._file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self._file.with_suffix(".writing")
        temporary.write_bytes(data)
        temporary.replace(self._file)
        self._saved = len(self._vectors)


def _key(kind: str, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\0{text}".encode("utf-8", "replace")).digest()

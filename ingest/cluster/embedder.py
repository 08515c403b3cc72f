"""The embedder of a pool's workers, for a run's needs besides passage vectors."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Encoded, Progress, Vectors

Ask = Callable[[str, Sequence[str], Progress | None], list[Any]]


class RemoteEmbedder:
    """An Embedder whose results come from workers, so that the writer needs neither model nor memory for it.

    `ask` passes texts to a method of theirs and returns a result for each.
    """

    def __init__(self, ask: Ask, identity: str, dimension: int, max_tokens: int) -> None:
        self._ask = ask
        self.identity = identity
        self.dimension = dimension
        self.max_tokens = max_tokens

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        found = self._ask("embed_passages", texts, progress)
        return np.stack(found) if found else np.zeros((0, self.dimension), np.float32)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._ask("embed_query", [text], None)[0]
        return vector

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[int, Encoded]]:
        yield from enumerate(self._ask("encode_passages", texts, progress))

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        return self._ask("encode_queries", texts, None)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._ask("count_tokens", texts, None)

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return self._ask("token_spans", texts, None)

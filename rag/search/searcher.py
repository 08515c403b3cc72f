"""Searches of one index. A text that several stages search, or that was asked a moment ago, is searched once."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from rag.embedding import Embedder, Encoded
from rag.index import Index
from rag.search.retrieval import CANDIDATES, Candidates, Evidence, encode_questions, evidence_of, propose

# Texts whose candidates and token vectors are kept: some 50 kB for a question, at most 0.8 MB.
KEPT = 32


class Searcher:
    """Finds `k` passages, or another number. Safe to use from several threads."""

    def __init__(self, index: Index, embedder: Embedder, k: int) -> None:
        self.index, self.embedder, self.k = index, embedder, k
        # Neither holds the Searcher, so that one that is dropped frees its index at once.
        self.encode: Callable[[str], Encoded] = lru_cache(KEPT)(partial(_encoded, embedder))
        self._candidates = lru_cache(KEPT)(partial(_proposed, index, self.encode, k))

    def is_of(self, index: Index) -> bool:
        """Whether it searches an index or a part of it."""
        return self.index is index or self.index.whole is index

    def search(self, texts: Sequence[str], *, k: int | None = None) -> list[Evidence]:
        """The best passages for each text, at most CANDIDATES or `self.k`."""
        return [
            evidence_of(self.index, text, self.encode(text), self._candidates(text), k=k or self.k) for text in texts
        ]


def _encoded(embedder: Embedder, text: str) -> Encoded:
    return encode_questions(embedder, [text])[0]


def _proposed(index: Index, encode: Callable[[str], Encoded], k: int, text: str) -> Candidates | None:
    return propose(index, text, encode(text), count=max(CANDIDATES, k))

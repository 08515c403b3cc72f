"""Searches of one index. A text that several stages search, or that was asked a moment ago, is searched once."""

from collections.abc import Sequence
from functools import lru_cache

from rag.embedding import Embedder, Encoded
from rag.index import Index
from rag.search.retrieval import CANDIDATES, Candidates, Evidence, encode_questions, evidence_of, propose

# Texts whose candidates and token vectors are kept: some 50 kB each.
KEPT = 64


class Searcher:
    """Finds `k` passages, or another number. Safe to use from several threads."""

    def __init__(self, index: Index, embedder: Embedder, k: int) -> None:
        self.index, self.embedder, self.k = index, embedder, k
        self.encode = lru_cache(KEPT)(self._encoded)
        self._candidates = lru_cache(KEPT)(self._proposed)

    def is_of(self, index: Index) -> bool:
        """Whether it searches an index or a part of it."""
        return self.index is index or self.index.whole is index

    def search(self, texts: Sequence[str], *, k: int | None = None) -> list[Evidence]:
        """The best passages for each text, at most CANDIDATES or `self.k`."""
        return [
            evidence_of(self.index, text, self.encode(text), self._candidates(text), k=k or self.k) for text in texts
        ]

    def _encoded(self, text: str) -> Encoded:
        return encode_questions(self.embedder, [text])[0]

    def _proposed(self, text: str) -> Candidates | None:
        return propose(self.index, text, self.encode(text), count=max(CANDIDATES, self.k), wanted=self.k)

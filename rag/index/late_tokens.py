"""Makes the tokens of passages that lack them when a question needs them: the program's own pages come with ready
vectors, and readers ask about them before their tokens exist."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Embedder, Encoded
from rag.index.generation import DiskIndex
from rag.index.store import Index, Numbers
from rag.index.tokens import Coded, SomeTokens, TokenIndex

# Passages whose tokens one search makes, and the pages of one answer: 40 ms each. More hardly improve retrieval
# (docs/results/tokens.md).
OF_A_SEARCH = 16
OF_PAGES = 64


@dataclass(frozen=True, kw_only=True)
class LateTokens(TokenIndex):
    """The tokens of an index that lacks some. `make` returns the tokens of passages by number; its results are kept
    for the lifetime of this object. Safe to use from several threads."""

    make: Callable[[Sequence[int]], Sequence[Coded]]
    made: dict[int, Coded] = field(default_factory=dict)
    making: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def _to_be_made(self) -> frozenset[int]:
        return frozenset(self.missing.tolist())

    def within_reach(self, numbers: Numbers, wanted: int) -> NDArray[np.bool_]:
        """Makes the first passages' missing tokens."""
        self._make_some(numbers, max(OF_A_SEARCH, wanted))
        return np.asarray([not self._is_missing(int(number)) for number in numbers], np.bool_)

    def passage(self, number: int) -> Coded:
        return self.made.get(number) or super().passage(number)

    def vectors(self, number: int) -> NDArray[np.float32]:
        self._make_some([number], 1)
        return self._some([number])[0].vectors(0)

    def scores(self, question: Encoded, numbers: Numbers) -> NDArray[np.float32]:
        self._make_some(numbers, OF_A_SEARCH)  # also for a refusal's passages
        own, places = self._some(numbers)
        return own.scores(question, places)

    def part_scores(
        self, question: Encoded, numbers: Sequence[int], parts: Sequence[NDArray[np.bool_]]
    ) -> list[NDArray[np.float32]]:
        self._make_some(numbers, OF_PAGES)
        own, places = self._some(numbers)
        return own.part_scores(question, places.tolist(), parts)

    def _is_missing(self, number: int) -> bool:
        return number in self._to_be_made and number not in self.made

    def _make_some(self, numbers: Numbers, most: int) -> None:
        with self.making:
            wanted = [int(number) for number in numbers if self._is_missing(int(number))][:most]
            if wanted:
                self.made.update(zip(wanted, self.make(wanted), strict=True))

    def _some(self, numbers: Numbers) -> tuple[SomeTokens, NDArray[np.int64]]:
        distinct, places = np.unique(np.asarray(numbers, np.int64), return_inverse=True)
        coded = [self.passage(number) for number in distinct.tolist()]
        return SomeTokens.of(coded, self.codec, self.vocabulary, self.frequencies, len(self)), places.reshape(-1)


def with_late_tokens(index: Index, embedder: Embedder) -> Index:
    """The index; if it lacks tokens, wrapped so that it makes them with `embedder`, which must be the one that built
    it."""
    if not isinstance(index, DiskIndex) or index.tokens is None or not len(index.tokens.missing):
        return index
    tokens, storage = index.tokens, index.storage

    def make(numbers: Sequence[int]) -> list[Coded]:
        texts = storage.embedded_texts(numbers)
        encoded = dict(embedder.encode_passages([texts[number][1] for number in numbers]))
        return [tokens.codec.encode(encoded[place]) for place in range(len(numbers))]

    kept = {part.name: getattr(tokens, part.name) for part in fields(TokenIndex)}
    return replace(index, tokens=LateTokens(**kept, make=make))

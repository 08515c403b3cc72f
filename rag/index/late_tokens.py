"""Compares questions with passages whose tokens are still to be made: the program's own pages come with ready vectors,
and readers ask about them before their tokens exist."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Embedder, Encoded
from rag.index.generation import DiskIndex
from rag.index.store import Index, Numbers, VectorSearch
from rag.index.tokens import PassageTokens, SomeTokens, TokenIndex

# Passages whose tokens one comparison makes: .04 to .3 s each, and an answer compares some four times. More do not
# improve answers (docs/results/tokens.md).
MADE_AT_ONCE = 2


@dataclass(frozen=True, kw_only=True)
class LateTokens(TokenIndex):
    """The tokens of an index that lacks some. `make` returns the tokens of passages by number; its results are kept
    for the lifetime of this object. Each comparison makes those of the `at_once` passages whose vectors, `of_passages`,
    are most like the question's; the scores of the others are estimated from their vectors, so a score may change once
    more are made. Safe to use from several threads."""

    of_passages: VectorSearch
    make: Callable[[Sequence[int]], Sequence[PassageTokens]]
    at_once: int = MADE_AT_ONCE
    made: dict[int, PassageTokens] = field(default_factory=dict)
    making: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def _to_be_made(self) -> frozenset[int]:
        return frozenset(self.missing.tolist())

    def comparable(self, numbers: Numbers) -> NDArray[np.bool_]:
        return np.ones(len(numbers), np.bool_)

    def passage(self, number: int) -> PassageTokens:
        return self.made.get(number) or super().passage(number)

    def vectors(self, number: int) -> NDArray[np.float32]:
        self._make([number])
        return self._some([number])[0].vectors(0)

    def scores(self, question: Encoded, numbers: Numbers) -> NDArray[np.float32]:
        def of_tokens(numbers: Numbers) -> list[NDArray[np.float32]]:
            own, places = self._some(numbers)
            return list(own.scores(question, places).reshape(-1, 1))

        scored = self._scores(question, numbers, [1] * len(numbers), of_tokens)
        return np.asarray(scored, np.float32).reshape(-1)

    def part_scores(
        self, question: Encoded, numbers: Sequence[int], parts: Sequence[NDArray[np.bool_]]
    ) -> list[NDArray[np.float32]]:
        part_of = dict(zip(numbers, parts, strict=True))

        def of_tokens(numbers: Numbers) -> list[NDArray[np.float32]]:
            own, places = self._some(numbers)
            return own.part_scores(question, places.tolist(), [part_of[int(number)] for number in numbers])

        return self._scores(question, numbers, [len(part) for part in parts], of_tokens)

    def _scores(
        self,
        question: Encoded,
        numbers: Numbers,
        counts: Sequence[int],
        of_tokens: Callable[[Numbers], list[NDArray[np.float32]]],
    ) -> list[NDArray[np.float32]]:
        """For each passage as many scores as `counts` says: those `of_tokens`; without tokens, the cosine of its vector
        plus the mean of how far the best scores of the other passages exceed their cosines."""
        numbers = np.asarray(numbers, np.int64)
        if not len(question.tokens) or not any(map(self._is_missing, numbers)):
            return of_tokens(numbers)
        cosines = self.of_passages.rows(numbers.tolist()) @ question.vector
        best_first = numbers[np.argsort(-cosines, kind="stable")]
        lacking = dict.fromkeys(number for number in best_first.tolist() if self._is_missing(number))
        self._make([*lacking][: self.at_once])
        has_tokens = np.asarray([not self._is_missing(number) for number in numbers])
        scored = of_tokens(numbers[has_tokens])
        above = [float(scores.max()) - cosine for scores, cosine in zip(scored, cosines[has_tokens], strict=True)]
        # What holds no word scores -1, whatever its vector is.
        gap = np.mean([value for value, scores in zip(above, scored, strict=True) if scores.max() > -1] or [0.0])
        estimated = (np.full(count, value + gap, np.float32) for count, value in zip(counts, cosines, strict=True))
        own = iter(scored)
        return [next(own) if has else other for has, other in zip(has_tokens, estimated, strict=True)]

    def _is_missing(self, number: int) -> bool:
        return number in self._to_be_made and number not in self.made

    def _make(self, numbers: Sequence[int]) -> None:
        with self.making:
            wanted = [int(number) for number in numbers if self._is_missing(number)]
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
    if isinstance(tokens, LateTokens):
        return index

    def make(numbers: Sequence[int]) -> list[PassageTokens]:
        texts = storage.embedded_texts(numbers)
        encoded = dict(embedder.encode_passages([texts[number][1] for number in numbers]))
        return [tokens.codec.encode(encoded[place]) for place in range(len(numbers))]

    kept = {part.name: getattr(tokens, part.name) for part in fields(TokenIndex)}
    return replace(index, tokens=LateTokens(**kept, of_passages=index.vectors, make=make))

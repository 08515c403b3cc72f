"""Late interaction over the token vectors of the candidates, which come from the server."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Encoded
from rag.index.milvus.fetched import Fetched
from rag.index.store import Numbers
from rag.index.tokens import TokenCodec, TokenIndex


@dataclass(frozen=True)
class SomeTokens(TokenIndex):
    """The tokens of some passages; how rare a token is counts over all of them."""

    passage_count: int = 0

    def __len__(self) -> int:
        return self.passage_count


class MilvusTokens:
    """`vocabulary` (ascending) are token ids, `frequencies` in how many passages each stands."""

    def __init__(
        self, fetched: Fetched, codec: TokenCodec, vocabulary: NDArray[np.int32], frequencies: NDArray[np.int32]
    ) -> None:
        self._fetched = fetched
        self.codec = codec
        self._vocabulary = vocabulary
        self._frequencies = frequencies

    @property
    def centre(self) -> NDArray[np.float32]:
        return self.codec.centre

    def scores(self, question: Encoded, numbers: Numbers) -> NDArray[np.float32]:
        own, places = self._some(numbers)
        return own.scores(question, places)

    def part_scores(
        self, question: Encoded, numbers: Sequence[int], parts: Sequence[NDArray[np.bool_]]
    ) -> list[NDArray[np.float32]]:
        own, places = self._some(numbers)
        return own.part_scores(question, places.tolist(), parts)

    def vectors(self, number: int) -> NDArray[np.float32]:
        return self._some([number])[0].vectors(0)

    def rarity(self, token_ids: NDArray[np.int32]) -> NDArray[np.float32]:
        return self._some([])[0].rarity(token_ids)

    def _some(self, numbers: Numbers) -> tuple[SomeTokens, NDArray[np.int64]]:
        """The tokens of these passages, each once, and the place of each."""
        distinct, places = np.unique(np.asarray(numbers, np.int64), return_inverse=True)
        coded = self._fetched.tokens(distinct.tolist())
        width = len(self.codec.centre) // 2
        tokens = SomeTokens(
            codec=self.codec,
            starts=np.concatenate(([0], np.cumsum([len(one.scales) for one in coded]))).astype(np.int64),
            codes=np.concatenate([one.codes for one in coded]) if coded else np.zeros((0, width), np.uint8),
            scales=np.concatenate([one.scales for one in coded]) if coded else np.zeros(0, np.float16),
            lengths=np.concatenate([one.lengths for one in coded]) if coded else np.zeros(0, np.float16),
            token_ids=np.concatenate([one.token_ids for one in coded]) if coded else np.zeros(0, np.int32),
            vocabulary=self._vocabulary,
            frequencies=self._frequencies,
            passage_count=self._fetched.generation.manifest.passages,
        )
        return tokens, places.reshape(-1)

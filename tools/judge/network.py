"""Whether a statement says what a claim says, denies it, or speaks of something else: a network that reads both.

Likeness does not see direction: a statement that has everything the wrong way round shares more words with a claim than
one that says it in words of its own (docs/results/practice.md). So the two are read as one text, as in natural language
inference (Bowman et al., 2015), by the reader's layers trained further. The program does not use it: no weights that
were trained tell enough yet.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from rag.embedding import BertEmbedder
from rag.text.terms import simplified

if TYPE_CHECKING:
    from torch import Tensor

    from rag.embedding.bert import Bert

# Tokens of the two together; claims and statements are sentences.
MOST_TOKENS = 256
# Pairs read together.
BATCH = 32
ENCODER, HEAD = "encoder.", "head."


class Relation(IntEnum):
    SAYS = 0
    DENIES = 1
    OTHER = 2


@dataclass(frozen=True, slots=True)
class Odds:
    """Probabilities, which sum to 1."""

    says: float
    denies: float
    other: float


def joined(embedder: BertEmbedder, claim: str, statement: str) -> list[int]:
    """The two as one input: `<s> claim </s> statement </s>`, the claim cut first where they are too long."""
    begin, end = embedder.special_ids()
    first, second = embedder.token_ids([claim, statement])
    second = second[: MOST_TOKENS // 2]
    return [begin, *first[: MOST_TOKENS - 3 - len(second)], end, *second, end]


class Judge:
    """Over the vocabulary of the embedder that it was trained over."""

    def __init__(self, embedder: BertEmbedder, trained: "dict[str, Tensor]") -> None:
        """Raises ValueError where the weights do not fit the embedder."""
        from rag.embedding.bert import layers_of

        like = embedder.network.words
        placed = {name: weight.to(like.device, like.dtype) for name, weight in trained.items()}
        try:
            self._head = placed[f"{HEAD}weight"], placed[f"{HEAD}bias"]
            layers = layers_of({n.removeprefix(ENCODER): w for n, w in placed.items() if n.startswith(ENCODER)})
        except KeyError as missing:
            raise ValueError(f"its weights do not fit the embedder: there are none for {missing}") from missing
        if self._head[0].shape != (len(Relation), embedder.dimension):
            raise ValueError("its weights do not fit the embedder: they are of another width")
        self._embedder = embedder
        self._network: Bert = embedder.network.with_layers(layers)

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Odds]:
        """Of each (claim, statement)."""
        inputs = [joined(self._embedder, simplified(claim), simplified(said)) for claim, said in pairs]
        order = sorted(range(len(inputs)), key=lambda place: len(inputs[place]))
        found: dict[int, Odds] = {}
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            rows = self._probabilities([inputs[place] for place in places])
            found |= {place: Odds(*row) for place, row in zip(places, rows, strict=True)}
        return [found[place] for place in range(len(pairs))]

    def _probabilities(self, inputs: Sequence[Sequence[int]]) -> list[list[float]]:
        import torch

        with torch.inference_mode():
            first = torch.stack([states[0] for states in self._network.states(inputs)])
            logits = torch.nn.functional.linear(first, *self._head)
            probabilities: list[list[float]] = logits.float().softmax(1).tolist()
        return probabilities

"""Whether a statement says what a claim says, denies it, or speaks of something else: a network that reads both.

Likeness does not see direction: a statement that has everything the wrong way round shares more words with a claim than
one that says it in words of its own (docs/results/README.md). So the two are read as one text, as in natural language
inference (Bowman et al., 2015), by half of the reader's layers trained further: `python -m tools.judge train`.
"""

import logging
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rag.embedding import BertEmbedder, Embedder
from rag.language.terms import simplified
from rag.parallel import in_parallel

if TYPE_CHECKING:
    from torch import Tensor

    from rag.embedding.bert import Bert

logger = logging.getLogger(__name__)

WEIGHTS_FILE = Path(__file__).with_name("judge.safetensors")
# Tokens of the two together; claims and statements are sentences.
MOST_TOKENS = 256
# Pairs read together at most.
BATCH = 32
ENCODER, HEAD = "encoder.", "head."


class Relation(IntEnum):
    SAYS = 0
    DENIES = 1
    OTHER = 2


@dataclass(frozen=True, slots=True)
class Probabilities:
    """How likely each relation is; the three sum to 1."""

    says: float
    denies: float
    other: float


def joined(embedder: BertEmbedder, claim: str, statement: str) -> list[int]:
    """The two as one input: `<s> claim </s> statement </s>`, the statement cut to half of MOST_TOKENS, then the claim
    to what is left."""
    begin, end = embedder.special_ids()
    first, second = embedder.token_ids([claim, statement])
    second = second[: MOST_TOKENS // 2]
    return [begin, *first[: MOST_TOKENS - 3 - len(second)], end, *second, end]


class Judge:
    """Over the vocabulary of the embedder that it was trained over. May be called from several threads."""

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
        self._reading = threading.Lock()  # one takes all processors

    @classmethod
    def open(cls, file: Path, embedder: BertEmbedder) -> Self:
        """The judge in a file, over the embedder it was trained over. Raises OSError, SafetensorError, ValueError."""
        from rag.reader import weights

        return cls(embedder, weights.load(file))

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Probabilities]:
        """Of each (claim, statement); like lengths are read together."""
        from rag.process import torch_thread_count

        inputs = [joined(self._embedder, simplified(claim), simplified(said)) for claim, said in pairs]
        order = sorted(range(len(inputs)), key=lambda place: len(inputs[place]))
        size = max(1, min(BATCH, math.ceil(len(order) / torch_thread_count())))
        batches = [order[start : start + size] for start in range(0, len(order), size)]
        with self._reading:
            rows = [
                row
                for part in in_parallel(lambda b: self._probabilities([inputs[p] for p in b]), batches)
                for row in part
            ]
        found = {place: Probabilities(*row) for place, row in zip(order, rows, strict=True)}
        return [found[place] for place in range(len(pairs))]

    def _probabilities(self, inputs: Sequence[Sequence[int]]) -> list[list[float]]:
        import torch

        with torch.inference_mode():
            first = torch.stack([states[0] for states in self._network.states(inputs)])
            logits = torch.nn.functional.linear(first, *self._head)
            probabilities: list[list[float]] = logits.float().softmax(1).tolist()
        return probabilities


def open_judge(embedder: Embedder) -> Judge | None:
    """The judge over this embedder; None where there is none for it and, with a word in the log, where its file is
    missing or damaged."""
    return read_judge(embedder, WEIGHTS_FILE) if isinstance(embedder, BertEmbedder) else None


@lru_cache(1)
def read_judge(embedder: BertEmbedder, file: Path) -> Judge | None:
    """The judge of a file, read once; None as for `open_judge`."""
    from safetensors import SafetensorError

    from rag.reader.weights import embedder_of

    try:
        return Judge.open(file, embedder) if embedder_of(file) == embedder.identity else None
    except (OSError, SafetensorError, ValueError) as error:
        logger.warning("no judge, answers are graded by likeness alone: cannot use %s: %s", file.name, error)
        return None

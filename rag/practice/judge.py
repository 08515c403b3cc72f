"""Whether a statement says the same as a claim, denies it, or concerns something else: a network reads both.

Likeness does not see direction: a statement that reverses a claim shares more words with it than one that restates it
in other words (docs/results/README.md). So the two are read as one text, as in natural language inference (Bowman et
al., 2015), by half of the reader's layers trained further: `python -m tools.judge train`.
"""

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from pathlib import Path
from typing import Self

import numpy as np

from rag.embedding import BertEmbedder, Embedder
from rag.embedding.stored import Floats
from rag.language.terms import simplified
from rag.parallel import in_parallel
from rag.practice.regressions import Features

logger = logging.getLogger(__name__)

WEIGHTS_FILE = Path(__file__).with_name("judge.safetensors")
# Tokens of both together; claims and statements are sentences.
MOST_TOKENS = 256
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
    """Both as one input: `<s> claim </s> statement </s>`, the statement cut to half of MOST_TOKENS, then the claim to
    the rest."""
    begin, end = embedder.special_ids()
    first, second = embedder.token_ids([claim, statement])
    second = second[: MOST_TOKENS // 2]
    return [begin, *first[: MOST_TOKENS - 3 - len(second)], end, *second, end]


class Judge:
    """Uses the vocabulary of the embedder it was trained over. May be called from several threads."""

    def __init__(self, embedder: BertEmbedder, trained: Mapping[str, Floats]) -> None:
        """Raises ValueError if the weights do not fit the embedder."""
        layers = {name.removeprefix(ENCODER): value for name, value in trained.items() if name.startswith(ENCODER)}
        try:
            self._head = trained[f"{HEAD}weight"], trained[f"{HEAD}bias"]
            if self._head[0].shape != (len(Relation), embedder.dimension):
                raise ValueError("they are of another width")
            self._network = embedder.network.with_layers(layers)
        except KeyError as missing:
            raise ValueError(f"its weights do not fit the embedder: there are none for {missing}") from missing
        except ValueError as error:
            raise ValueError(f"its weights do not fit the embedder: {error}") from error
        self._embedder = embedder
        self._reading = threading.Lock()  # one takes all processors

    @classmethod
    def open(cls, file: Path, embedder: BertEmbedder) -> Self:
        """The judge in a file, over the embedder of its training. Raises OSError, SafetensorError, ValueError."""
        from rag.reader import weights

        return cls(embedder, weights.load(file))

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Probabilities]:
        """One per (claim, statement)."""
        inputs = [joined(self._embedder, simplified(claim), simplified(said)) for claim, said in pairs]
        with self._reading:
            return list(in_parallel(self._probabilities, inputs))

    def _probabilities(self, ids: Sequence[int]) -> Probabilities:
        weight, bias = self._head
        logits = weight @ self._network.states(ids)[0] + bias
        odds = np.exp(logits - logits.max())
        return Probabilities(*map(float, odds / odds.sum()))


def open_judge(embedder: Embedder) -> Judge | None:
    """The judge over this embedder; None if none exists for it or, with a warning in the log, if its file is missing or
    damaged."""
    return read_judge(embedder, WEIGHTS_FILE) if isinstance(embedder, BertEmbedder) else None


@lru_cache(1)
def read_judge(embedder: BertEmbedder, file: Path) -> Judge | None:
    """The judge in a file, read once; None as for `open_judge`."""
    from safetensors import SafetensorError

    from rag.reader.weights import embedder_of

    try:
        return Judge.open(file, embedder) if embedder_of(file) == embedder.identity else None
    except (OSError, SafetensorError, ValueError) as error:
        logger.warning("no judge, answers are graded by likeness alone: cannot use %s: %s", file.name, error)
        return None


# Sentences read for each point, nearest first.
READ = 2
# Probabilities count as at least this, so that log odds stay finite.
LEAST = 1e-4


@dataclass(frozen=True, slots=True)
class DirectionFeatures(Features):
    """`turned` are the log odds that the nearest sentence denies the point rather than says it, `most_turned` their
    maximum over the sentences read; `says` and `denies` are the maximum probabilities of either. `overall` is the mean
    of `turned` over the points with readings, this one included: whoever reverses one thing likely reverses others. All
    are 0 without a reading."""

    turned: float = 0.0
    most_turned: float = 0.0
    says: float = 0.0
    denies: float = 0.0
    overall: float = 0.0


def directions(judge: Judge | None, said: Sequence[tuple[str, Sequence[str]]]) -> list[DirectionFeatures]:
    """Features of each point of an attempt, given with its nearest sentences; 0 for points without sentences, and
    without a judge."""
    pairs = [(point, sentence) for point, sentences in said for sentence in sentences[:READ]]
    if judge is None or not pairs:
        return [DirectionFeatures() for _ in said]
    odds = iter(judge.judge(pairs))
    read = [[next(odds) for _ in sentences[:READ]] for _, sentences in said]
    overall = float(np.mean([_turned(of_point[0]) for of_point in read if of_point]))
    return [
        DirectionFeatures(
            turned=_turned(of_point[0]),
            most_turned=max(map(_turned, of_point)),
            says=max(one.says for one in of_point),
            denies=max(one.denies for one in of_point),
            overall=overall,
        )
        if of_point
        else DirectionFeatures()
        for of_point in read
    ]


def _turned(odds: Probabilities) -> float:
    return float(np.log(max(odds.denies, LEAST) / max(odds.says, LEAST)))

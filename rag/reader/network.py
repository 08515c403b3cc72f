"""The reader's network: the embedder's own encoder over question and text joined, with two linear heads.

The mean of the states of a unit's tokens gives the score of that unit, as the embedder takes the mean of a text; the
state of the first token gives the score of "nothing here answers". Both are logits of one softmax, as in Devlin et al.,
"BERT" (2019), section 4.3, with units in place of spans.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from rag.embedding import BertEmbedder
from rag.embedding.encoder import Encoder
from rag.embedding.stored import Floats
from rag.language.terms import simplified
from rag.parallel import in_parallel
from rag.reader import weights
from rag.reader.reading import Reading, Text
from rag.reader.windows import Special, TokenIds, Window, windows

# What the names of the layers' weights begin with. The vocabulary is the embedder's and is not among them.
ENCODER = "encoder."

# Of an input the states of its tokens, shape (tokens, width).
States = Callable[[Sequence[int]], Floats]


@dataclass(frozen=True, slots=True)
class Heads:
    """Scores of units and of "nothing answers": weight and bias of each. A unit's is that of its mean state, and what
    its cosine with the question counts."""

    unit: tuple[Floats, Floats]
    nothing: tuple[Floats, Floats]
    likeness: tuple[Floats, Floats]

    @classmethod
    def of(cls, trained: Mapping[str, Floats], width: int) -> Self:
        """Raises ValueError where the weights are not just these, of this width."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name, inputs in (("unit", width), ("nothing", width), ("likeness", 1)):
            shapes |= {f"{name}.weight": (1, inputs), f"{name}.bias": (1,)}
        if {name: weight.shape for name, weight in trained.items()} != shapes:
            raise ValueError(f"its heads are {sorted(trained)}, not those of width {width}")
        return cls(*((trained[f"{name}.weight"], trained[f"{name}.bias"]) for name in ("unit", "nothing", "likeness")))

    def odds(self, states: Floats, window: Window) -> Floats:
        """Of the states of a window, shape (tokens, width): the scores of its units above that of "nothing answers",
        shape (units,)."""
        units = np.stack([states[begin : end + 1].mean(0) for begin, end in window.spans])
        begin, end = window.question
        asked = states[begin : end + 1].mean(0)
        alike = units @ asked / (np.linalg.norm(units, axis=1) * np.linalg.norm(asked))
        scores = _linear(units, self.unit) + _linear(alike[:, None], self.likeness)
        odds: Floats = (scores - _linear(states[:1], self.nothing))[:, 0]
        return odds


def _linear(rows: Floats, weights: tuple[Floats, Floats]) -> Floats:
    weight, bias = weights
    product: Floats = rows @ weight.T + bias
    return product


def network_over(embedder: Encoder, trained: Mapping[str, Floats]) -> tuple[Encoder, Heads]:
    """The encoder of these weights over the vocabulary of the embedder's, and its heads. Raises ValueError where the
    weights do not fit it."""
    layers = {name.removeprefix(ENCODER): value for name, value in trained.items() if name.startswith(ENCODER)}
    heads = {name: value for name, value in trained.items() if not name.startswith(ENCODER)}
    try:
        return embedder.with_layers(layers), Heads.of(heads, embedder.vocabulary.width)
    except ValueError as error:
        raise ValueError(f"its weights do not fit the embedder: {error}") from error


class JoinedReader:
    """A Reader that joins question and text in one input."""

    def __init__(self, states: States, heads: Heads, token_ids: TokenIds, special: Special) -> None:
        self._states, self._heads, self._token_ids, self._special = states, heads, token_ids, special
        self._reading = threading.Lock()  # one takes all processors

    @classmethod
    def open(cls, file: Path, embedder: BertEmbedder) -> Self:
        """The reader in a file, over the embedder it was trained over. Raises OSError, SafetensorError, ValueError."""
        encoder, heads = network_over(embedder.network, weights.load(file))
        return cls(encoder.states, heads, embedder.token_ids, Special(*embedder.special_ids()))

    def read(self, question: str, texts: Sequence[Text]) -> list[Reading]:
        return self.read_pairs([(question, text) for text in texts])

    def read_pairs(self, pairs: Sequence[tuple[str, Text]]) -> list[Reading]:
        """The same for questions and texts of their own."""
        waiting: list[tuple[int, Window]] = []
        for number, (question, text) in enumerate(pairs):
            units = [simplified(unit) for unit in text.units]
            found = windows(self._token_ids, self._special, simplified(question), simplified(text.heading), units)
            waiting += [(number, window) for window in found]
        waiting.sort(key=lambda pair: -len(pair[1].ids))  # so that all threads end at about the same time
        units_of: list[dict[int, float]] = [{} for _ in pairs]
        answers = [float("-inf")] * len(pairs)
        with self._reading:
            odds_of = list(in_parallel(self._odds, [window for _, window in waiting]))
        for (number, window), odds in zip(waiting, odds_of, strict=True):
            units_of[number] |= {window.first + place: float(value) for place, value in enumerate(odds)}
            answers[number] = max(answers[number], float(np.logaddexp.reduce(odds)))
        return [
            Reading(tuple(found[place] for place in sorted(found)), best)
            for found, best in zip(units_of, answers, strict=True)
        ]

    def _odds(self, window: Window) -> Floats:
        return self._heads.odds(self._states(window.ids), window)

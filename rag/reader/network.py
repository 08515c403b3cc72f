"""The reader's network: the embedder's own encoder over question and text joined, with two linear heads.

A unit's score comes from the mean of its tokens' states, as the embedder takes the mean of a text; the score of
"nothing here answers" comes from the first token's state. Both are logits of one softmax, as in Devlin et al., "BERT"
(2019), section 4.3, with units in place of spans.
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

# Prefix of the layers' weight names. The vocabulary is the embedder's and not included.
ENCODER = "encoder."

# Maps an input to the states of its tokens, shape (tokens, width).
States = Callable[[Sequence[int]], Floats]


@dataclass(frozen=True, slots=True)
class Heads:
    """Weights and biases for the scores of units and of "nothing answers". A unit's score adds terms for its mean state
    and its cosine with the question."""

    unit: tuple[Floats, Floats]
    nothing: tuple[Floats, Floats]
    likeness: tuple[Floats, Floats]

    @classmethod
    def of(cls, trained: Mapping[str, Floats], width: int) -> Self:
        """Raises ValueError if the weights are not exactly these, of this width."""
        shapes: dict[str, tuple[int, ...]] = {}
        for name, inputs in (("unit", width), ("nothing", width), ("likeness", 1)):
            shapes |= {f"{name}.weight": (1, inputs), f"{name}.bias": (1,)}
        if {name: weight.shape for name, weight in trained.items()} != shapes:
            raise ValueError(f"its heads are {sorted(trained)}, not those of width {width}")
        return cls(*((trained[f"{name}.weight"], trained[f"{name}.bias"]) for name in ("unit", "nothing", "likeness")))

    def odds(self, states: Floats, window: Window) -> Floats:
        """From a window's states, shape (tokens, width): the scores of its units less that of "nothing answers", shape
        (units,)."""
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
    """An encoder with these weights over the embedder's vocabulary, and its heads. Raises ValueError if the weights do
    not fit it."""
    layers = {name.removeprefix(ENCODER): value for name, value in trained.items() if name.startswith(ENCODER)}
    heads = {name: value for name, value in trained.items() if not name.startswith(ENCODER)}
    try:
        return embedder.with_layers(layers), Heads.of(heads, embedder.embeddings.width)
    except ValueError as error:
        raise ValueError(f"its weights do not fit the embedder: {error}") from error


class JoinedReader:
    """A Reader that joins question and text in one input."""

    def __init__(self, states: States, heads: Heads, token_ids: TokenIds, special: Special) -> None:
        self._states, self._heads, self._token_ids, self._special = states, heads, token_ids, special
        self._reading = threading.Lock()  # one takes all processors

    @classmethod
    def open(cls, file: Path, embedder: BertEmbedder) -> Self:
        """The reader in a file, over the embedder of its training. Raises OSError, SafetensorError, ValueError."""
        encoder, heads = network_over(embedder.network, weights.load(file))
        return cls(encoder.states, heads, embedder.token_ids, Special(*embedder.special_ids()))

    def read(self, question: str, texts: Sequence[Text]) -> list[Reading]:
        return self.read_pairs([(question, text) for text in texts])

    def read_pairs(self, pairs: Sequence[tuple[str, Text]]) -> list[Reading]:
        """The same for pairs of a question and a text."""
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

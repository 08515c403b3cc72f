"""The reader's network: the embedder's own encoder over question and text joined, with two linear heads.

The mean of the states of a unit's tokens gives the score of that unit, as the embedder takes the mean of a text; the
state of the first token gives the score of "nothing here answers". Both are logits of one softmax, as in Devlin et al.,
"BERT" (2019), section 4.3, with units in place of spans.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn

from rag.embedding import BertEmbedder
from rag.embedding.bert import Bert, layers_of
from rag.language.terms import simplified
from rag.parallel import in_parallel
from rag.process import torch_thread_count
from rag.reader import weights
from rag.reader.reading import Reading, Text
from rag.reader.windows import Special, TokenIds, Window, windows

# Windows read together at most; more are not faster on a processor.
BATCH = 8
# What the names of the layers' weights begin with. The vocabulary is the embedder's and is not among them.
ENCODER = "encoder."
# What a cosine counts before training: those of the units of a text differ by some hundredths.
LIKENESS = 20.0

# Of each input the states of its tokens, shape (tokens, hidden).
States = Callable[[Sequence[Sequence[int]]], Sequence[Tensor]]


class Heads(nn.Module):
    """Scores of units and of "nothing answers".

    A unit begins with what the encoder was trained to tell, the cosine of question and unit, and learns the rest. The
    heads compute in float32, in which cosines of a few hundredths differ.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.unit = nn.Linear(hidden, 1)
        self.nothing = nn.Linear(hidden, 1)
        self.likeness = nn.Linear(1, 1)
        nn.init.constant_(self.likeness.weight, LIKENESS)
        nn.init.zeros_(self.likeness.bias)

    def scores(self, states: Tensor, window: Window) -> tuple[Tensor, Tensor]:
        """Of the states of a window, shape (tokens, hidden): the scores of its units, shape (units,), and that of
        "nothing answers"."""
        states = states.float()
        units = torch.stack([states[begin : end + 1].mean(0) for begin, end in window.spans])
        begin, end = window.question
        alike = nn.functional.cosine_similarity(units, states[begin : end + 1].mean(0, keepdim=True))
        scores = self.unit(units) + self.likeness(alike.unsqueeze(-1))
        return scores.squeeze(-1), self.nothing(states[0]).squeeze(-1)


def network_over(embedder: Bert, trained: Mapping[str, Tensor]) -> tuple[Bert, Heads]:
    """The encoder of these weights over the vocabulary of the embedder's, and its heads. Raises ValueError where the
    weights do not fit it."""
    like = embedder.words
    encoder = {
        name.removeprefix(ENCODER): value.to(like.device, like.dtype)
        for name, value in trained.items()
        if name.startswith(ENCODER)
    }
    heads = Heads(like.shape[1])
    try:
        layers = layers_of(encoder)
        heads.load_state_dict({name: value for name, value in trained.items() if not name.startswith(ENCODER)})
    except (KeyError, RuntimeError) as error:
        raise ValueError(f"its weights do not fit the embedder: {error}") from error
    if not layers:
        raise ValueError("its weights do not fit the embedder: it has no layers")
    network = embedder.with_layers(layers)
    try:
        with torch.inference_mode():
            network.states([[0]])
    except RuntimeError as error:  # a layer of another width
        raise ValueError(f"its weights do not fit the embedder: {error}") from error
    return network, heads.to(like.device).requires_grad_(False).eval()


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
        """The same for questions and texts of their own; like lengths are read together."""
        waiting: list[tuple[int, Window]] = []
        for number, (question, text) in enumerate(pairs):
            units = [simplified(unit) for unit in text.units]
            found = windows(self._token_ids, self._special, simplified(question), simplified(text.heading), units)
            waiting += [(number, window) for window in found]
        waiting.sort(key=lambda pair: len(pair[1].ids))
        units_of: list[dict[int, float]] = [{} for _ in pairs]
        answers = [float("-inf")] * len(pairs)
        size = max(1, min(BATCH, math.ceil(len(waiting) / torch_thread_count())))
        batches = [[window for _, window in waiting[start : start + size]] for start in range(0, len(waiting), size)]
        with self._reading:
            odds_of = [odds for batch in in_parallel(self._odds, batches) for odds in batch]
        for (number, window), odds in zip(waiting, odds_of, strict=True):
            units_of[number] |= {window.first + place: float(value) for place, value in enumerate(odds)}
            answers[number] = max(answers[number], float(odds.logsumexp(0)))
        return [
            Reading(tuple(found[place] for place in sorted(found)), best)
            for found, best in zip(units_of, answers, strict=True)
        ]

    def _odds(self, batch: Sequence[Window]) -> list[Tensor]:
        """Of each window the scores of its units above that of "nothing answers"."""
        with torch.inference_mode():
            scored = map(self._heads.scores, self._states([window.ids for window in batch]), batch)
            return [scores - nothing for scores, nothing in scored]

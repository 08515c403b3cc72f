"""The reader's network: the embedder's own encoder over question and text joined, with two linear heads.

The mean of the states of a unit's tokens gives the score of that unit, as the embedder takes the mean of a text; the
state of the first token gives the score of "nothing here answers". Both are logits of one softmax, as in Devlin et al.,
"BERT" (2019), section 4.3, with units in place of spans.
"""

import copy
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

import torch
from torch import Tensor, nn
from transformers import BertModel

from rag.embedding import SentenceTransformerEmbedder
from rag.reader import weights
from rag.reader.reading import Reading, Text
from rag.reader.windows import Special, TokenIds, Window, windows
from rag.text.terms import simplified

# Windows read at a time; more are not faster on a processor.
BATCH = 8
# The vocabulary is the embedder's and is not among the weights.
SHARED = "encoder.embeddings."
# What a cosine counts before training: those of the units of a text differ by some hundredths.
LIKENESS = 20.0


class ReaderNetwork(nn.Module):
    """Scores of units and of "nothing answers".

    A unit begins with what the encoder was trained to tell, the cosine of question and unit, and learns the rest. The
    heads compute in float32, in which cosines of a few hundredths differ.
    """

    def __init__(self, encoder: BertModel, hidden: int) -> None:
        super().__init__()
        self.encoder = encoder
        self.unit = nn.Linear(hidden, 1)
        self.nothing = nn.Linear(hidden, 1)
        self.likeness = nn.Linear(1, 1)
        nn.init.constant_(self.likeness.weight, LIKENESS)
        nn.init.zeros_(self.likeness.bias)

    def forward(self, ids: Tensor, attention: Tensor) -> Tensor:
        """The states of `ids` and `attention`, both of shape (batch, tokens): shape (batch, tokens, hidden)."""
        states: Tensor = self.encoder(input_ids=ids, attention_mask=attention).last_hidden_state
        return states

    def scores(self, states: Tensor, window: Window) -> tuple[Tensor, Tensor]:
        """Of the states of a window, shape (tokens, hidden): the scores of its units, shape (units,), and that of
        "nothing answers"."""
        states = states.float()
        units = torch.stack([states[begin : end + 1].mean(0) for begin, end in window.spans])
        begin, end = window.question
        alike = nn.functional.cosine_similarity(units, states[begin : end + 1].mean(0, keepdim=True))
        scores = self.unit(units) + self.likeness(alike.unsqueeze(-1))
        return scores.squeeze(-1), self.nothing(states[0]).squeeze(-1)


def network_over(encoder: BertModel, trained: Mapping[str, Tensor]) -> ReaderNetwork:
    """The network of these weights over the vocabulary of an encoder, which is shared and not copied. Raises ValueError
    where they do not fit it."""
    config = copy.deepcopy(encoder.config)
    config.num_hidden_layers = 1 + max(
        (int(name.split(".")[3]) for name in trained if name.startswith("encoder.encoder.layer.")), default=-1
    )
    with torch.device("meta"):
        own = BertModel(config, add_pooling_layer=False)
        network = ReaderNetwork(own, config.hidden_size)
    own.embeddings = encoder.embeddings
    like = next(encoder.parameters())
    try:
        left = network.load_state_dict(
            {
                name: value.to(like.device, like.dtype if name.startswith("encoder.") else torch.float32)
                for name, value in trained.items()
            },
            strict=False,
            assign=True,
        )
    except RuntimeError as error:
        raise ValueError(f"its weights do not fit the embedder: {error}") from error
    missing = [name for name in left.missing_keys if not name.startswith(SHARED)]
    if missing or left.unexpected_keys:
        raise ValueError(f"its weights do not fit the embedder: {[*missing, *left.unexpected_keys][:3]}")
    return network.requires_grad_(False).eval()


def pad(batch: Sequence[Window], filler: int) -> tuple[Tensor, Tensor]:
    """Ids and attention of a batch, both of shape (batch, longest)."""
    longest = max(len(window.ids) for window in batch)
    ids = torch.full((len(batch), longest), filler, dtype=torch.long)
    attention = torch.zeros((len(batch), longest), dtype=torch.long)
    for row, window in enumerate(batch):
        ids[row, : len(window.ids)] = torch.tensor(window.ids)
        attention[row, : len(window.ids)] = 1
    return ids, attention


class JoinedReader:
    """A Reader that joins question and text in one input."""

    def __init__(self, network: ReaderNetwork, token_ids: TokenIds, special: Special) -> None:
        self._network, self._token_ids, self._special = network, token_ids, special
        self._device = next(network.parameters()).device
        self._lock = threading.Lock()

    @classmethod
    def open(cls, file: Path, embedder: SentenceTransformerEmbedder) -> Self:
        """The reader in a file, over the embedder it was trained over. Raises OSError, SafetensorError, ValueError."""
        network = network_over(embedder.encoder(), weights.load(file))
        begin, end, filler = embedder.special_ids()
        return cls(network, embedder.token_ids, Special(begin, end, filler))

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
        for start in range(0, len(waiting), BATCH):
            batch = waiting[start : start + BATCH]
            ids, attention = pad([window for _, window in batch], self._special.pad)
            with self._lock, torch.inference_mode():
                states = self._network(ids.to(self._device), attention.to(self._device))
                found_here = [self._network.scores(row, window) for row, (_, window) in zip(states, batch, strict=True)]
            for (number, window), (scores, nothing) in zip(batch, found_here, strict=True):
                odds = scores - nothing
                units_of[number] |= {window.first + place: float(value) for place, value in enumerate(odds)}
                answers[number] = max(answers[number], float(odds.logsumexp(0)))
        return [
            Reading(tuple(found[place] for place in sorted(found)), best)
            for found, best in zip(units_of, answers, strict=True)
        ]

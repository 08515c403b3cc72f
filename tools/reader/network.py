"""The reader's network as it is trained: transformers' BertModel below the reader's heads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from rag.reader.network import ENCODER
from rag.reader.windows import Window

if TYPE_CHECKING:
    from transformers import BertModel

# The vocabulary, which is the embedder's and stays as it is.
SHARED = f"{ENCODER}embeddings."
# What a cosine counts before training: those of the units of a text differ by some hundredths.
LIKENESS = 20.0


class TrainedHeads(nn.Module):
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


class ReaderNetwork(TrainedHeads):
    def __init__(self, encoder: "BertModel") -> None:
        super().__init__(encoder.config.hidden_size)
        self.encoder = encoder

    def forward(self, ids: Tensor, attention: Tensor) -> Tensor:
        """The states of `ids` and `attention`, both of shape (batch, tokens): shape (batch, tokens, hidden)."""
        states: Tensor = self.encoder(input_ids=ids, attention_mask=attention).last_hidden_state
        return states


def pad(batch: Sequence[Window]) -> tuple[Tensor, Tensor]:
    """Ids and attention of a batch, both of shape (batch, longest)."""
    ids = [torch.tensor(window.ids) for window in batch]
    attention = [torch.ones_like(row) for row in ids]
    return pad_sequence(ids, batch_first=True), pad_sequence(attention, batch_first=True)

"""The reader's network as it is trained: transformers' BertModel below the reader's heads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from rag.reader.network import ENCODER, Heads
from rag.reader.windows import Window

if TYPE_CHECKING:
    from transformers import BertModel

# The vocabulary, which is the embedder's and stays as it is.
SHARED = f"{ENCODER}embeddings."


class ReaderNetwork(Heads):
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

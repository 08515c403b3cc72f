"""Layers as they are trained: the embedder's own encoder, with gradients, over its lower layers and a vocabulary that
stay as they are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from rag.embedding.graph import Layer
from tools.bert import Affine, Bert, layers_of

# Texts of like length that are padded to the longest of them.
BATCH_TOKENS = 4_096
PADDING = -1e4


class Encoder:
    """What the lower layers make of a text is computed once."""

    def __init__(self, bert: Bert, first: int) -> None:
        self._bert = bert
        self._lower = replace(bert, layers=bert.layers[:first])
        self._first = first
        self._kept: dict[bytes, Tensor] = {}

    def states(self, weights: Mapping[str, Tensor], texts: Sequence[NDArray[np.int32]]) -> list[Tensor]:
        """For each text the states of its tokens, shape (tokens, width), in float32. Gradients flow to the weights."""
        self._keep([text for text in texts if text.tobytes() not in self._kept])
        shifted = {_moved(name, -self._first): value.to(self._bert.words.dtype) for name, value in weights.items()}
        layers = layers_of(shifted)
        lower = [self._kept[text.tobytes()] for text in texts]
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        found: list[Tensor] = list(lower)
        while order:
            batch = order[-max(1, BATCH_TOKENS // len(lower[order[-1]])) :]
            del order[-len(batch) :]
            for place, rows in zip(batch, self._upper(layers, [lower[place] for place in batch]), strict=True):
                found[place] = rows.float()
        return found

    def forget(self) -> None:
        """For texts that will not come again."""
        self._kept.clear()

    def _keep(self, texts: Sequence[NDArray[np.int32]]) -> None:
        with torch.inference_mode():
            states = [
                rows.clone()
                for start in range(0, len(texts), 16)
                for rows in self._lower.states(texts[start : start + 16])
            ]
        for text, rows in zip(texts, states, strict=True):
            self._kept[text.tobytes()] = torch.from_numpy(rows.view(torch.int16).numpy().copy()).view(rows.dtype)

    def _upper(self, layers: Sequence[Layer[Affine]], texts: Sequence[Tensor]) -> list[Tensor]:
        lengths = torch.tensor([len(text) for text in texts])
        rows = pad_sequence(list(texts), batch_first=True)
        count, longest, width = rows.shape
        heads = self._bert.heads
        bias = torch.zeros(count, 1, 1, longest, dtype=rows.dtype)
        bias.masked_fill_((torch.arange(longest) >= lengths[:, None])[:, None, None, :], PADDING)
        for layer in layers:
            asked = F.linear(rows, *layer.attention_in).view(count, longest, 3, heads, -1).permute(2, 0, 3, 1, 4)
            query, key, value = (part.reshape(count * heads, longest, width // heads) for part in asked)
            # On processors a third of the time of scaled_dot_product_attention in bfloat16.
            scores = torch.bmm(query / math.sqrt(width // heads), key.mT).view(count, heads, longest, longest) + bias
            seen = torch.bmm(scores.softmax(-1).view(count * heads, longest, longest), value)
            seen = seen.view(count, heads, longest, -1).transpose(1, 2).reshape(count, longest, width)
            rows = self._normal(F.linear(seen, *layer.attention_out) + rows, layer.attention_norm)
            inner = F.gelu(F.linear(rows, *layer.forward_in))
            rows = self._normal(F.linear(inner, *layer.forward_out) + rows, layer.forward_norm)
        return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]

    def _normal(self, rows: Tensor, norm: tuple[Tensor, Tensor]) -> Tensor:
        return F.layer_norm(rows, rows.shape[-1:], *norm, self._bert.epsilon)


def _moved(name: str, by: int) -> str:
    parts = name.split(".")
    return ".".join([*parts[:2], str(int(parts[2]) + by), *parts[3:]])

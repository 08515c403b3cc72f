"""The default embedder's encoder in torch, over which networks are trained. It computes nothing for padding: the tokens
of all texts are the rows of one matrix. The program itself runs `rag.embedding.encoder`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor

from rag.embedding.bert_embedder import read_folder
from rag.embedding.graph import Layer

# Weight and bias, of a linear layer or of a normalisation.
Affine = tuple[Tensor, Tensor]
# Sums of powers of two between which neither they nor their products with values leave the range of 8 bits of exponent.
LEAST, MOST = 2.0**-60, 2.0**60


@dataclass(frozen=True, slots=True)
class Bert:
    """As in Devlin et al., "BERT" (2019), with exact GELU. `positions` are those of texts of one segment."""

    words: Tensor
    positions: Tensor
    norm: Affine
    layers: tuple[Layer[Affine], ...]
    heads: int
    epsilon: float

    @classmethod
    def of(cls, weights: Mapping[str, Tensor], *, heads: int, epsilon: float) -> "Bert":
        """Of weights that are named as transformers' BertModel names them. Raises ValueError where one is missing."""
        try:
            positions = weights["embeddings.position_embeddings.weight"]
            return cls(
                weights["embeddings.word_embeddings.weight"],
                positions + weights["embeddings.token_type_embeddings.weight"][0],
                _affine(weights, "embeddings.LayerNorm"),
                layers_of(weights),
                heads,
                epsilon,
            )
        except KeyError as missing:
            raise ValueError(f"there are no weights {missing}") from missing

    @classmethod
    def open(cls, folder: Path) -> "Bert":
        """Of the folder of a rebuilt embedder, in the numbers that it is stored in."""
        stated = read_folder(folder)
        return cls.of(load_file(folder / "model.safetensors"), heads=stated.heads, epsilon=stated.epsilon)

    def states(self, texts: Sequence[Sequence[int] | NDArray[np.int32]]) -> list[Tensor]:
        """What the last layer makes of token ids: of each text a row for each token, shape (tokens, width)."""
        lengths = [len(ids) for ids in texts]
        ids = torch.from_numpy(np.concatenate(texts)).to(self.words.device)
        places = torch.cat([self.positions[:length] for length in lengths])
        rows = self._normal(F.embedding(ids, self.words) + places, self.norm)
        for layer in self.layers:
            seen = torch.empty_like(rows)
            asked = F.linear(rows, *layer.attention_in)
            for text, found in zip(torch.split(asked, lengths), torch.split(seen, lengths), strict=True):
                query, key, value = text.view(len(text), 3, self.heads, -1).permute(1, 2, 0, 3)
                found.view(len(found), self.heads, -1).copy_(attention(query, key, value).transpose(0, 1))
            rows = self._normal(F.linear(seen, *layer.attention_out) + rows, layer.attention_norm)
            inner = F.gelu(F.linear(rows, *layer.forward_in))
            rows = self._normal(F.linear(inner, *layer.forward_out) + rows, layer.forward_norm)
        return list(torch.split(rows, lengths))

    def _normal(self, rows: Tensor, norm: Affine) -> Tensor:
        return F.layer_norm(rows, rows.shape[-1:], *norm, self.epsilon)


def layers_of(weights: Mapping[str, Tensor]) -> tuple[Layer[Affine], ...]:
    """The layers `encoder.layer.0` and on of a BertModel. Raises KeyError where a weight is missing."""
    count = 1 + max((int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer.")), default=-1)
    return tuple(_layer(weights, f"encoder.layer.{number}.") for number in range(count))


def _layer(weights: Mapping[str, Tensor], name: str) -> Layer[Affine]:
    parts = [_affine(weights, f"{name}attention.self.{part}") for part in ("query", "key", "value")]
    return Layer(
        (torch.cat([weight for weight, _ in parts]), torch.cat([bias for _, bias in parts])),
        _affine(weights, f"{name}attention.output.dense"),
        _affine(weights, f"{name}attention.output.LayerNorm"),
        _affine(weights, f"{name}intermediate.dense"),
        _affine(weights, f"{name}output.dense"),
        _affine(weights, f"{name}output.LayerNorm"),
    )


def _affine(weights: Mapping[str, Tensor], name: str) -> Affine:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """softmax(q kᵀ / √d) v of each head; all have shape (heads, tokens, d).

    Powers of two need no maximum taken away first as long as none overflows, and are the fastest that torch has. Their
    sums tell where they did, which the weights of no model that was tried come near.
    """
    if query.device.type != "cpu":  # what follows is faster on processors; elsewhere its `if` would wait for the device
        return F.scaled_dot_product_attention(query, key, value)
    heads, tokens, width = query.shape
    scores = query.new_empty(heads, tokens, tokens)
    torch.baddbmm(scores, query, key.mT, beta=0, alpha=math.log2(math.e) / math.sqrt(width), out=scores)
    powers = torch.exp2(scores)
    sums = powers.sum(-1, keepdim=True)
    low, high = sums.aminmax()
    if low > LEAST and high < MOST:  # not where one is no number
        return torch.bmm(powers, value) / sums
    return torch.bmm((scores * math.log(2)).softmax(-1), value)

"""An embedder of a few thousand weights: as much of one as training needs, with one token a character."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from rag.embedding.encoder import EmbeddingLayer, Encoder
from rag.embedding.stored import Floats

if TYPE_CHECKING:
    from transformers import BertModel

WIDTH = 32


def small_bert(layers: int, seed: int = 3) -> "BertModel":
    from transformers import BertConfig, BertModel  # four seconds, which whoever only collects this need not wait

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=100, hidden_size=WIDTH, num_hidden_layers=layers, num_attention_heads=2, intermediate_size=64
    )
    return BertModel(config, add_pooling_layer=False)


def bert_weights(layers: int, seed: int = 3) -> dict[str, Tensor]:
    return {name: value.detach() for name, value in small_bert(layers, seed).state_dict().items()}


def numbers(weights: Mapping[str, Tensor]) -> dict[str, Floats]:
    return {name: weight.detach().numpy() for name, weight in weights.items()}


def small_encoder(weights: Mapping[str, Tensor]) -> Encoder:
    exact = numbers(weights)
    return Encoder(EmbeddingLayer.of(exact), exact, heads=2, epsilon=1e-12, exact=True)


class SmallEmbedder:
    identity = "small@0"
    dimension = WIDTH
    max_tokens = 256

    def __init__(self, layers: int = 3) -> None:
        self.weights = bert_weights(layers)
        self.network = small_encoder(self.weights)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [[3 + ord(character) % 90 for character in text] for text in texts]

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [np.asarray([(place, place + 1) for place in range(len(text))], np.int32) for text in texts]

    def special_ids(self) -> tuple[int, int]:
        return 0, 2

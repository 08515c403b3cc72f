"""Token ids to states, by ONNX Runtime: an embedding layer, which encoders may share, below their own layers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.embedding.graph import INPUT, OUTPUT, WHOLE, Affine, OnnxModel, affine, encoder_graph, layers_of, product_graph
from rag.embedding.stored import Floats, Weights, widened


@dataclass(frozen=True, slots=True)
class EmbeddingLayer:
    """The part below the layers. `words`, shape (tokens, width), stay in the file, and only the rows of a text are
    read; `positions` are for texts of one segment."""

    words: NDArray[Any]
    positions: Floats
    norm: Affine

    @classmethod
    def of(cls, weights: Weights) -> "EmbeddingLayer":
        """From weights named as in transformers' BertModel. Raises ValueError if one is missing."""
        try:
            words = weights["embeddings.word_embeddings.weight"]
            positions = widened(weights["embeddings.position_embeddings.weight"])
            segment = widened(weights["embeddings.token_type_embeddings.weight"][0])
        except KeyError as missing:
            raise ValueError(f"there are no weights {missing}") from missing
        return cls(words, positions + segment, affine(weights, "embeddings.LayerNorm", words.shape[1:]))

    @property
    def width(self) -> int:
        return int(self.words.shape[1])

    def rows(self, ids: Sequence[int] | NDArray[np.int32]) -> Floats:
        return widened(self.words[np.asarray(ids, np.int64)]) + self.positions[: len(ids)]


class Encoder:
    """May be called from several threads; each call takes one."""

    def __init__(self, embeddings: EmbeddingLayer, layers: Weights, *, heads: int, epsilon: float, exact: bool) -> None:
        """`exact`: compute in float32 in any case, else in 8-bit integers where the processor `multiplies_bytes`.
        Raises ValueError if the weights do not fit."""
        self.embeddings, self.exact = embeddings, exact or not multiplies_bytes()
        self._heads, self._epsilon = heads, epsilon
        found = layers_of(layers, embeddings.width)
        model = encoder_graph(embeddings.norm, found, heads=heads, epsilon=epsilon, exact=self.exact)
        self._session = _session(model)

    def with_layers(self, layers: Weights) -> "Encoder":
        """An encoder with other layers; it shares the embedding layer."""
        return Encoder(self.embeddings, layers, heads=self._heads, epsilon=self._epsilon, exact=self.exact)

    def states(self, ids: Sequence[int] | NDArray[np.int32]) -> Floats:
        """The last layer's states for the tokens of a text, shape (tokens, width)."""
        states: Floats = self._session.run([OUTPUT], {INPUT: self.embeddings.rows(ids)})[0]
        return states


@cache
def multiplies_bytes() -> bool:
    """Whether the processor adds products of 8-bit integers in 32 bits.

    With AVX2 alone it adds two of them in 16 bits, which cannot hold two of 255 * 127, and is slower at it than in
    float32; see docs/results/encoder.md.
    """
    left, right = np.full((16, 64), 255, np.uint8), np.full((64, 16), WHOLE, np.int8)
    [product] = _session(product_graph(left, right)).run([OUTPUT], {INPUT: left})
    return np.array_equal(product, left.astype(np.int32) @ right)


def _session(model: OnnxModel) -> Any:
    from onnxruntime import InferenceSession, OrtValue, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # texts are read side by side instead
    options.log_severity_level = 3
    # An arena would keep the longest text's memory for good, and is no faster here.
    options.enable_cpu_mem_arena = False
    values = [OrtValue.ortvalue_from_numpy(values) for values in model.constants.values()]
    options.add_external_initializers(list(model.constants), values)
    return InferenceSession(model.graph, options, providers=["CPUExecutionProvider"])

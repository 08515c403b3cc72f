"""A BERT encoder as an ONNX graph of one text: as in Devlin et al., "BERT" (2019), with exact GELU.

The linear layers compute in 8-bit integers: a weight matrix has one scale per output, its input one per text or token,
computed at run time. A text is never padded or batched with others, so its states do not depend on them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.embedding.stored import Floats, Weights, widened

# Weight, shape (outputs, inputs), and bias of a linear layer; or both of a normalisation.
Affine = tuple[Floats, Floats]
Pair = TypeVar("Pair")

INPUT, OUTPUT = "rows", "states"
WHOLE = 127  # the largest integer of a weight
_OPERATORS, _MICROSOFT, _FORMAT = 18, 1, 10
# Bytes from which a constant stands beside the graph: within it, a session would keep it twice.
_LARGE = 1_024


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A serialised ONNX graph, and its large constants by name, which a session takes without a copy."""

    graph: bytes
    constants: Mapping[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class Layer(Generic[Pair]):
    """The pairs of weight and bias in an encoder layer. `attention_in` joins queries, keys and values side by side."""

    attention_in: Pair
    attention_out: Pair
    attention_norm: Pair
    forward_in: Pair
    forward_out: Pair
    forward_norm: Pair


def affine(weights: Weights, name: str, shape: tuple[int, ...]) -> Affine:
    """A weight of this shape with its bias. Raises ValueError if either is missing or of another shape."""
    try:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    except KeyError as missing:
        raise ValueError(f"there are no weights {missing}") from missing
    if weight.shape != shape or bias.shape != shape[:1]:
        raise ValueError(f"{name} has the shape {weight.shape}, not {shape}")
    return widened(weight), widened(bias)


def layers_of(weights: Weights, width: int) -> list[Layer[Affine]]:
    """The layers `encoder.layer.0` and on, named as in transformers' BertModel. Raises ValueError if there are none, or
    one is incomplete or of another width."""
    count = 1 + max((int(name.split(".")[2]) for name in weights if name.startswith("encoder.layer.")), default=-1)
    if not count:
        raise ValueError("there are no layers")
    return [_layer(weights, f"encoder.layer.{number}.", width) for number in range(count)]


def _layer(weights: Weights, name: str, width: int) -> Layer[Affine]:
    inner = len(weights.get(f"{name}intermediate.dense.bias", ()))
    parts = [affine(weights, f"{name}attention.self.{part}", (width, width)) for part in ("query", "key", "value")]
    return Layer(
        (np.concatenate([weight for weight, _ in parts]), np.concatenate([bias for _, bias in parts])),
        affine(weights, f"{name}attention.output.dense", (width, width)),
        affine(weights, f"{name}attention.output.LayerNorm", (width,)),
        affine(weights, f"{name}intermediate.dense", (inner, width)),
        affine(weights, f"{name}output.dense", (width, inner)),
        affine(weights, f"{name}output.LayerNorm", (width,)),
    )


def encoder_graph(
    entrance: Affine, layers: Sequence[Layer[Affine]], *, heads: int, epsilon: float, exact: bool
) -> OnnxModel:
    """The model that normalises INPUT and runs the layers, to OUTPUT; both have the shape (tokens, width). `exact`: the
    linear layers compute in float32."""
    graph = _Graph(heads, epsilon, exact)
    rows = graph.normal(INPUT, entrance)
    for layer in layers:
        rows = graph.layer(rows, layer)
    graph.add("Identity", [rows], OUTPUT)
    return graph.model(len(entrance[0]))


def product_graph(left: NDArray[np.uint8], right: NDArray[np.int8]) -> OnnxModel:
    """The model that multiplies two matrices as the linear layers do, to OUTPUT."""
    from onnx import TensorProto, helper

    shape = (len(left), right.shape[1])
    first = helper.make_tensor_value_info(INPUT, TensorProto.UINT8, left.shape)
    last = helper.make_tensor_value_info(OUTPUT, TensorProto.INT32, shape)
    constants = _Constants()
    node = helper.make_node("MatMulInteger", [INPUT, constants.add(right)], [OUTPUT])
    return _model([node], first, last, constants)


class _Graph:
    """A growing graph: every method adds nodes and returns the name of their result."""

    def __init__(self, heads: int, epsilon: float, exact: bool) -> None:
        self._heads, self._epsilon, self._exact = heads, epsilon, exact
        self._nodes: list[Any] = []
        self._constants = _Constants()
        self._constant = self._constants.add
        self._first = self._constant(np.zeros(1, np.int64))
        self._last = self._constant(np.full(1, -1, np.int64))
        self._tiny = self._constant(np.full(1, np.finfo(np.float32).tiny, np.float32))

    def layer(self, rows: str, layer: Layer[Affine]) -> str:
        asked = self._linear(rows, layer.attention_in, is_normal=True)
        seen = self._linear(self._attention(asked), layer.attention_out)
        rows = self.normal(self.add("Add", [seen, rows]), layer.attention_norm)
        inner = self.add("Gelu", [self._linear(rows, layer.forward_in, is_normal=True)], domain="com.microsoft")
        return self.normal(self.add("Add", [self._linear(inner, layer.forward_out), rows]), layer.forward_norm)

    def normal(self, rows: str, norm: Affine) -> str:
        return self.add("LayerNormalization", [rows, *map(self._constant, norm)], epsilon=self._epsilon)

    def add(self, operator: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        [found] = self._several(operator, inputs, [output or f"n{len(self._nodes)}"], **attributes)
        return found

    def model(self, width: int) -> OnnxModel:
        from onnx import TensorProto, helper

        shape: list[str | int | None] = ["tokens", width]
        first, last = (helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in (INPUT, OUTPUT))
        return _model(self._nodes, first, last, self._constants)

    def _attention(self, asked: str) -> str:
        text = self.add("Unsqueeze", [asked, self._first])
        names = [f"{text}.{part}" for part in ("query", "key", "value")]
        parts = self._several("Split", [text], names, axis=2, num_outputs=3)
        seen = self.add("MultiHeadAttention", parts, domain="com.microsoft", num_heads=self._heads)
        return self.add("Squeeze", [seen, self._first])

    def _linear(self, rows: str, weights: Affine, *, is_normal: bool = False) -> str:
        """In integers, or float32. `is_normal`: the rows come from a normalisation. Their tokens are of one size but a
        few numbers of each are large, so one scale serves them all, and the rounding error is rounded and multiplied as
        well. Other rows have a scale for each token."""
        weight, bias = weights
        if self._exact:
            product = self.add("MatMul", [rows, self._constant(np.ascontiguousarray(weight.T))])
            return self.add("Add", [product, self._constant(bias)])
        scale = np.maximum(np.abs(weight).max(1), np.finfo(np.float32).tiny) / WHOLE
        codes = self._constant(np.rint(weight / scale[:, None]).astype(np.int8).T)
        factors = [codes, self._constant(scale.astype(np.float32)), self._constant(bias)]
        if is_normal:
            whole = self._rounded(rows)
            error = self.add("Sub", [rows, self.add("DequantizeLinear", whole)])
            rest = self._product(self._rounded(error), *factors[:2])
            return self.add("Add", [self._product(whole, *factors), rest])
        largest = self.add("ReduceMax", [self.add("Abs", [rows]), self._last], keepdims=1)
        size = self.add("Max", [largest, self._tiny])
        product = self._product(self._rounded(self.add("Div", [rows, size])), *factors[:2])
        return self.add("Add", [self.add("Mul", [product, size]), factors[2]])

    def _rounded(self, rows: str) -> list[str]:
        """Rows as integers, with their scale and zero."""
        name = f"n{len(self._nodes)}"
        return self._several("DynamicQuantizeLinear", [rows], [f"{name}.whole", f"{name}.step", f"{name}.zero"])

    def _product(self, rounded: Sequence[str], codes: str, scale: str, bias: str = "") -> str:
        """The product of rounded rows and integer codes, in float32."""
        whole, step, zero = rounded
        inputs = [whole, codes, step, scale, zero, "", bias]
        return self.add("MatMulIntegerToFloat", inputs, domain="com.microsoft")

    def _several(self, operator: str, inputs: Sequence[str], outputs: list[str], **attributes: Any) -> list[str]:
        from onnx import helper

        self._nodes.append(helper.make_node(operator, inputs, outputs, **attributes))
        return outputs


class _Constants:
    """The constants of a graph: small ones within it, large ones beside it."""

    def __init__(self) -> None:
        self.within: list[Any] = []
        self.beside: dict[str, NDArray[Any]] = {}

    def add(self, values: NDArray[Any]) -> str:
        """The name of a new constant."""
        from onnx import TensorProto, helper, numpy_helper

        name, values = f"c{len(self.within)}", np.ascontiguousarray(values)
        tensor = numpy_helper.from_array(values, name) if values.nbytes < _LARGE else TensorProto(name=name)
        if values.nbytes >= _LARGE:
            tensor.data_type, tensor.data_location = helper.np_dtype_to_tensor_dtype(values.dtype), TensorProto.EXTERNAL
            tensor.dims.extend(values.shape)
            tensor.external_data.add(key="location", value="given to the session")
            self.beside[name] = values
        self.within.append(tensor)
        return name


def _model(nodes: Sequence[Any], first: Any, last: Any, constants: _Constants) -> OnnxModel:
    from onnx import helper

    graph = helper.make_graph(nodes, "model", [first], [last], constants.within)
    operators = [helper.make_opsetid("", _OPERATORS), helper.make_opsetid("com.microsoft", _MICROSOFT)]
    model = helper.make_model(graph, opset_imports=operators, ir_version=_FORMAT)
    return OnnxModel(model.SerializeToString(), constants.beside)

"""The default embedder, run by ONNX Runtime without torch.

sentence-transformers runs it too, but takes more memory and time, and starts later; see docs/results/encoder.md. A test
checks that both agree. Only folders that `rag.models.e5` writes are run here: BERT, the mean over its tokens, unit
length, and a tokenizer in one file. sentence-transformers handles folders that state anything else.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.embedding.embedder import (
    SPANS_KEPT,
    Encoded,
    Progress,
    Vectors,
    encodable,
    longest_first,
    own_tokens,
    unit_rows,
    wordy_tokens,
)
from rag.embedding.encoder import EmbeddingLayer, Encoder
from rag.embedding.stored import Floats, read_weights
from rag.embedding.unigram import Ids, Unigram
from rag.errors import ModelError
from rag.parallel import in_parallel
from rag.settings import Precision

_MODULES = ("Transformer", "Pooling", "Normalize")
_SAID: dict[str, dict[str, object]] = {
    "config.json": {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_act": "gelu",
        "tokenizer_class": "PreTrainedTokenizerFast",
    },
    "sentence_bert_config.json": {"do_lower_case": False},
    "config_sentence_transformers.json": {"similarity_fn_name": "cosine"},
}


@dataclass(frozen=True, slots=True)
class BertFolder:
    """The configuration beside weights and tokenizer. `special` holds tokens by use, such as "cls"."""

    width: int
    heads: int
    epsilon: float
    max_tokens: int
    query_prompt: str
    passage_prompt: str
    special: dict[str, str]


def is_rebuilt(folder: Path) -> bool:
    """Whether `read_folder` can read it, and `BertEmbedder` does all that it says."""
    try:
        stated = {name: _json(folder / name) for name in (*_SAID, "1_Pooling/config.json", "modules.json")}
        width, prompts = stated["config.json"]["hidden_size"], stated["config_sentence_transformers.json"]["prompts"]
        modules = tuple(module["type"] for module in stated["modules.json"])
        return (
            all(stated[name].get(key) == value for name, said in _SAID.items() for key, value in said.items())
            and modules == tuple(f"sentence_transformers.models.{name}" for name in _MODULES)
            and stated["1_Pooling/config.json"] == {"word_embedding_dimension": width, "pooling_mode_mean_tokens": True}
            and prompts.keys() == {"query", "document"}
            and all(isinstance(prompt, str) for prompt in prompts.values())
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False  # sentence-transformers says what is wrong with it


def read_folder(folder: Path) -> BertFolder:
    config, tokens = _json(folder / "config.json"), _json(folder / "tokenizer_config.json")
    prompts = _json(folder / "config_sentence_transformers.json")["prompts"]
    return BertFolder(
        width=int(config["hidden_size"]),
        heads=int(config["num_attention_heads"]),
        epsilon=float(config["layer_norm_eps"]),
        max_tokens=int(_json(folder / "sentence_bert_config.json")["max_seq_length"]),
        query_prompt=prompts["query"],
        passage_prompt=prompts["document"],
        special={name.removesuffix("_token"): token for name, token in tokens.items() if name.endswith("_token")},
    )


class BertEmbedder:
    """An Embedder that runs a folder which `is_rebuilt`. `folder` is trusted as data only."""

    def __init__(self, folder: Path, *, identity: str, precision: Precision = Precision.AUTO) -> None:
        self.identity = identity
        self._asking = threading.Lock()  # questions in parallel would all wait for the last
        self._spans = lru_cache(SPANS_KEPT)(self._find_spans)
        try:
            self._folder = read_folder(folder)
            # As transformers does: a special token written in a text counts as one.
            self._tokenizer = Unigram(folder / "tokenizer.json", self._folder.special.values())
            self.network = self._load(folder / "model.safetensors", exact=precision is Precision.FLOAT32)
        except Exception as error:  # a broken folder fails in many ways
            raise ModelError(
                f"cannot load the embedder in {folder}: {error}",
                hint="it can be checked with: python -m rag models verify",
            ) from error
        self.dimension, self.max_tokens = self._folder.width, self._folder.max_tokens
        self._special = [self._tokenizer.special(name) for name in self._folder.special.values()]
        self._wordy = wordy_tokens(self._tokenizer.vocabulary, self._special)
        prompts = (self._folder.passage_prompt, self._folder.query_prompt)
        self._prompt_ids = dict(zip(prompts, self._cut(prompts, ""), strict=True))

    @property
    def computes_in(self) -> str:
        """The number type of its linear layers."""
        return "float32" if self.network.exact else "int8"

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, states, _ in self._passages(texts, progress):
            vectors[row] = self._mean(states)
        return vectors

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[int, Encoded]]:
        for row, states, ids in self._passages(texts, progress):
            yield row, self._encoded(states, ids, self._folder.passage_prompt)

    def embed_query(self, text: str) -> Vectors:
        return self._mean(self._queries([text])[0][0])

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        return [self._encoded(states, ids, self._folder.query_prompt) for states, ids in self._queries(texts)]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self._cut(texts, self._folder.passage_prompt)]

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [self._spans(text) for text in texts]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text's own tokens, without prompt and special tokens."""
        return [self._tokenizer.ids(encodable(text)) for text in texts]

    def special_ids(self) -> tuple[int, int]:
        """The tokens that begin and end an input."""
        special = self._folder.special
        return self._tokenizer.special(special["cls"]), self._tokenizer.special(special["sep"])

    def _load(self, file: Path, *, exact: bool) -> Encoder:
        weights = read_weights(file)
        embeddings = EmbeddingLayer.of(weights)
        return Encoder(embeddings, weights, heads=self._folder.heads, epsilon=self._folder.epsilon, exact=exact)

    def _cut(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        begin, end = self.special_ids()
        return [np.array([begin, *self._tokenizer.ids(prompt + encodable(text)), end], np.int32) for text in texts]

    def _passages(self, texts: Sequence[str], progress: Progress | None) -> Iterator[tuple[int, Floats, Ids]]:
        """Yields for each text in turn: its place, states and ids."""
        inputs = self._cut(texts, self._folder.passage_prompt)
        order = longest_first(texts, [len(ids) for ids in inputs], self)
        encoded = in_parallel(self.network.states, (inputs[row] for row in order))
        for done, (row, states) in enumerate(zip(order, encoded, strict=True), 1):
            yield row, states, inputs[row]
            if progress:
                progress(done, len(order))

    def _queries(self, texts: Sequence[str]) -> list[tuple[Floats, Ids]]:
        inputs = self._cut(texts, self._folder.query_prompt)
        # The last token is the one that ends an input.
        cut = [ids if len(ids) <= self.max_tokens else np.r_[ids[: self.max_tokens - 1], ids[-1:]] for ids in inputs]
        with self._asking:
            return [(self.network.states(ids), ids) for ids in cut]

    def _mean(self, states: Floats) -> Vectors:
        vector: Vectors = unit_rows(states.mean(0, keepdims=True), self.identity)[0]
        return vector

    def _encoded(self, states: Floats, ids: Ids, prompt: str) -> Encoded:
        own = own_tokens(ids, self._prompt_ids[prompt], self._special)
        return Encoded.of(self._mean(states), unit_rows(states[own], self.identity), ids[own], self._wordy)

    def _find_spans(self, text: str) -> NDArray[np.int32]:
        ids, places = self._tokenizer.located(encodable(text))
        spans = places[self._wordy[ids]]
        spans.flags.writeable = False  # callers share the cached array
        return spans


def _json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))

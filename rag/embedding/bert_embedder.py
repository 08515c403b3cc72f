"""The default embedder, run by an encoder of our own.

sentence-transformers runs it too, but to import it takes some seconds, for trainers and models that nobody asks for,
and a passage twice as long; see docs/results/encoder.md. That both say the same is tested.
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rag.embedding.bert_folder import read_folder
from rag.embedding.embedder import (
    SMALL_DIMENSION,
    SPANS_KEPT,
    Encoded,
    Progress,
    Vectors,
    encodable,
    longest_first,
    own_tokens,
    unit_rows,
)
from rag.embedding.precision import wants_bfloat16
from rag.errors import ModelError
from rag.parallel import in_parallel
from rag.process import torch_threads
from rag.settings import Precision

if TYPE_CHECKING:
    from torch import Tensor

    from rag.embedding.bert import Bert

Ids = NDArray[np.int32]

# On one thread .3 s, for which a run that is stopped is waited for; more is not faster.
BATCH_TOKENS = 2_048
# Texts cut into tokens together, of which no more than the ids are kept.
CUT_TOGETHER = 256


class BertEmbedder:
    """An Embedder that runs a folder which `is_rebuilt`. `folder` is trusted as data only."""

    def __init__(self, folder: Path, *, identity: str, precision: Precision = Precision.AUTO) -> None:
        from tokenizers import Tokenizer

        self.identity = identity
        self._asking = threading.Lock()  # many at once would all wait for the last of them
        self._spans = lru_cache(SPANS_KEPT)(self._find_spans)
        try:
            self._folder = read_folder(folder)
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            # As transformers does: a special token that is written in a text is one.
            self._tokenizer.add_special_tokens(sorted(set(self._folder.special.values())))
            self.network = self._load(folder / "model.safetensors", precision)
        except Exception as error:  # a broken folder fails in many ways, and those of `tokenizers` have no class
            raise ModelError(
                f"cannot load the embedder in {folder}: {error}",
                hint="it can be checked with: python -m rag models verify",
            ) from error
        self.dimension, self.max_tokens = self._folder.width, self._folder.max_tokens
        self._special = [self._id(name) for name in self._folder.special]
        prompts = (self._folder.passage_prompt, self._folder.query_prompt)
        self._prompt_ids = dict(zip(prompts, self._cut(prompts, ""), strict=True))

    @property
    def computes_in(self) -> str:
        """The number type, such as "bfloat16"."""
        return str(self.network.words.dtype).removeprefix("torch.")

    @property
    def _on_accelerator(self) -> bool:
        return self.network.words.device.type != "cpu"

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for rows, states, _ in self._passages(texts, progress):
            vectors[rows] = self._means(states)
        return vectors

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[int, Encoded]]:
        for rows, states, ids in self._passages(texts, progress):
            yield from zip(rows, self._encoded(states, ids, self._folder.passage_prompt), strict=True)

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self._means(self._queries([text])[0])[0]
        return vector

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        return self._encoded(*self._queries(texts), self._folder.query_prompt)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(ids) for ids in self._cut(texts, self._folder.passage_prompt)]

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [self._spans(text) for text in texts]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of the tokens of each text itself, without prompt and special tokens."""
        encoded = self._tokenizer.encode_batch_fast([encodable(text) for text in texts], add_special_tokens=False)
        return [encoding.ids for encoding in encoded]

    def special_ids(self) -> tuple[int, int]:
        """The tokens that begin and end an input."""
        return self._id("cls"), self._id("sep")

    def _id(self, name: str) -> int:
        found = self._tokenizer.token_to_id(self._folder.special[name])
        assert found is not None  # it was added
        return found

    def _load(self, weights: Path, precision: Precision) -> "Bert":
        import torch
        from safetensors.torch import load_file

        from rag.embedding.bert import Bert

        accelerator = torch.accelerator.current_accelerator(check_available=True)
        device = accelerator.type if accelerator is not None else "cpu"
        kind = torch.bfloat16 if wants_bfloat16(precision, device) else torch.float32
        loaded = {name: weight.to(kind) for name, weight in load_file(weights, device).items()}
        return Bert.of(loaded, heads=self._folder.heads, epsilon=self._folder.epsilon)

    def _cut(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        prefixed = [prompt + encodable(text) for text in texts]
        groups = (prefixed[start : start + CUT_TOGETHER] for start in range(0, len(prefixed), CUT_TOGETHER))
        return [
            np.asarray(encoding.ids, np.int32)
            for group in groups
            for encoding in self._tokenizer.encode_batch_fast(group)
        ]

    def _passages(
        self, texts: Sequence[str], progress: Progress | None
    ) -> Iterator[tuple[list[int], "list[Tensor]", list[Ids]]]:
        """A batch at a time: the places of its texts, their states and their ids."""
        inputs = self._cut(texts, self._folder.passage_prompt)
        order = longest_first(texts, [len(ids) for ids in inputs], self)
        batches = list(_batches(order, inputs))
        side_by_side = map if self._on_accelerator else in_parallel
        encoded = side_by_side(lambda rows: self._states([inputs[row] for row in rows]), batches)
        done = 0
        for rows, states in zip(batches, encoded, strict=True):
            yield rows, states, [inputs[row] for row in rows]
            done += len(rows)
            if progress:
                progress(done, len(order))

    def _queries(self, texts: Sequence[str]) -> "tuple[list[Tensor], list[Ids]]":
        inputs = self._cut(texts, self._folder.query_prompt)
        # The last token is the one that ends an input.
        cut = [ids if len(ids) <= self.max_tokens else np.r_[ids[: self.max_tokens - 1], ids[-1:]] for ids in inputs]
        with self._asking, torch_threads(1) if self.dimension <= SMALL_DIMENSION else contextlib.nullcontext():
            return self._states(cut), cut

    def _states(self, inputs: Sequence[Ids]) -> "list[Tensor]":
        import torch

        with torch.inference_mode():
            return self.network.states(inputs) if inputs else []

    def _means(self, states: "Sequence[Tensor]") -> Vectors:
        return unit_rows([rows.float().mean(0).cpu().numpy() for rows in states], self.identity)

    def _encoded(self, states: "Sequence[Tensor]", inputs: Sequence[Ids], prompt: str) -> list[Encoded]:
        found = []
        for rows, ids in zip(states, inputs, strict=True):
            own = own_tokens(ids, self._prompt_ids[prompt], self._special)
            exact = rows.float()
            tokens = unit_rows(exact.cpu().numpy()[own], self.identity)
            found.append(Encoded(unit_rows(exact.mean(0, True).cpu().numpy(), self.identity)[0], tokens, ids[own]))
        return found

    def _find_spans(self, text: str) -> NDArray[np.int32]:
        encoding = self._tokenizer.encode(encodable(text), add_special_tokens=False)
        spans = np.asarray(encoding.offsets, np.int32).reshape(-1, 2)
        spans.flags.writeable = False  # others are given it too
        return spans


def _batches(order: Sequence[int], inputs: Sequence[Ids]) -> Iterator[list[int]]:
    """Inputs in their order, as many together as have BATCH_TOKENS tokens."""
    done = 0
    while done < len(order):
        size = max(1, BATCH_TOKENS // len(inputs[order[done]]))
        yield list(order[done : done + size])
        done += size

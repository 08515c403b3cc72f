"""An embedder of any sentence-transformers folder, run by that library."""

import contextlib
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
    wordy_tokens,
)
from rag.errors import ModelError
from rag.models.e5 import PROMPTS
from rag.process import torch_threads
from rag.settings import Precision

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

logger = logging.getLogger(__name__)

# Between batches the model is free for a question, so batches must be short; more than 16 passages are not faster on a
# processor, and a graphics card takes any number.
BATCH = 16

# The order in which sentence-transformers looks for the prompt of a document.
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
# The E5 family was trained with PROMPTS, but its folders on the hub do not state them.
_E5_NAME = re.compile(r"\be5-(small|base|large)(?!.*instruct)", re.IGNORECASE)
_NO_LIMIT = 1 << 20  # max_tokens of a model that states none


class SentenceTransformerEmbedder:
    """An Embedder that runs a sentence-transformers folder. `folder` is trusted as data only."""

    def __init__(self, folder: Path, *, identity: str, precision: Precision = Precision.AUTO) -> None:
        self.identity = identity
        self._lock = threading.Lock()
        self._model = _load(folder, precision)
        self._passage_prompt = _document_prompt(self._model)
        self._query_prompt = self._model.prompts.get("query") or ""
        # Only a fast tokenizer gives the places of tokens in a text.
        tokenizer: Any = self._model.tokenizer
        located = getattr(tokenizer, "is_fast", False)
        self._spans = lru_cache(SPANS_KEPT)(self._find_spans)
        self._wordy = (
            wordy_tokens(tokenizer.get_vocab(), tokenizer.all_special_ids) if located else np.zeros(0, np.bool_)
        )
        self._after_mean = _modules_after_mean(self._model) if located else None
        prompts = {self._passage_prompt, self._query_prompt} if self._after_mean is not None else ()
        self._prompt_ids = {prompt: np.asarray(self._model.tokenizer(prompt)["input_ids"]) for prompt in prompts}
        self.dimension = self._model.get_embedding_dimension() or len(self._model.encode("", show_progress_bar=False))
        limit = self._model.max_seq_length
        self.max_tokens = int(limit) if limit is not None and limit < _NO_LIMIT else _NO_LIMIT

    @property
    def computes_in(self) -> str:
        """The number type, such as "bfloat16"."""
        return str(next(self._model.parameters()).dtype).removeprefix("torch.")

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for rows, batch in self._batches(texts, progress):
            with self._lock:
                found = self._model.encode_document(batch, show_progress_bar=False)
            vectors[rows] = unit_rows(found, self.identity)
        return vectors

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[int, Encoded]]:
        for rows, batch in self._batches(texts, progress):
            with self._lock:
                found: Any = self._model.encode_document(batch, output_value=None, show_progress_bar=False)
            yield from zip(rows, (self._encoded(features, self._passage_prompt) for features in found), strict=True)

    def embed_query(self, text: str) -> Vectors:
        with self._lock:
            found = self._model.encode_query([encodable(text)], show_progress_bar=False)
        vector: Vectors = unit_rows(found, self.identity)[0]
        return vector

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        asked = [encodable(text) for text in texts]
        with self._lock, self._query_threads():
            found: Any = self._model.encode_query(asked, output_value=None, show_progress_bar=False)
        return [self._encoded(features, self._query_prompt) for features in found]

    def _query_threads(self) -> contextlib.AbstractContextManager[None]:
        return torch_threads(1) if self.dimension <= SMALL_DIMENSION else contextlib.nullcontext()

    def _batches(self, texts: Sequence[str], progress: Progress | None) -> Iterator[tuple[list[int], list[str]]]:
        texts = [encodable(text) for text in texts]
        order = longest_first(texts, self.count_tokens(texts), self)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            yield rows, [texts[row] for row in rows]
            if progress:
                progress(start + len(rows), len(order))

    def _encoded(self, features: dict[str, Any], prompt: str) -> Encoded:
        vector = unit_rows(features["sentence_embedding"].float().cpu().numpy()[np.newaxis], self.identity)[0]
        if self._after_mean is None:
            return Encoded(vector, np.zeros((0, self.dimension), np.float32), np.zeros(0, np.int32))
        ids: NDArray[np.int32] = features["input_ids"][features["attention_mask"].bool()].cpu().numpy().astype(np.int32)
        own = own_tokens(ids, self._prompt_ids[prompt], self._model.tokenizer.all_special_ids)
        tokens = {"sentence_embedding": features["token_embeddings"][features["attention_mask"].bool()]}
        for module in self._after_mean:
            tokens = module(tokens)
        rows = tokens["sentence_embedding"].detach().float().cpu().numpy()[own]
        rows = unit_rows(rows, self.identity) if len(rows) else rows.reshape(0, self.dimension)
        return Encoded.of(vector, rows, ids[own], self._wordy)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        prefixed = [self._passage_prompt + encodable(text) for text in texts]
        tokenizer: Any = self._model.tokenizer
        with self._lock:  # a fast tokenizer keeps the truncation of its last call as state
            if callable(tokenizer):
                # verbose=True warns of long texts, which are what we count for
                encoded = tokenizer(prefixed, truncation=False, padding=False, verbose=False)["input_ids"]
                return [len(ids) for ids in encoded]
            return [len(encoding.ids) for encoding in tokenizer.encode_batch(prefixed)]  # a static embedding

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [self._spans(text) for text in texts]

    def _find_spans(self, text: str) -> NDArray[np.int32]:
        with self._lock:  # as in `count_tokens`
            encoded = self._model.tokenizer(
                encodable(text), add_special_tokens=False, truncation=False, verbose=False, return_offsets_mapping=True
            )
        wordy = self._wordy[np.asarray(encoded["input_ids"], np.int32)]
        spans = np.asarray(encoded["offset_mapping"], np.int32).reshape(-1, 2)[wordy]
        spans.flags.writeable = False  # callers share the cached array
        return spans


def _load(folder: Path, precision: Precision) -> "SentenceTransformer":
    refuse_foreign_code(folder)
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import get_device_name

    device = get_device_name()
    half = _wants_bfloat16(precision, device)
    try:
        with quiet():
            model = SentenceTransformer(
                str(folder),
                device=device,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": torch.bfloat16 if half else torch.float32, "use_safetensors": True},
            )
    except Exception as error:  # a broken folder fails in many ways, in four libraries
        raise ModelError(
            f"cannot load the embedder in {folder}: {error}",
            hint="it must be a sentence-transformers folder with safetensors weights; a pinned model can be checked "
            "with: python -m rag models verify",
        ) from error
    if not any(model.prompts.values()) and _E5_NAME.search(folder.as_posix()):
        logger.info("%s states no prompts; using those of the E5 family", folder)
        model.prompts.update(PROMPTS)
    return model


def refuse_foreign_code(folder: Path) -> None:
    """sentence-transformers before 6.0 imports module classes from a local folder without asking."""
    modules = folder / "modules.json"
    if not modules.is_file():
        if (folder / "config.json").is_file():
            return  # a bare transformers model, which gets mean pooling
        raise ModelError(f"{folder} is not a sentence-transformers folder: it has no modules.json")
    try:
        types = [str(module["type"]) for module in json.loads(modules.read_text(encoding="utf-8"))]
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(f"cannot read {modules}: {error!r}") from error
    if foreign := [name for name in types if not name.startswith("sentence_transformers.")]:
        raise ModelError(f"the embedder in {folder} brings code of its own, which is not run: {', '.join(foreign)}")


def _modules_after_mean(model: "SentenceTransformer") -> "list[Any] | None":
    """The modules after the mean over tokens, such as a projection: they also map single tokens to the texts' space.

    None if the model takes no mean, or not over all tokens.
    """
    modules: list[Any] = list(model)
    for place, module in enumerate(modules):
        if getattr(module, "pooling_mode", None) == "mean":
            return modules[place + 1 :] if getattr(module, "include_prompt", True) else None
    return None


def _document_prompt(model: "SentenceTransformer") -> str:
    names = (*_DOCUMENT_PROMPTS, model.default_prompt_name)
    return next((model.prompts[name] for name in names if name in model.prompts), None) or ""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silence progress bars and advice of the libraries while they load; restore both afterwards."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars
    from transformers.utils import logging

    transformers_logging: Any = logging  # it has no types
    bars, hub_bars = transformers_logging.is_progress_bar_enabled(), not are_progress_bars_disabled()
    level = transformers_logging.get_verbosity()
    transformers_logging.disable_progress_bar()
    disable_progress_bars()
    transformers_logging.set_verbosity_error()
    try:
        yield
    finally:
        transformers_logging.set_verbosity(level)
        if hub_bars:
            enable_progress_bars()
        if bars:
            transformers_logging.enable_progress_bar()


def _wants_bfloat16(precision: Precision, device: str) -> bool:
    """Whether a model computes in bfloat16 on this device, else in float32."""
    return precision is Precision.BFLOAT16 or (precision is Precision.AUTO and _has_fast_bfloat16(device))


def _has_fast_bfloat16(device: str) -> bool:
    """Whether bfloat16 is native; emulated, it is slower than float32."""
    import torch

    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # Non-x86 processors may have it too, but it has not been measured there. Older versions of torch cannot be asked.
    ask: Callable[[], dict[str, Any]] = getattr(torch.cpu, "get_capabilities", dict)
    return device == "cpu" and any(ask().get(name) for name in ("avx512_bf16", "amx_bf16"))

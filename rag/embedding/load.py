"""Loads the embedder that the settings name.

The setting `embedder` names a pinned model (`rag.models`), else a local sentence-transformers folder, else a model on a
hub. No model's own code is ever run, and weights are read from safetensors only.
"""

from pathlib import Path

from rag.embedding.bert_embedder import BertEmbedder, is_rebuilt
from rag.embedding.embedder import Embedder
from rag.embedding.sentence_transformer import SentenceTransformerEmbedder, quiet
from rag.errors import ModelError
from rag.models import MODELS, Form, locate
from rag.models.store import CONVERSION, content_hash
from rag.settings import Settings

_NOT_NEEDED = ["*.bin", "*.h5", "*.msgpack", "*.ot", "*.onnx", "*.gguf", "onnx/*", "openvino/*", "coreml/*"]


def load_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name. Raises ModelError that says how to get a missing one."""
    name = settings.embedder
    folder = locate(name, settings.models) if name in MODELS else _folder(name)
    kind = BertEmbedder if is_rebuilt(folder) else SentenceTransformerEmbedder
    return kind(folder, identity=_identity(name, folder), precision=settings.precision)


def embedder_identity(settings: Settings) -> str:
    """The identity of `load_embedder(settings)`, without loading the model.

    A pinned model need not even be present; a local folder is hashed; a hub's model is fetched.
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
    """The folder of an unpinned model: a local one, else the hub's, fetched unless it is in the cache."""
    local = Path(name).expanduser()
    if local.is_dir():
        return local.resolve()
    if local.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise ModelError(f"there is no folder {name!r}", hint=f"set `embedder` to one of: {_pinned_embedders()}")
    from huggingface_hub import snapshot_download

    try:
        with quiet():
            return Path(snapshot_download(name, ignore_patterns=_NOT_NEEDED))
    except Exception as error:  # the hub's client raises errors of two HTTP libraries, and its own
        raise ModelError(
            f"cannot get {name!r} from the model hub: {error}",
            hint=f"check the name and the network (HF_ENDPOINT names a mirror), or use a model of the package index: "
            f"{_pinned_embedders()}",
        ) from error


def _pinned_embedders() -> str:
    return ", ".join(model.name for model in MODELS.values() if model.form is not Form.FILE)

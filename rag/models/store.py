"""The models folder, and whether its content is what was pinned.

    FOLDER/multilingual-e5-small.bin           the verified source of the default embedder
    FOLDER/multilingual-e5-small/              the sentence-transformers folder made from it
    FOLDER/embeddinggemma-300m/                a sentence-transformers folder
    FOLDER/qwen2.5-coder-1.5b-instruct.gguf    a chat model
    FOLDER/NAME/origin.json                    of every folder: its origin, and the hash of its content
    FOLDER/.partial/NAME/                      an interrupted fetch; the next one resumes there
    FOLDER/.NAME.lock                          one fetch of a model at a time

Every entry without a leading dot was published by one rename, so it is complete or absent.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from rag.errors import ModelError
from rag.models.pinned import MODELS, Form, PinnedModel, find

ORIGIN_FILE = "origin.json"
# Version of the default embedder's conversion. Raise it when `e5.py` starts to write another model: old folders are
# then rebuilt, and indexes made with them no longer match.
CONVERSION = 1


class ModelState(StrEnum):
    MISSING = "missing"
    INTERRUPTED = "interrupted"
    PRESENT = "present"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One pinned model in one models folder. `path` is its place, existing or not."""

    model: PinnedModel
    state: ModelState
    path: Path
    problem: str = ""


def published_path(model: PinnedModel, folder: Path) -> Path:
    """The model's place once it is fetched."""
    return folder / (f"{model.name}.gguf" if model.form is Form.FILE else model.name)


def source_path(model: PinnedModel, folder: Path) -> Path:
    """The file from which a Form.E5 model is made."""
    return folder / f"{model.name}.bin"


def partial_folder(model: PinnedModel, folder: Path) -> Path:
    return folder / ".partial" / model.name


def write_origin(model: PinnedModel, place: Path) -> None:
    """Write the origin of a finished folder into it. `verify` compares the folder with it."""
    origin = {
        "model": model.name,
        "licence": model.licence,
        "packages": [part.requirement for part in model.parts],
        "source_sha256": model.sha256,
        "conversion": CONVERSION if model.form is Form.E5 else 0,
        "content_sha256": content_hash(place),
    }
    (place / ORIGIN_FILE).write_text(json.dumps(origin, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def list_models(folder: Path) -> list[ModelStatus]:
    """Every pinned model and whether it exists. Reads no model's bytes; `verify` does."""
    return [_glance(model, folder) for model in MODELS.values()]


def verify(folder: Path) -> list[ModelStatus]:
    """Hash every model that exists and say whether it is PRESENT or DAMAGED; the others are left out."""
    there = (status.model for status in list_models(folder) if status.path.exists())
    return [inspect(model, folder) for model in there]


def locate(name: str, folder: Path) -> Path:
    """The model's file or folder. Raises ModelError if it is missing, or another version of us rebuilt it."""
    model = find(name)
    status = _glance(model, folder)
    if status.state is ModelState.PRESENT:
        return status.path
    consent = " --accept-licence" if model.needs_consent else ""
    command = f"python -m rag models fetch {name}{consent}"
    raise ModelError(
        status.problem or f"model {name!r} is not in {folder}", hint=f"fetch it with: {command}", fetch=command
    )


def inspect(model: PinnedModel, folder: Path) -> ModelStatus:
    """Like `list_models` for one model, but hashes every byte."""
    status = _glance(model, folder)
    if status.state is not ModelState.PRESENT:
        return status
    problem = _problem(model, folder)
    return ModelStatus(model, ModelState.DAMAGED, status.path, problem) if problem else status


def content_hash(folder: Path, *, skip: Iterable[str] = ()) -> str:
    """SHA-256 over the sorted (path, size, bytes) of the files in `folder`, so renaming a file counts too."""
    digest = hashlib.sha256()
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in sorted(files.keys() - set(skip)):
        digest.update(f"{name}\0{files[name].stat().st_size}\0".encode())
        _hash_into(digest, files[name])
    return digest.hexdigest()


def file_hash(path: Path) -> str:
    """SHA-256 of the file's bytes."""
    digest = hashlib.sha256()
    _hash_into(digest, path)
    return digest.hexdigest()


def _hash_into(digest: "hashlib._Hash", path: Path) -> None:
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)


def _glance(model: PinnedModel, folder: Path) -> ModelStatus:
    path = published_path(model, folder)
    if not path.exists():
        interrupted = partial_folder(model, folder).exists() or source_path(model, folder).exists()
        return ModelStatus(model, ModelState.INTERRUPTED if interrupted else ModelState.MISSING, path)
    if model.form is Form.E5 and _origin(path).get("conversion") != CONVERSION:
        return ModelStatus(model, ModelState.DAMAGED, path, f"{path} was made by another version of this program")
    return ModelStatus(model, ModelState.PRESENT, path)


def _problem(model: PinnedModel, folder: Path) -> str:
    """The fault in the bytes of a model that is present; empty if there is none."""
    path, source = published_path(model, folder), source_path(model, folder)
    if model.form is Form.FILE:
        checks = [(path, model.sha256)]
    else:
        pinned = model.sha256 if model.form is Form.FOLDER else _origin(path).get("content_sha256", "")
        checks = [(path, pinned), *((path / name, sha256) for name, sha256 in model.file_sha256.items())]
        if model.form is Form.E5:
            checks.append((source, model.sha256))
    for place, expected in checks:
        if not place.exists():
            return f"{place} is missing"
        actual = content_hash(place, skip=[ORIGIN_FILE]) if place.is_dir() else file_hash(place)
        if actual != expected:
            return f"{place}: expected SHA-256 {expected}, found {actual}"
    return ""


def _origin(path: Path) -> dict[str, Any]:
    """The contents of origin.json; empty if unreadable, which matches no pinned model."""
    try:
        stated = json.loads((path / ORIGIN_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stated if isinstance(stated, dict) else {}

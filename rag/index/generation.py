"""One generation of the index on disk: whole, verified and immutable, or not there.

INDEX/CURRENT                       {"generation": "000007", "manifest_sha256": "…"}, replaced by one rename
INDEX/generations/000007/           manifest.json, passages.sqlite, vectors.faiss, keywords.safetensors
INDEX/writer.lock                   one writer at a time; readers never wait
"""

import hashlib
import json
import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from rag.errors import IndexCorruptError, IndexLockedError, IndexMismatchError, IndexMissingError
from rag.index.keywords import KeywordIndex
from rag.index.storage import Storage
from rag.index.vectors import load_vectors

logger = logging.getLogger(__name__)

FORMAT = 2
STORAGE_FILE = "passages.sqlite"
VECTORS_FILE = "vectors.faiss"
KEYWORDS_FILE = "keywords.safetensors"
REBUILD_HINT = "rebuild it: python -m ingest --rebuild"
# A reader that opened a generation just before it was replaced still finds its files.
KEPT_GENERATIONS = 2


class Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Root(Model):
    """A file or folder that the index mirrors.

    `number` never changes; `name` prefixes its documents when there are several roots.
    """

    number: int
    path: str
    name: str


class FileRecord(Model):
    sha256: str
    size: int


class Manifest(Model):
    format: int
    generation: int
    embedder: str
    dimension: int
    passage_tokens: int
    roots: tuple[Root, ...]
    documents: int
    passages: int
    files: dict[str, FileRecord]
    report: dict[str, Any]


class Current(Model):
    generation: str
    manifest_sha256: str


@dataclass(frozen=True)
class Index:
    """An open generation. Opening verifies every byte and modifies nothing.

    Everything is loaded or held open from the start, so it keeps working when its files are collected.
    """

    folder: Path
    manifest: Manifest
    storage: Storage
    vectors: faiss.Index
    keywords: KeywordIndex

    def close(self) -> None:
        self.storage.close()


def current_generation(index_folder: Path) -> str | None:
    """Name of the live generation; None where there is no index."""
    file = index_folder / "CURRENT"
    return _read_current(file).generation if file.is_file() else None


def open_index(index_folder: Path, *, embedder: str | None = None) -> Index:
    """Open the live generation. With `embedder` (an identity) an index made with another one is refused.

    Raises IndexMissingError, IndexCorruptError or IndexMismatchError.
    """
    file = index_folder / "CURRENT"
    if not file.is_file():
        raise IndexMissingError(f"there is no index at {index_folder}", hint="make one: python -m ingest corpus/")
    while True:
        current = _read_current(file)
        try:
            return _open_generation(index_folder, current, embedder)
        except (IndexCorruptError, OSError, sqlite3.Error) as error:
            if _read_current(file) != current:
                continue  # newer generations were published while this one was being opened, and it was collected
            if not isinstance(error, IndexCorruptError):
                message = f"the index at {index_folder} cannot be read: {error}"
                raise IndexCorruptError(message, hint=REBUILD_HINT) from error
            raise


def _open_generation(index_folder: Path, current: Current, embedder: str | None) -> Index:
    folder = index_folder / "generations" / current.generation
    manifest_file = folder / "manifest.json"
    if not manifest_file.is_file():
        raise IndexCorruptError(
            f"the index at {index_folder} names generation {current.generation}, which is not there", hint=REBUILD_HINT
        )
    data = manifest_file.read_bytes()
    if hashlib.sha256(data).hexdigest() != current.manifest_sha256:
        raise IndexCorruptError(
            f"{manifest_file} is not the file that was published (SHA-256 differs)", hint=REBUILD_HINT
        )
    raw = json.loads(data)
    if raw.get("format") != FORMAT:
        raise IndexMismatchError(
            f"the index at {index_folder} has format {raw.get('format')}, this program reads format {FORMAT}",
            hint=REBUILD_HINT,
        )
    manifest = Manifest.model_validate(raw)
    for name, record in manifest.files.items():
        _verify(folder / name, record)
    if embedder is not None:
        require_embedder(index_folder, manifest, embedder)
    vectors = load_vectors(folder / VECTORS_FILE)
    keywords = KeywordIndex.load(folder / KEYWORDS_FILE)
    return Index(folder, manifest, Storage(folder / STORAGE_FILE), vectors, keywords)


def require_embedder(index_folder: Path, manifest: Manifest, embedder: str) -> None:
    """Raise IndexMismatchError where the index was made with another embedder than the one of this identity."""
    if manifest.embedder != embedder:
        raise IndexMismatchError(
            f"the index at {index_folder} was made with embedder {manifest.embedder!r}, the settings name {embedder!r}",
            hint=f"set `embedder` back, or {REBUILD_HINT}",
        )


@contextmanager
def writer_lock(index_folder: Path) -> Iterator[None]:
    """Hold the index for writing. Raises IndexLockedError at once, naming the process that holds it."""
    index_folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(index_folder / "writer.lock")
    holder = index_folder / "writer.pid"
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        process = holder.read_text(encoding="ascii").strip() if holder.is_file() else "unknown"
        raise IndexLockedError(
            f"another process ({process}) is writing to {index_folder}",
            hint="wait until it is done, then run the command again",
        ) from error
    try:
        holder.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


@contextmanager
def new_generation(index_folder: Path, number: int) -> Iterator[Path]:
    """A folder to write generation `number` into. Leaving normally keeps it for `publish`; an error removes it.

    The caller holds the writer lock, so what an interrupted writer left behind can be removed first.
    """
    generations = index_folder / "generations"
    generations.mkdir(parents=True, exist_ok=True)
    for leftover in generations.glob("*.writing"):
        shutil.rmtree(leftover)
    folder = generations / f"{number:06d}.writing"
    folder.mkdir()
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def publish(index_folder: Path, written: Path, manifest_fields: dict[str, Any]) -> Manifest:
    """Seal the written folder with a manifest of its files, sync it to disk, and make it live by one rename."""
    files = {file.name: _record(file) for file in sorted(written.iterdir())}
    manifest = Manifest(format=FORMAT, files=files, **manifest_fields)
    data = manifest.model_dump_json(indent=1).encode()
    _write_synced(written / "manifest.json", data)
    for name in files:
        _sync(written / name)
    _sync(written)
    name = written.name.removesuffix(".writing")
    final = written.with_name(name)
    if final.exists():  # sealed by a writer that died before the rename of CURRENT
        shutil.rmtree(final)
    written.rename(final)
    _sync(final.parent)
    current = Current(generation=name, manifest_sha256=hashlib.sha256(data).hexdigest())
    temporary = index_folder / "CURRENT.new"
    _write_synced(temporary, current.model_dump_json().encode())
    temporary.replace(index_folder / "CURRENT")
    _sync(index_folder)
    _collect(index_folder, live=name)
    return manifest


def _collect(index_folder: Path, *, live: str) -> None:
    """Remove generations older than the last ones. A reader that has one open keeps what it opened."""
    folders = sorted(path for path in (index_folder / "generations").iterdir() if path.name.isdigit())
    # By age, not by number: where CURRENT was lost, numbers began again at 1.
    others = sorted((path for path in folders if path.name != live), key=lambda path: path.stat().st_mtime_ns)
    for folder in others[: len(folders) - KEPT_GENERATIONS]:
        shutil.rmtree(folder, ignore_errors=True)


def _read_current(file: Path) -> Current:
    try:
        return Current.model_validate_json(file.read_bytes())
    except (ValidationError, OSError) as error:
        raise IndexCorruptError(f"{file} is damaged", hint=REBUILD_HINT) from error


def _verify(file: Path, record: FileRecord) -> None:
    if not file.is_file():
        raise IndexCorruptError(f"{file} is missing", hint=REBUILD_HINT)
    actual = _record(file)
    if actual.size != record.size:
        raise IndexCorruptError(f"{file} has {actual.size:,} bytes, {record.size:,} were published", hint=REBUILD_HINT)
    if actual.sha256 != record.sha256:
        raise IndexCorruptError(f"{file} is not the file that was published (SHA-256 differs)", hint=REBUILD_HINT)


def _record(file: Path) -> FileRecord:
    with file.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    return FileRecord(sha256=digest.hexdigest(), size=file.stat().st_size)


def _write_synced(file: Path, data: bytes) -> None:
    with file.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

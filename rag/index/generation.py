"""One generation of the index on disk: complete, verified and immutable, or absent.

INDEX/CURRENT                       {"generation": "000007", "manifest_sha256": "…"}, replaced by one rename
INDEX/generations/000007/           manifest.json and the files that it lists: passages.sqlite, vectors.faiss,
                                    keywords.*.npy, keywords-counts.*.npy (for the next run),
                                    tokens.*.npy (unless late interaction is off), report.json,
                                    vocabulary.*.npy and questions.*.npy, which an older version did not write;
                                    in a large index also vectors.npy
INDEX/writer.lock                   one writer at a time; readers never wait
INDEX/writer.json                   identifies the writer while it writes
"""

import errno
import fcntl
import hashlib
import json
import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from rag.errors import IndexCorruptError, IndexMismatchError, IndexMissingError
from rag.index.keywords import KeywordIndex
from rag.index.locks import Hold
from rag.index.manifest import (
    FORMAT,
    FORMATS,
    REBUILD_HINT,
    UNFILLED,
    Current,
    Manifest,
    read_current,
    record_of,
    require_embedder,
    verify_file,
)
from rag.index.part import IndexPart, PassagesOfPart
from rag.index.storage import Storage
from rag.index.store import Index
from rag.index.tokens import TokenIndex, load_tokens
from rag.index.vectors import Vectors, load_vectors
from rag.index.vocabulary import MaterialVocabulary, read_vocabulary
from rag.index.written_questions import AskedQuestions, read_asked

logger = logging.getLogger(__name__)

STORAGE_FILE = "passages.sqlite"
# Each is a prefix of several file names.
KEYWORDS = "keywords"
TOKENS = "tokens"
VOCABULARY = "vocabulary"
QUESTIONS = "questions"
REPORT_FILE = "report.json"
# A rebuild falls back on the previous generation if the live one is damaged.
KEPT_GENERATIONS = 2
# Errors of a file system without locks.
NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP}


@dataclass(frozen=True, kw_only=True)
class DiskIndex(Index):
    """An open generation in a folder. Opening verifies every byte and modifies nothing.

    Opening loads everything or holds it open, but for vocabulary and written questions, which are loaded when first
    needed; while it is held, the generation is not collected.
    """

    folder: Path
    storage: Storage
    vectors: Vectors
    keywords: KeywordIndex
    tokens: TokenIndex | None = None
    hold: Hold | None = None

    @cached_property
    def vocabulary(self) -> MaterialVocabulary:
        return MaterialVocabulary.load(self.folder / VOCABULARY) or super().vocabulary

    @cached_property
    def asked(self) -> AskedQuestions:
        return AskedQuestions.load(self.folder / QUESTIONS) or super().asked

    def part(self, documents: Sequence[str]) -> Index:
        return IndexPart(
            manifest=self.manifest,
            storage=PassagesOfPart(self.storage, frozenset(documents), self.storage.repeats),
            vectors=self.vectors,
            keywords=self.keywords,
            tokens=self.tokens,
            manifest_sha256=self.manifest_sha256,
            within=np.asarray(sorted(self.storage.numbers_of(documents)), np.int64),
            whole=self,
        )

    def close(self) -> None:
        self.storage.close()
        if self.hold is not None:
            self.hold.release()


def current_generation(index_folder: Path) -> str | None:
    """Name of the live generation; None if there is no index."""
    file = index_folder / "CURRENT"
    return read_current(file).generation if file.is_file() else None


def live_manifest(index_folder: Path) -> str | None:
    """SHA-256 of the live generation's manifest, which identifies it; None if there is no index."""
    file = index_folder / "CURRENT"
    return read_current(file).manifest_sha256 if file.is_file() else None


class Freshness(StrEnum):
    """Whether the disk has a newer generation."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    UNKNOWN = "unknown"


def freshness(index_folder: Path, index: DiskIndex) -> Freshness:
    """Whether an open generation is still the live one. Costs one small read and raises nothing.

    UNKNOWN if CURRENT is unreadable or missing, perhaps only for a moment: the open generation is complete and can go
    on answering.
    """
    try:
        live = live_manifest(index_folder)
    except IndexCorruptError as error:
        logger.warning("%s; the open generation goes on answering", error.message)
        return Freshness.UNKNOWN
    if live is None:
        return Freshness.UNKNOWN
    # Names do not tell: a rebuilt or restored index may reuse the same numbers.
    return Freshness.UNCHANGED if live == index.manifest_sha256 else Freshness.CHANGED


def reopen(index_folder: Path, index: DiskIndex) -> DiskIndex:
    """The live generation: `index` itself unless a newer one is known, else the new one, opened and verified.

    Takes no lock, and verifying takes about 2.5 ms per megabyte: call it outside any lock that a question needs, and
    swap in the result under that lock. If the new generation is unusable, raises what `open_index` raises.
    """
    if freshness(index_folder, index) is not Freshness.CHANGED:
        return index
    return open_index(index_folder, embedder=index.manifest.embedder)


def open_index(index_folder: Path, *, embedder: str | None = None) -> DiskIndex:
    """Open the live generation. With `embedder` (an identity), refuses an index made with another one.

    Raises IndexMissingError, IndexCorruptError or IndexMismatchError.
    """
    file = index_folder / "CURRENT"
    if not file.is_file():
        raise IndexMissingError(f"there is no index at {index_folder}", hint="make one: python -m ingest")
    while True:
        current = read_current(file)
        try:
            return _open_generation(index_folder, current, embedder)
        except (IndexCorruptError, OSError, sqlite3.Error) as error:
            if read_current(file) != current:
                continue  # newer generations were published during opening, and this one was collected
            if not isinstance(error, IndexCorruptError):
                message = f"the index at {index_folder} cannot be read: {error}"
                raise IndexCorruptError(message, hint=REBUILD_HINT) from error
            raise


def _open_generation(index_folder: Path, current: Current, embedder: str | None) -> DiskIndex:
    folder = index_folder / "generations" / current.generation
    manifest_file = folder / "manifest.json"
    if not manifest_file.is_file():
        raise IndexCorruptError(
            f"the index at {index_folder} names generation {current.generation}, which is not there", hint=REBUILD_HINT
        )
    hold = Hold(manifest_file)
    try:
        data = manifest_file.read_bytes()
        if hashlib.sha256(data).hexdigest() != current.manifest_sha256:
            raise IndexCorruptError(
                f"{manifest_file} is not the file that was published (SHA-256 differs)", hint=REBUILD_HINT
            )
        raw = json.loads(data)
        if raw.get("format") not in FORMATS:
            raise IndexMismatchError(
                f"the index at {index_folder} has format {raw.get('format')}, this program reads format {FORMAT}",
                hint=REBUILD_HINT,
            )
        manifest = Manifest.model_validate(raw)
        for name, record in manifest.files.items():
            verify_file(folder / name, record)
        if embedder is not None:
            require_embedder(index_folder, manifest, embedder)
        return replace(load_generation(folder, manifest, hold), manifest_sha256=current.manifest_sha256)
    except BaseException:
        hold.release()
        raise


def save_words(folder: Path) -> None:
    """Write what each process would else read out of all documents of the folder's database: the vocabulary and the
    written questions."""
    with closing(Storage(folder / STORAGE_FILE)) as storage:
        read_vocabulary(storage).save(folder / VOCABULARY)
        read_asked(storage).save(folder / QUESTIONS)


def load_generation(folder: Path, manifest: Manifest, hold: Hold | None = None) -> DiskIndex:
    """Load a generation without checks: the caller has verified or just written its files."""
    vectors = load_vectors(folder)
    keywords = KeywordIndex.load(folder / KEYWORDS)
    tokens = load_tokens(folder / TOKENS) if any(folder.glob(f"{TOKENS}.*")) else None
    storage = Storage(folder / STORAGE_FILE)
    return DiskIndex(
        folder=folder, manifest=manifest, storage=storage, vectors=vectors, keywords=keywords, tokens=tokens, hold=hold
    )


def sealed_generations(index_folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Folder and JSON manifest of every generation with a readable manifest, newest first, whatever CURRENT says.
    For repair only: verifies neither manifest nor files, and the format may differ."""
    for file in sorted((index_folder / "generations").glob("[0-9]*/manifest.json"), reverse=True):
        try:
            manifest = json.loads(file.read_bytes())
        except (ValueError, OSError):
            logger.warning("%s cannot be read", file)
            continue
        if file.parent.name.isdigit() and isinstance(manifest, dict):
            yield file.parent, manifest


@contextmanager
def new_generation(index_folder: Path, number: int) -> Iterator[Path]:
    """A folder to write generation `number` into. A normal exit keeps it for `publish`; an error removes it.

    The caller holds the writer lock, so leftovers of an interrupted writer are removed first.
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
    """Seal the written folder with a manifest of its files, sync it to disk, make it live with one rename."""
    files = {file.name: record_of(file) for file in sorted(written.iterdir())}
    written_format = UNFILLED if f"{TOKENS}.missing.npy" in files else FORMAT
    manifest = Manifest(format=written_format, files=files, **manifest_fields)
    data = manifest.model_dump_json(indent=1).encode()
    _write_synced(written / "manifest.json", data)
    for name in files:
        _sync(written / name)
    _sync(written)
    name = written.name.removesuffix(".writing")
    final = written.with_name(name)
    if final.exists():  # sealed by a writer that died before renaming CURRENT
        shutil.rmtree(final)
    written.rename(final)
    _sync(final.parent)
    current = Current(generation=name, manifest_sha256=hashlib.sha256(data).hexdigest())
    temporary = index_folder / "CURRENT.new"
    _write_synced(temporary, current.model_dump_json().encode())
    temporary.replace(index_folder / "CURRENT")
    _sync(index_folder)
    collect(index_folder, live=name)
    return manifest


def collect(index_folder: Path, *, live: str) -> None:
    """Remove all but the newest generations, except those that a reader holds. The caller holds the writer lock."""
    folders = (index_folder / "generations").iterdir()
    others = sorted((path for path in folders if path.name.isdigit() and path.name != live), key=lambda f: int(f.name))
    for folder in others[: max(0, len(others) + 1 - KEPT_GENERATIONS)]:
        try:
            descriptor = os.open(folder / "manifest.json", os.O_RDWR)  # NFS: exclusive locks need write access
        except OSError:  # half removed by a writer that died: no reader can open it
            shutil.rmtree(folder, ignore_errors=True)
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        except OSError as error:
            if error.errno not in NO_LOCKS:
                logger.warning("%s is not collected: %s", folder, error)
                continue
            logger.debug("%s: this file system has no locks", folder)
        else:
            # Without its manifest it cannot be opened, so no reader opens it half removed.
            (folder / "manifest.json").unlink(missing_ok=True)
        finally:
            os.close(descriptor)
        shutil.rmtree(folder, ignore_errors=True)


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

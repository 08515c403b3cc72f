"""Readers' own documents: one folder that is a root of the index, and runs that sync the index with it."""

import hashlib
import logging
import os
import re
import shutil
import tempfile
import threading
import unicodedata
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from dataclasses import replace as changed
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.documents import digest
from ingest.reading.listing import FOLDER_README, HIDDEN, list_files
from ingest.reading.registry import SUFFIXES
from ingest.report import Report
from ingest.sources import absolute
from ingest.sync import Stage, sync
from ingest.updates.first_reading import UNFINISHED_FILE
from rag.errors import IngestError, RagError, UsageError
from rag.index.stores import open_store
from rag.settings import Settings

if TYPE_CHECKING:
    from rag.embedding import Embedder

logger = logging.getLogger(__name__)

# Seconds that another writer may hold the index before that counts as a problem.
WAIT = 60.0
MEGABYTE = 1024 * 1024
# File systems allow 255 bytes; this leaves room to make a name unique.
MAX_NAME_BYTES = 200
NOT_IN_NAMES = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]+')


@dataclass(frozen=True, slots=True)
class LibraryRun:
    """The run under way or the last one. `done` of `total` items of `stage` are finished. `report` is its report, as in
    `python -m ingest --json`; `problem` is why it failed."""

    under_way: bool = False
    stage: Stage | None = None
    done: int = 0
    total: int = 0
    ended: datetime | None = None
    report: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    problem: RagError | None = None


class Refused(StrEnum):
    """Why a file was not added."""

    NO_DOCUMENT = "no_document"
    TOO_LARGE = "too_large"
    NAME_TAKEN = "name_taken"


class RefusedError(UsageError):
    def __init__(self, message: str, *, hint: str, reason: Refused) -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class Library:
    """Readers' own documents in one folder, which is a root of the index. Uses an embedder already loaded. Safe to use
    from several threads."""

    def __init__(self, settings: Settings, embedder: "Embedder", *, may_change: bool = True) -> None:
        self._settings = settings
        self._embedder = embedder
        self.may_change = may_change
        """Whether readers may add and remove documents, and have the index brought in line."""
        self._lock = threading.Lock()
        self._run = LibraryRun()
        # Whether the run after the current one covers all roots; None if none follows.
        self._next_all_roots: bool | None = None
        # Removed files, until the program ends.
        self._removed: Path | None = None

    @property
    def folder(self) -> Path:
        return self._settings.library

    @property
    def suffixes(self) -> tuple[str, ...]:
        return tuple(sorted(SUFFIXES))

    @property
    def max_megabytes(self) -> int:
        return self._settings.max_file_megabytes

    def files(self) -> tuple[str, ...]:
        """Paths below the folder of all its documents, including unreadable ones."""
        if not self.folder.is_dir():
            return ()
        try:
            names = [file.relative_to(self.folder).as_posix() for file in list_files(self.folder)]
        except IngestError:  # a run reports an unlistable folder
            return ()
        # A non-UTF-8 name came from no browser, and no browser can show it.
        return tuple(name for name in names if name.encode(errors="ignore").decode() == name)

    def owns(self, root: str) -> bool:
        """Whether a root of the index is this folder."""
        return root == absolute(self.folder)

    def add(self, name: str, file: Path, *, replace: bool = False) -> str:
        """Copy a file in, atomically, under a safe name, which it returns. Raises RefusedError if the file cannot be a
        document, or its name is taken and `replace` is not set."""
        self._require_change()
        safe = safe_name(name)
        size = file.stat().st_size
        if size > self.max_megabytes * MEGABYTE:
            raise RefusedError(
                f"{safe} has {size / MEGABYTE:,.1f} MB, at most {self.max_megabytes} are allowed",
                hint="split the file, or raise `max_file_megabytes`",
                reason=Refused.TOO_LARGE,
            )
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.holds(safe, file):
            return safe
        target = self.folder / safe
        descriptor, part = tempfile.mkstemp(prefix=".adding-", dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as out, file.open("rb") as source:
                shutil.copyfileobj(source, out)
                out.flush()
                os.fsync(out.fileno())
            if replace:
                Path(part).replace(target)
            else:
                try:
                    os.link(part, target)  # unlike a rename, this fails if the name was taken meanwhile
                except FileExistsError:
                    raise RefusedError(
                        f"the library has another document named {safe}",
                        hint="rename the file, or choose to replace documents of the same name",
                        reason=Refused.NAME_TAKEN,
                    ) from None
        finally:
            with suppress(FileNotFoundError):
                Path(part).unlink()
        return safe

    def holds(self, name: str, file: Path) -> bool:
        """Whether the folder has this very file under this name."""
        target = self.folder / name
        return target.is_file() and digest(target) == digest(file)

    def remove(self, relative: str) -> None:
        """Remove a document from the folder; `restore` brings it back until the program ends. Raises UsageError if
        there is none."""
        self._require_change()
        path = self.folder / relative
        inside = path.resolve().is_relative_to(self.folder.resolve())
        if not inside or path.is_symlink() or not path.is_file() or path.suffix.lower() not in SUFFIXES:
            raise UsageError(f"the library has no document {relative}", hint="it may have been removed already")
        shutil.move(path, self._kept(relative))

    def restore(self, relative: str) -> None:
        """Bring a removed document back. Raises UsageError if it was not kept, or its name was taken meanwhile."""
        self._require_change()
        kept, path = self._kept(relative), self.folder / relative
        if not kept.is_file() or path.exists():
            raise UsageError(f"{relative} cannot be brought back", hint="add the file once more")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(kept, path)

    def sync(self, *, all_roots: bool = False) -> bool:
        """Start syncing the index with the folder, or with all roots, in a thread. Returns False if a run is under way:
        another follows it, for what changed meanwhile. Raises UsageError if readers may not change anything."""
        self._require_change()
        with self._lock:
            if self._run.under_way:
                self._next_all_roots = all_roots or bool(self._next_all_roots)
                return False
            self._run = LibraryRun(under_way=True)
        threading.Thread(target=self._sync, args=(all_roots,), name="library", daemon=True).start()
        return True

    def run(self) -> LibraryRun:
        with self._lock:
            return self._run

    def _kept(self, relative: str) -> Path:
        """The path of a removed document."""
        with self._lock:
            if self._removed is None:
                self._removed = Path(tempfile.mkdtemp(prefix="removed-"))
                weakref.finalize(self, shutil.rmtree, self._removed, ignore_errors=True)
            return self._removed / hashlib.sha256(relative.encode()).hexdigest()

    def _require_change(self) -> None:
        if not self.may_change:
            raise UsageError("documents cannot be added or removed here", hint="`uploads = true` allows it")

    def _sync(self, all_roots: bool) -> None:
        wanted: bool | None = all_roots
        while wanted is not None:
            ended = self._ended(all_roots=wanted)
            with self._lock:
                wanted, self._next_all_roots = self._next_all_roots, None
                self._run = ended if wanted is None else LibraryRun(under_way=True)

    def _ended(self, *, all_roots: bool) -> LibraryRun:
        """A run, with its outcome."""
        try:
            report = self._bring_in_line(all_roots=all_roots)
        except Exception as error:
            if not isinstance(error, RagError):
                logger.exception("the library could not be brought in line")
            told = error if isinstance(error, RagError) else IngestError(f"unexpected: {error!r}")
            return LibraryRun(ended=_now(), problem=told)
        return LibraryRun(ended=_now(), report=report.as_dict(), warnings=tuple(map(str, report.warnings)))

    def _bring_in_line(self, *, all_roots: bool) -> Report:
        """Without `all_roots`, syncs only this folder: a problem elsewhere is no reason to reject a document. The
        folder becomes a root with its first document, and ceases to be one with its last."""
        has_documents = self.folder.is_dir() and any(list_files(self.folder))
        # Opening the index verifies all of it; adding a document need not wait for that.
        roots = self._roots() if all_roots or not has_documents else ()
        is_root = any(map(self.owns, roots))
        others = [Path(root) for root in roots if not self.owns(root)] if all_roots else []
        return sync(
            self._settings,
            lambda: self._embedder,
            [*others, *([self.folder] if has_documents else [])],
            identity=self._embedder.identity,
            remove_root=self.folder if is_root and not has_documents else None,
            named_only=True,
            complete=not (self._settings.index / UNFINISHED_FILE).exists(),  # tokens are being filled in then
            wait=WAIT,
            progress=lambda stage, done, total: self._tell(stage=stage, done=done, total=total),
        )

    def _roots(self) -> list[str]:
        """Roots of the live generation."""
        index = open_store(self._settings).open()
        index.close()
        return [root.path for root in index.manifest.roots]

    def _tell(self, **what: object) -> None:
        with self._lock:
            self._run = changed(self._run, **what)  # type: ignore[arg-type]


def safe_name(name: str) -> str:
    """A file name from a browser's untrusted one: its last part, without characters special to a shell, a file system
    or a reader's eye. Raises UsageError for a name that no document has.

    >>> safe_name("../../etc/笔记 ①.md"), safe_name("a<b>.TXT")
    ('笔记 ①.md', 'a b.TXT')
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rsplit("/", 1)[-1]
    # Format characters can reverse the visible order: txt.exe looks like exe.txt.
    visible = "".join(c for c in NOT_IN_NAMES.sub(" ", last) if unicodedata.category(c) not in ("Cf", "Cs", "Co", "Cn"))
    clean = " ".join(visible.split()).lstrip(". ")
    stem, suffix = os.path.splitext(clean)  # noqa: PTH122 - a name, not a path
    if suffix.lower() not in SUFFIXES or not stem or clean.startswith(HIDDEN):
        raise RefusedError(
            f"{clean or 'a file without a name'} is no document",
            hint="documents are " + " ".join(sorted(SUFFIXES)),
            reason=Refused.NO_DOCUMENT,
        )
    stem = stem.encode()[: MAX_NAME_BYTES - len(suffix)].decode(errors="ignore").rstrip()
    if f"{stem}{suffix}".lower() == FOLDER_README:
        raise RefusedError(
            "README.md describes a folder and is not read",
            hint="give the file another name",
            reason=Refused.NO_DOCUMENT,
        )
    return stem + suffix


def _now() -> datetime:
    return datetime.now().astimezone()

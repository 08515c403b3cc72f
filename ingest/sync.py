"""Changes since the last generation -> the next generation, and the report."""

import errno
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ingest.changes import Changes, compare, moved_and_removed
from ingest.documents import Documents
from ingest.keywords import keywords_of
from ingest.previous_generation import Key, PreviousGeneration, open_earlier
from ingest.probe import Probe, Question, probe
from ingest.ready_vectors import ready_vectors
from ingest.report import Report, Stage
from ingest.sources import absolute, choose_roots, documents_of, name_documents
from ingest.vectors import Computed, KnownVectors, embed, known_vectors
from ingest.workers import File, PassageError, Workers, open_workers
from rag.errors import IndexCorruptError, IngestError
from rag.index.generation import (
    KEYWORDS,
    REPORT_FILE,
    STORAGE_FILE,
    TOKENS,
    DiskIndex,
    collect,
    current_generation,
    load_generation,
    new_generation,
    publish,
    save_words,
)
from rag.index.locks import writer_lock
from rag.index.manifest import FORMAT, Anchors, Manifest, Root
from rag.index.storage import DocumentEntry, StoredDocument, write_storage
from rag.index.tokens import save_tokens
from rag.index.vectors import save_vectors
from rag.settings import Settings, StoreName, rebuild_settings

if TYPE_CHECKING:
    from rag.embedding import Embedder

__all__ = ["Choose", "Progress", "Report", "Stage", "sync"]

Progress = Callable[[Stage, int, int], None]
"""Called with the stage, how many are done, and how many there are."""
Choose = Callable[[Sequence[File], Sequence[File]], Sequence[File]]
"""Called with the new documents and the known ones; returns those of the new ones that are to be read."""


def sync(
    settings: Settings,
    load_embedder: "Callable[[], Embedder]",
    paths: Sequence[Path] = (),
    *,
    identity: str,
    remove_root: Path | None = None,
    named_only: bool = False,
    allow_empty: bool = False,
    rebuild: bool = False,
    wait: float = 0.0,
    questions: Sequence[Question] = (),
    choose: Choose | None = None,
    is_interrupted: Callable[[], bool] = lambda: False,
    complete: bool = True,
    computed: Mapping[str, Computed] = MappingProxyType({}),
    workers: Workers | None = None,
    progress: Progress | None = None,
) -> Report:
    """Sync the index with its roots; `python -m ingest --help` explains the arguments.

    `identity` identifies the embedder that `load_embedder` loads, which happens only if something must be embedded.
    With `named_only` only `paths` are synced, even if there are none, so that a root can be forgotten while another is
    missing. `wait` is the number of seconds to wait for another writer; `questions` are asked of the old and the new
    generation. Of the new documents only those that `choose` returns are read, and none once
    the run `is_interrupted`; the next run reads the rest.
    Unless the index is to be `complete`, passages with a ready vector get their tokens later: `computed` are those
    computed meanwhile, by embedding key.
    `workers` read and embed; None: those that the settings name, for this run.
    Raises IngestError, IndexLockedError, IndexCorruptError, IndexMismatchError, StoreError.
    """
    started = time.perf_counter()
    try:
        with (
            writer_lock(settings.index, wait=wait),
            _store_copy(settings, identity, rebuild=rebuild, wait=wait),
            closing(open_earlier(settings, identity, rebuild=rebuild)) as earlier,
            nullcontext(workers) if workers else open_workers(settings, load_embedder, identity) as at_work,
        ):
            roots = choose_roots(earlier.roots, paths, remove_root)
            # If nothing can be kept, roots that were not named would lose their documents.
            some = earlier.is_kept and (paths or named_only)
            asked = {absolute(path) for path in paths} if some else {root.path for root in roots}
            later = not complete and settings.store is StoreName.EMBEDDED
            ready = ready_vectors(identity, settings.passage_tokens) if later or not settings.late_interaction else {}
            run = _Run(settings, at_work, identity, earlier, questions, progress or _no_progress, started)
            run.ready, run.is_later, run.computed = ready, later, computed
            return run.bring_in_line(
                roots, asked, allow_empty=allow_empty, choose=choose, is_interrupted=is_interrupted
            )
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise IngestError(
                f"no space left on the disk of {settings.index}",
                hint="free some space and run the command again; the old index is untouched",
            ) from error
        raise IngestError(
            f"cannot write the index at {settings.index}: {error}",
            hint="check the folder and its permissions; the old index is untouched",
        ) from error


def _store_copy(settings: Settings, identity: str, *, rebuild: bool, wait: float) -> AbstractContextManager[None]:
    """The store of which the folder is a working copy; it is synced at the end."""
    if settings.store is StoreName.EMBEDDED:
        return nullcontext()
    from ingest.store_copy import store_copy

    return store_copy(settings, identity, rebuild=rebuild, wait=wait)


@contextmanager
def _naming(documents: Sequence[StoredDocument]) -> Iterator[None]:
    """Names the document of a passage that cannot be embedded."""
    try:
        yield
    except PassageError as error:
        names = [d.name for d in documents if any(p.embedded_text == error.text for p in d.passages)]
        raise IngestError(": ".join([*names[:1], error.message]), hint=error.hint) from error


def _no_progress(stage: Stage, done: int, total: int) -> None:
    pass


class _Run:
    """One run of `sync`: reads the roots, embeds what is new, publishes."""

    def __init__(
        self,
        settings: Settings,
        workers: Workers,
        identity: str,
        earlier: PreviousGeneration,
        questions: Sequence[Question],
        progress: Progress,
        started: float,
    ) -> None:
        self.settings = settings
        self.workers = workers
        self.before = earlier.entries()
        self.documents = Documents(workers, self.before if earlier.is_kept else {}, self.before, progress)
        self.identity = identity
        self.earlier = earlier
        self.questions = questions
        self.progress = progress
        self.started = started
        self.roots: tuple[Root, ...] = ()
        # Whether new documents are left for the next run.
        self.leaves_some = False
        self.ready: Mapping[str, NDArray[np.float32]] = {}
        # Whether passages may get their tokens later.
        self.is_later = False
        self.computed: Mapping[str, Computed] = {}

    def bring_in_line(
        self,
        roots: Sequence[Root],
        asked: set[str],
        *,
        allow_empty: bool,
        choose: Choose | None,
        is_interrupted: Callable[[], bool],
    ) -> Report:
        self.roots = tuple(roots)
        counts = self.documents.counts
        skipped = {root.number for root in roots if root.path not in asked}
        had = {number for number, _ in self.before}
        files = [
            File(root.number, relative, path)
            for root in roots
            if root.number not in skipped
            for _, relative, path in documents_of(
                root, self.documents.leave_out, had_documents=root.number in had, allow_empty=allow_empty
            )
        ]
        if choose is not None:
            files = self._chosen(files, choose)
        kept = [entry for key, entry in self.before.items() if key[0] in skipped]
        counts.unchanged += len(kept)
        read: list[StoredDocument] = []
        for document in self.documents.read(files, is_interrupted):
            if isinstance(document, DocumentEntry):
                kept.append(document)
            elif document is not None:
                read.append(document)
        names = name_documents(roots, (*(e.key for e in kept), *(d.entry.key for d in read)), self.before)
        kept = [replace(entry, name=names[entry.key]) for entry in kept]
        read = [replace(document, name=names[document.entry.key]) for document in read]
        entries = sorted([*kept, *(document.entry for document in read)], key=lambda entry: entry.name)
        moved, removed = moved_and_removed(self.before, entries, {root.number for root in roots})
        counts.moved = len(moved)
        counts.added -= len(moved)
        counts.removed = len(removed)
        live = self.earlier.index
        if (
            live is not None
            and self.earlier.is_kept
            and live.manifest.roots == self.roots
            and entries == list(self.before.values())
            and not self._completes(live)
        ):
            collect(self.settings.index, live=live.folder.name)  # left by a killed run
            total = live.manifest.passages
            unmoved = Probe(len(self.questions), compared=True) if self.questions else None
            return self._report(live.manifest.generation, total, 0, published=False, outcome=unmoved)
        return self._publish(kept, read, moved, removed)

    def _completes(self, live: DiskIndex) -> bool:
        """Whether this run makes missing tokens."""
        lacks_some = live.tokens is not None and len(live.tokens.missing) > 0
        return lacks_some and (bool(self.computed) or not self.is_later)

    def _chosen(self, files: list[File], choose: Choose) -> list[File]:
        """The known files and the new ones to read."""
        new = [file for file in files if (file.root, file.relative) not in self.before]
        known = [file for file in files if (file.root, file.relative) in self.before]
        left = {*new} - {*choose(new, known)}
        self.leaves_some = bool(left)
        return [file for file in files if file not in left]

    def _publish(
        self,
        kept: Sequence[DocumentEntry],
        read: Sequence[StoredDocument],
        moved: Sequence[tuple[str, str]],
        removed: Sequence[DocumentEntry],
    ) -> Report:
        from ingest.structure.repeats import number_passages

        stored = self.earlier.documents()
        changes = self._changes(stored, kept, read, moved, removed)
        known = self._known(stored)
        documents = [replace(stored[entry.key], name=entry.name, stale=entry.stale) for entry in kept]
        documents = sorted([*documents, *read], key=lambda document: document.name)
        with _naming(documents):
            documents = number_passages(self._fit(documents, known.keys))
        passages = [p for d in documents for p in d.passages if p.number is not None]
        held = known.vectors if self.is_later or known.codec is None else known.tokens
        texts = {p.embedding_key: p.embedded_text for p in passages if p.embedding_key not in held}
        anew = sum(key not in self.ready for key in texts)
        with _naming(documents):
            embedded = embed(
                texts, [p.embedding_key for p in passages], known, self.ready, self.workers,
                with_tokens=self.settings.late_interaction,
                scratch=self.settings.index,
                progress=lambda done, total: self.progress(Stage.PASSAGES, done, total),
            )  # fmt: skip
        generation = self._next_number()

        def report(outcome: Probe | None = None) -> Report:
            return self._report(generation, len(passages), anew, changes=changes, outcome=outcome)

        with new_generation(self.settings.index, generation) as folder:
            fields: dict[str, Any] = {
                "generation": generation, "settings": rebuild_settings(self.settings, self.identity),
                "dimension": embedded.vectors.shape[1], "roots": self.roots, "documents": len(documents),
                "passages": len(passages), "report": report().summary(),
            }  # fmt: skip
            try:
                write_storage(folder / STORAGE_FILE, documents)
                save_vectors(embedded.vectors, folder)
                if embedded.codec is not None:
                    save_tokens(embedded.codec, embedded.tokens, folder / TOKENS)
                live = self.earlier.index if self.earlier.is_kept else None
                keywords_of(documents, live, stored).save(folder / KEYWORDS)
                save_words(folder)
                # Read back, since FAISS does not report every failed write.
                written = load_generation(folder, Manifest(format=FORMAT, files={}, **fields))
            except (sqlite3.Error, RuntimeError, ValueError, IndexCorruptError) as error:
                # How these libraries report a full disk.
                raise IngestError(
                    f"cannot write the index at {self.settings.index}: {error}",
                    hint="check the space on its disk; the old index is untouched",
                ) from error
            with closing(written):
                fields["anchors"] = self._anchors(written, len(texts))
                outcome = self._probe(written)
            kept_report = json.dumps(report(outcome).as_kept(), ensure_ascii=False, indent=1)
            (folder / REPORT_FILE).write_text(kept_report, encoding="utf-8")
            publish(self.settings.index, folder, fields)
        return report(outcome)

    def _changes(
        self,
        stored: Mapping[Key, StoredDocument],
        kept: Sequence[DocumentEntry],
        read: Sequence[StoredDocument],
        moved: Sequence[tuple[str, str]],
        removed: Sequence[DocumentEntry],
    ) -> Changes:
        arrived = {new for _, new in moved}
        pairs = [(stored[d.entry.key], d) for d in read if d.entry.key in self.before]
        return Changes(
            added=tuple(d.name for d in read if d.entry.key not in self.before and d.name not in arrived),
            removed=tuple(entry.name for entry in removed),
            moved=tuple(moved),
            stale=tuple(entry.name for entry in kept if entry.stale),
            changed=tuple(compare(old, new) for old, new in pairs if old.sha256 != new.sha256),
        )

    def _probe(self, written: DiskIndex) -> Probe | None:
        """Ask the questions of the live generation and the new one."""
        if not self.questions:
            return None
        old = self.earlier.index
        if old is not None and old.manifest.embedder != self.identity:
            old = None
        return probe(self.questions, self.workers.load_embedder(), old, written, k=self.settings.top_k)

    def _anchors(self, written: DiskIndex, added: int) -> Anchors | None:
        from ingest.anchors import anchors_of

        live = self.earlier.index if self.earlier.is_kept else None
        removed = 0 if live is None else live.manifest.passages + added - written.manifest.passages
        earlier = None if live is None else live.manifest.anchors
        lacks_tokens = written.tokens is not None and len(written.tokens.missing) > 0
        if earlier is None and lacks_tokens:
            return None
        # Measuring takes as long as reading six documents.
        unfinished = self.leaves_some or self.documents.left > 0 or lacks_tokens
        return anchors_of(written, earlier, added + removed, self.workers.load_embedder, unfinished=unfinished)

    def _next_number(self) -> int:
        """After the live generation; if CURRENT is damaged, after all of them, since the lowest are removed."""
        try:
            live = current_generation(self.settings.index)
        except IndexCorruptError:
            live = None
        folders = (self.settings.index / "generations").glob("[0-9]*")
        last = max((int(folder.name) for folder in folders if folder.name.isdigit()), default=0)
        return int(live or last) + 1

    def _known(self, stored: Mapping[Key, StoredDocument]) -> KnownVectors:
        index = self.earlier.index
        if index is None or not self.earlier.is_kept:
            return KnownVectors()
        return known_vectors(index, (p for d in stored.values() for p in d.passages), self.computed)

    def _fit(self, documents: list[StoredDocument], known: Set[str]) -> list[StoredDocument]:
        """Cut new passages that the embedder would truncate until none is."""
        held = (known, self.ready)
        new = list(
            {p.embedded_text for d in documents for p in d.passages if not any(p.embedding_key in k for k in held)}
        )
        if not new:
            return documents
        from ingest.prepare import split

        embedder = self.workers.load_embedder()
        counts = embedder.count_tokens(new)
        too_long = {text for text, count in zip(new, counts, strict=True) if count > embedder.max_tokens}
        if not too_long:
            return documents
        return [
            replace(
                d,
                passages=tuple(
                    part for p in d.passages for part in (split(p, embedder) if p.embedded_text in too_long else (p,))
                ),
            )
            for d in documents
        ]

    def _report(
        self,
        generation: int,
        total: int,
        embedded: int,
        *,
        published: bool = True,
        changes: Changes | None = None,
        outcome: Probe | None = None,
    ) -> Report:
        return Report(
            generation=generation, published=published, documents=self.documents.counts, passages_total=total,
            passages_embedded=embedded, passages_reused=total - embedded,
            seconds=time.perf_counter() - self.started, roots=self.roots, changes=changes or Changes(), probe=outcome,
            warnings=tuple(self.documents.warnings), cleaned=tuple(self.documents.cleaned),
        )  # fmt: skip

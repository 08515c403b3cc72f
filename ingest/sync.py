"""What changed since the last generation -> the next generation, and the report."""

import errno
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError

from ingest.formats.registry import SUFFIXES
from ingest.loading import list_files, read_document
from ingest.parser_process import ParserProcess
from ingest.passages import Draft, cut, split_draft
from ingest.repeats import find_repeats
from ingest.structure import structure
from rag.analysis import terms
from rag.embedding import Embedder
from rag.errors import DocumentError, IndexCorruptError, IndexMismatchError, IndexMissingError, IngestError
from rag.index.generation import (
    KEYWORDS_FILE,
    STORAGE_FILE,
    VECTORS_FILE,
    Index,
    Root,
    current_generation,
    new_generation,
    open_index,
    publish,
    writer_lock,
)
from rag.index.keywords import KeywordIndex
from rag.index.storage import StoredDocument, StoredPassage, write_storage
from rag.index.vectors import all_vectors, save_vectors
from rag.settings import Settings

Progress = Callable[[str, int, int], None]
"""Called with the stage ("documents" or "passages"), how many are done, and how many there are."""


@dataclass(slots=True)
class Counts:
    added: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    removed: int = 0
    stale: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did; `as_dict()` is the contract of `python -m ingest --json`."""

    generation: int
    published: bool
    documents: Counts
    passages_total: int
    passages_embedded: int
    passages_reused: int
    seconds: float
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        return {
            "generation": self.generation,
            "documents": asdict(self.documents),
            "passages": {
                "total": self.passages_total,
                "embedded": self.passages_embedded,
                "reused": self.passages_reused,
            },
            "seconds": round(self.seconds, 2),
        }

    def as_text(self) -> str:
        documents = self.documents
        lines = [
            f"generation {self.generation}" + ("" if self.published else " (nothing changed)"),
            f"documents: {documents.added} added, {documents.changed} changed, {documents.moved} moved, "
            f"{documents.unchanged} unchanged, {documents.removed} removed, {documents.stale} stale, "
            f"{len(documents.failed)} failed",
            f"passages: {self.passages_total} in all, {self.passages_embedded} embedded, {self.passages_reused} reused",
            f"{self.seconds:.1f} seconds",
            *(f"warning: {warning}" for warning in self.warnings),
            *(f"failed: {failure['error']}" for failure in documents.failed),
        ]
        return "\n".join(lines) + "\n"


def sync(
    settings: Settings,
    load_embedder: Callable[[], Embedder],
    paths: Sequence[Path] = (),
    *,
    identity: str,
    remove_root: Path | None = None,
    allow_empty: bool = False,
    rebuild: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Bring the index in line with its roots; see `python -m ingest --help` for what the arguments mean.

    `identity` is the identity of the embedder that `load_embedder` loads; it is loaded only where something must be
    embedded. Raises IngestError, IndexLockedError, IndexCorruptError, IndexMismatchError.
    """
    started = time.perf_counter()
    try:
        with writer_lock(settings.index), ExitStack() as stack:
            previous = _open_previous(settings, identity, rebuild=rebuild)
            if previous is not None:
                stack.callback(previous.close)
            known = previous.manifest.roots if previous else _remembered_roots(settings.index)
            roots = _choose_roots(known, paths, remove_root)
            # Where nothing can be kept, roots that were not named would lose their documents.
            asked = set() if rebuild or previous is None else {_absolute(path) for path in paths}
            run = _Run(settings, load_embedder, identity, previous, progress or _no_progress, started, rebuild=rebuild)
            stack.callback(run.parser.close)
            return run.bring_in_line(roots, asked, allow_empty=allow_empty)
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


def _no_progress(stage: str, done: int, total: int) -> None:
    pass


def _open_previous(settings: Settings, identity: str, *, rebuild: bool) -> Index | None:
    try:
        index = open_index(settings.index)
    except IndexMissingError:
        return None
    except (IndexCorruptError, IndexMismatchError):
        if rebuild:
            return None
        raise
    if rebuild:
        return index
    wanted = (identity, settings.passage_tokens)
    made_with = (index.manifest.embedder, index.manifest.passage_tokens)
    if wanted != made_with:
        index.close()
        raise IndexMismatchError(
            f"the index at {settings.index} was made with embedder {made_with[0]!r} and {made_with[1]} tokens a "
            f"passage, the settings name {wanted[0]!r} and {wanted[1]}",
            hint="rebuild it: python -m ingest --rebuild",
        )
    return index


def _remembered_roots(index_folder: Path) -> tuple[Root, ...]:
    """The roots of an index that can no longer be read otherwise, from any manifest that still parses."""
    for file in sorted((index_folder / "generations").glob("[0-9]*/manifest.json"), reverse=True):
        try:
            return tuple(Root.model_validate(root) for root in json.loads(file.read_bytes())["roots"])
        except (ValueError, KeyError, OSError):
            continue
    return ()


def _absolute(path: Path) -> str:
    return str(path.expanduser().resolve())


def _choose_roots(known: Sequence[Root], paths: Sequence[Path], remove_root: Path | None) -> tuple[Root, ...]:
    roots = list(known)
    if remove_root is not None:
        gone = _absolute(remove_root)
        if gone not in {root.path for root in roots}:
            listed = ", ".join(root.path for root in roots) or "none"
            raise IngestError(f"{gone} is not a root of the index", hint=f"its roots are: {listed}")
        roots = [root for root in roots if root.path != gone]
    wanted = list(paths) if paths or roots or remove_root is not None else [Path("corpus")]
    for path in wanted:
        if not path.expanduser().exists():
            raise IngestError(f"{path} does not exist", hint="check the path")
        if _absolute(path) not in {root.path for root in roots}:
            number = max((root.number for root in roots), default=-1) + 1
            roots.append(Root(number=number, path=_absolute(path), name=_free_name(path, roots)))
    return tuple(roots)


def _free_name(path: Path, roots: Sequence[Root]) -> str:
    base = Path(_absolute(path)).name or "root"
    taken = {root.name for root in roots}
    return next(name for name in (base, *(f"{base}-{n}" for n in range(2, len(roots) + 3))) if name not in taken)


class _Run:
    """One run of `sync`: reads the roots, embeds what is new, publishes. With `rebuild` only what `previous` knows of
    vanished documents is used."""

    def __init__(
        self,
        settings: Settings,
        load_embedder: Callable[[], Embedder],
        identity: str,
        previous: Index | None,
        progress: Progress,
        started: float,
        *,
        rebuild: bool,
    ) -> None:
        self.settings = settings
        self.load_embedder = load_embedder
        self.identity = identity
        self.previous = previous
        self.progress = progress
        self.started = started
        self.rebuild = rebuild
        self.counts = Counts()
        self.warnings: list[str] = []
        self.parser = ParserProcess(ocr=settings.ocr)

    def bring_in_line(self, roots: Sequence[Root], asked: set[str], *, allow_empty: bool) -> Report:
        before = (
            {(d.root, d.relative): d for d in self.previous.storage.documents(with_passages=True)}
            if self.previous
            else {}
        )
        usable = {} if self.rebuild else before
        kept_roots = {root.number for root in roots if asked and root.path not in asked}
        files = self._list(roots, kept_roots, before, allow_empty=allow_empty)
        documents = [document for key, document in before.items() if key[0] in kept_roots]
        self.counts.unchanged += len(documents)
        for done, (root, relative, path) in enumerate(files):
            self.progress("documents", done, len(files))
            document = self._read(root, relative, path, usable.get((root.number, relative)))
            if document is not None:
                documents.append(document)
        self.progress("documents", len(files), len(files))
        self._count_gone(before, documents, {root.number for root in roots})
        several = len(roots) > 1
        prefixes = {root.number: f"{root.name}/" if several else "" for root in roots}
        documents = sorted((replace(d, name=prefixes[d.root] + d.relative) for d in documents), key=lambda d: d.name)
        if (
            self.previous is not None
            and not self.rebuild
            and self.previous.manifest.roots == tuple(roots)
            and _signature(documents) == _signature(self.previous.storage.documents())
        ):
            manifest = self.previous.manifest
            return self._report(manifest.generation, manifest.passages, 0, manifest.passages, published=False)
        return self._publish(roots, documents)

    def _list(
        self, roots: Sequence[Root], kept: set[int], before: dict[tuple[int, str], StoredDocument], *, allow_empty: bool
    ) -> list[tuple[Root, str, Path]]:
        files = []
        for root in roots:
            if root.number in kept:
                continue
            path = Path(root.path)
            if not path.exists():
                raise IngestError(
                    f"the root {root.path} is missing",
                    hint=f"bring it back, or forget it and its documents: python -m ingest --remove-root {root.path}",
                )
            found = list(list_files(path, self._left_out))
            if not found and not allow_empty:
                had = any(number == root.number for number, _ in before)
                raise IngestError(
                    f"the root {root.path} {'is suddenly empty' if had else 'holds no document'}",
                    hint=f"add documents ({' '.join(sorted(SUFFIXES))}), or pass --allow-empty if that is meant",
                )
            files += [(root, str(file.relative_to(path)) if file != path else file.name, file) for file in found]
        return files

    def _left_out(self, path: Path, reason: str) -> None:
        self.warnings.append(f"{_shown(str(path))}: left out: {reason}")

    def _read(self, root: Root, relative: str, path: Path, earlier: StoredDocument | None) -> StoredDocument | None:
        try:
            if not _is_utf8(str(path)):
                raise DocumentError(f"{_shown(relative)}: the file name is not UTF-8", hint="rename the file")
            if earlier is not None and _file_hash(path) == earlier.sha256:
                self.counts.unchanged += 1
                return replace(earlier, stale=False)
            document = read_document(
                relative, path, max_bytes=self.settings.max_file_megabytes * 1024 * 1024, parser=self.parser
            )
        except (DocumentError, OSError) as error:
            message = (
                error.message
                if isinstance(error, DocumentError)
                else f"{relative}: cannot be read: {error.strerror or error}"
            )
            return self._failed(path, message, earlier)
        self.warnings += (f"{relative}: {warning}" for warning in document.warnings)
        structured = structure(document)
        drafts = cut(structured, budget=self.settings.passage_tokens, also_asked=document.asked_as)
        if not drafts:
            return self._failed(path, f"{relative}: nothing is left after cleaning", earlier)
        if earlier is None:
            self.counts.added += 1
        else:
            self.counts.changed += 1
        passages = tuple(StoredPassage(d.section, d.content, d.header, _key(d.embedded_text)) for d in drafts)
        return StoredDocument(
            root=root.number, relative=relative, name=relative, title=structured.title, sha256=document.sha256,
            size=document.size,
            stale=False, tags=document.tags, asked_as=document.asked_as, source=document.source, passages=passages,
            pages=document.pages,
        )  # fmt: skip

    def _failed(self, path: Path, message: str, earlier: StoredDocument | None) -> StoredDocument | None:
        """Its last good version, where it has one, stands for a document that cannot be read."""
        self.counts.failed.append({"path": _shown(str(path)), "error": message})
        if earlier is None:
            return None
        self.counts.stale += 1
        return replace(earlier, stale=True)

    def _count_gone(
        self, before: dict[tuple[int, str], StoredDocument], now: Sequence[StoredDocument], roots: set[int]
    ) -> None:
        """A document that vanished while one with the same content appeared has moved."""
        here = {(d.root, d.relative) for d in now}
        gone = [d for key, d in before.items() if key not in here]
        appeared = [d.sha256 for d in now if (d.root, d.relative) not in before]
        for document in gone:
            if document.sha256 in appeared and document.root in roots:
                appeared.remove(document.sha256)
                self.counts.moved += 1
                self.counts.added -= 1
            else:
                self.counts.removed += 1

    def _publish(self, roots: Sequence[Root], documents: list[StoredDocument]) -> Report:
        earlier, known = self._earlier_vectors()
        documents = _number(self._fit(documents, earlier))
        kept = [p for d in documents for p in d.passages if p.number is not None]
        new_texts = {p.embedding_key: p.embedded_text for p in kept if p.embedding_key not in known}
        vectors, dimension = self._vectors([p.embedding_key for p in kept], known, new_texts)
        generation = self._next_number()
        report = self._report(generation, len(kept), len(new_texts), len(kept) - len(new_texts), published=True)
        with new_generation(self.settings.index, generation) as folder:
            try:
                write_storage(folder / STORAGE_FILE, documents)
                save_vectors(vectors, folder / VECTORS_FILE)
                KeywordIndex.build([terms(p.embedded_text) for p in kept]).save(folder / KEYWORDS_FILE)
            except (sqlite3.Error, RuntimeError, SafetensorError) as error:  # what a full disk is to these libraries
                raise IngestError(
                    f"cannot write the index at {self.settings.index}: {error}",
                    hint="check the space on its disk; the old index is untouched",
                ) from error
            publish(
                self.settings.index,
                folder,
                {
                    "generation": generation, "embedder": self.identity, "dimension": dimension,
                    "passage_tokens": self.settings.passage_tokens, "roots": tuple(roots), "documents": len(documents),
                    "passages": len(kept), "report": report.as_dict(),
                },
            )  # fmt: skip
        return self._report(generation, len(kept), len(new_texts), len(kept) - len(new_texts), published=True)

    def _next_number(self) -> int:
        """After the live generation; where CURRENT is damaged, after all of them, since the lowest are removed."""
        try:
            live = current_generation(self.settings.index)
        except IndexCorruptError:
            live = None
        folders = (self.settings.index / "generations").glob("[0-9]*")
        last = max((int(folder.name) for folder in folders if folder.name.isdigit()), default=0)
        return int(live or last) + 1

    def _earlier_vectors(self) -> tuple[set[str], dict[str, NDArray[np.float32]]]:
        """The keys of all passages of the previous generation, which fit the embedder, and the vectors they have."""
        if self.previous is None or self.rebuild or self.previous.manifest.embedder != self.identity:
            return set(), {}
        vectors = all_vectors(self.previous.vectors)
        passages = [p for d in self.previous.storage.documents(with_passages=True) for p in d.passages]
        return {p.embedding_key for p in passages}, {
            p.embedding_key: vectors[p.number] for p in passages if p.number is not None
        }

    def _fit(self, documents: list[StoredDocument], earlier: set[str]) -> list[StoredDocument]:
        """Cut new passages that the embedder would truncate until none is."""
        new = list({p.embedded_text for d in documents for p in d.passages if p.embedding_key not in earlier})
        if not new:
            return documents
        embedder = self.load_embedder()
        counts = embedder.count_tokens(new)
        too_long = {text for text, count in zip(new, counts, strict=True) if count > embedder.max_tokens}
        return [
            replace(
                d,
                passages=tuple(
                    part for p in d.passages for part in (_split(p, embedder) if p.embedded_text in too_long else (p,))
                ),
            )
            for d in documents
        ]

    def _vectors(
        self, keys: Sequence[str], known: dict[str, NDArray[np.float32]], new_texts: dict[str, str]
    ) -> tuple[NDArray[np.float32], int]:
        if new_texts:
            embedder = self.load_embedder()
            fresh = embedder.embed_passages(
                list(new_texts.values()), progress=lambda done, total: self.progress("passages", done, total)
            )
            known = known | dict(zip(new_texts, fresh, strict=True))
        dimension = len(next(iter(known.values()))) if known else self.load_embedder().dimension
        return (
            np.stack([known[key] for key in keys]) if keys else np.zeros((0, dimension), dtype=np.float32)
        ), dimension

    def _report(self, generation: int, total: int, embedded: int, reused: int, *, published: bool) -> Report:
        seconds = time.perf_counter() - self.started
        return Report(generation, published, self.counts, total, embedded, reused, seconds, tuple(self.warnings))


def _split(passage: StoredPassage, embedder: Embedder) -> list[StoredPassage]:
    drafts = split_draft(
        Draft(passage.section, passage.content, passage.header),
        lambda text: embedder.count_tokens([text])[0] <= embedder.max_tokens,
    )
    return [StoredPassage(d.section, d.content, d.header, _key(d.embedded_text)) for d in drafts]


def _number(documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    """Number the passages in order of documents; one that repeats an earlier one names it instead."""
    repeats = find_repeats([p.content.text for d in documents for p in d.passages])
    numbers: list[int | None] = []
    count = 0
    for repeat in repeats:
        numbers.append(count if repeat is None else None)
        count += repeat is None
    result = []
    place = 0
    for document in documents:
        passages = []
        for passage in document.passages:
            repeat = repeats[place]
            passages.append(
                replace(passage, number=numbers[place], same_as=None if repeat is None else numbers[repeat])
            )
            place += 1
        result.append(replace(document, passages=tuple(passages)))
    return result


def _signature(documents: Sequence[StoredDocument]) -> list[tuple[str, str, bool]]:
    return [(d.name, d.sha256, d.stale) for d in documents]


def _file_hash(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _is_utf8(name: str) -> bool:
    return _shown(name) == name


def _shown(name: str) -> str:
    """A file name as text; bytes of it that are not UTF-8 become question marks."""
    return name.encode("utf-8", "replace").decode()


def _key(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

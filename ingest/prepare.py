"""File -> document cut into passages, ready to be stored.

Separate from `sync`, because its imports take half a second and a run without changes needs none of them.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from ingest.reading.loading import Document, document_of, read_document
from ingest.reading.parser_process import ParserProcess
from ingest.structure.outline import outline_of
from ingest.structure.passages import Draft, bare_headings, cut, split_draft
from ingest.structure.repeats import fingerprint
from ingest.structure.sections import structure
from rag.embedding import Embedder
from rag.errors import DocumentError, Unreadable
from rag.index.storage import StoredDocument, StoredPassage
from rag.language.terms import terms
from rag.settings import Settings

ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Prepared:
    """A document as stored, its reader's warnings, and the lines that cleaning removed."""

    document: StoredDocument
    warnings: tuple[str, ...]
    removed: tuple[str, ...]


def prepare(root: int, relative: str, path: Path, settings: Settings, parser: ParserProcess) -> Prepared:
    """Read, clean and cut one file. Raises DocumentError or OSError."""
    return _cut(root, relative, _read_settled(relative, path, parser, max_bytes=most_bytes(settings)), settings)


def prepare_bytes(
    root: int, relative: str, suffix: str, data: bytes, settings: Settings, parser: ParserProcess
) -> Prepared:
    """Like `prepare`, for a file that another machine has read. Raises DocumentError."""
    return _cut(root, relative, document_of(relative, suffix, data, parser=parser), settings)


def most_bytes(settings: Settings) -> int:
    """The maximum size of a readable file."""
    return settings.max_file_megabytes * 1024 * 1024


def _cut(root: int, relative: str, document: Document, settings: Settings) -> Prepared:
    structured = structure(document)
    drafts = cut(structured, budget=settings.passage_tokens, also_asked=document.front_matter.asked_as)
    if not drafts:
        raise DocumentError(
            f"{relative}: nothing is left after cleaning",
            hint="add text that is not navigation or promotion",
            reason=Unreadable.EMPTY,
        )
    front_matter = document.front_matter
    stored = StoredDocument(
        root=root, relative=relative, name=relative, title=structured.title, sha256=document.sha256,
        size=document.size, stale=False, tags=front_matter.tags, asked_as=front_matter.asked_as, source=document.source,
        passages=tuple(map(_stored, drafts)), pages=document.pages,
        questions={name: tuple(filter(None, map(terms, asked))) for name, asked in front_matter.questions.items()},
        outline=outline_of(document, structured),
    )  # fmt: skip
    removed = (*document.removed, *structured.removed, *bare_headings(structured, drafts))
    return Prepared(stored, document.warnings, removed)


def split(passage: StoredPassage, embedder: Embedder) -> list[StoredPassage]:
    """A passage that the embedder would truncate, split into parts that fit."""
    drafts = split_draft(
        Draft(passage.section, passage.content, passage.header, passage.blocks),
        lambda text: embedder.count_tokens([text])[0] <= embedder.max_tokens,
    )
    return [_stored(draft) for draft in drafts]


def _read_settled(relative: str, path: Path, parser: ParserProcess, *, max_bytes: int) -> Document:
    """Read a file that nobody is writing to: a partial text would replace the whole."""
    for _ in range(ATTEMPTS):
        before = file_state(path)
        document = read_document(relative, path, max_bytes=max_bytes, parser=parser)
        if file_state(path) == before:
            return document
    raise DocumentError(
        f"{relative}: changes while it is being read",
        hint="run the command again when it has been written",
        reason=Unreadable.FILE,
    )


def file_state(path: Path) -> tuple[int, int, int]:
    """Metadata that change with the file."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ino


def _stored(draft: Draft) -> StoredPassage:
    key = hashlib.sha256(draft.embedded_text.encode()).hexdigest()
    return StoredPassage(
        draft.section, draft.content, draft.header, key, fingerprint(draft.content.text), blocks=draft.blocks
    )

"""The documents of the index as rows that can be searched, and as a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from ingest.library import Library
from rag.errors import Unreadable
from rag.index import Index
from rag.index.storage import DocumentEntry
from rag.language.language import Language
from rag.language.terms import fold
from rag.text.page import SourcePage
from rag.ui.elements import hint
from rag.ui.library.report import failures_of, why_unread
from rag.ui.readable import readable
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

# Rows shown at once; a page of thousands would be slow, and nobody reads it.
SHOWN = 200
# Characters of a document shown at once.
READ_CHARACTERS = 200_000
LONG_AGO = datetime.min.replace(tzinfo=UTC)
HTML = macros_of("library/listing.html")


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document. `relative` is its path below its root, by which the readers' library removes it; `own` means that it
    is in that library. `changed` is when its file was last changed, None if the file is missing; `same_as` names a
    document of the same content, `english` is its English title."""

    name: str
    relative: str
    title: str
    size: int
    characters: int
    passages: int
    tags: tuple[str, ...]
    stale: bool
    own: bool
    changed: datetime | None
    same_as: str = ""
    english: str = ""

    @property
    def topic(self) -> str:
        return str(PurePosixPath(self.relative).parent).removeprefix(".")

    @property
    def kind(self) -> str:
        return PurePosixPath(self.relative).suffix.lower().removeprefix(".")

    @property
    def size_text(self) -> str:
        return bytes_text(self.size)


@dataclass(frozen=True, slots=True)
class Unread:
    """A file of the readers' library that is not in the index; without a `reason` it has not been read yet. `error` is
    the reason as ingest reported it."""

    relative: str
    reason: Unreadable | None = None
    error: str = ""


def rows_of(index: Index, owns: Callable[[str], bool]) -> list[DocumentRow]:
    """All documents: first those of readers, the newest in front, then the others by name. `owns` tells whether readers
    may remove the documents of a root."""
    roots = {root.number: root.path for root in index.manifest.roots}
    own = {number: owns(path) for number, path in roots.items()}
    twins = _twins(index.storage.entries(), own)
    rows = [
        DocumentRow(
            document.name, document.relative, document.title, document.size, document.characters, document.passages,
            document.tags, document.stale, own.get(document.root, False),
            _changed(Path(roots.get(document.root, "")), document.relative), twins.get(document.name, ""),
            document.english,
        )
        for document in index.storage.summaries()
    ]  # fmt: skip
    own_first = sorted((row for row in rows if row.own), key=lambda row: row.changed or LONG_AGO, reverse=True)
    return own_first + sorted((row for row in rows if not row.own), key=lambda row: row.name)


def in_language(rows: Sequence[DocumentRow], language: Language) -> list[DocumentRow]:
    """The rows with their titles in a language, where the documents have one."""
    return [replace(row, title=row.english) if language is Language.EN and row.english else row for row in rows]


def _twins(entries: Sequence[DocumentEntry], own: Mapping[int, bool]) -> dict[str, str]:
    """Each duplicate's original; shared documents count as originals before readers' own."""
    first: dict[str, str] = {}
    twins: dict[str, str] = {}
    for entry in sorted(entries, key=lambda entry: own.get(entry.root, False)):
        if (other := first.setdefault(entry.sha256, entry.name)) != entry.name:
            twins[entry.name] = other
    return twins


def unread_of(library: Library, rows: Sequence[DocumentRow], *reports: Mapping[str, Any]) -> list[Unread]:
    """The files of the library that are not in the index, each with the reason from the last of the reports that names
    it."""
    read = {row.relative for row in rows if row.own}
    left = [name for name in library.files() if name not in read]
    failures = {failure.path: failure for report in reports for failure in failures_of(report)}
    folder = library.folder.expanduser().resolve()
    found = [(name, failures.get(str(folder / name))) for name in left]
    return [Unread(name, failure.reason, failure.error) if failure else Unread(name) for name, failure in found]


def matching(
    rows: Sequence[DocumentRow], words: str = "", kind: str = "", topic: str | None = None
) -> list[DocumentRow]:
    """The rows of a kind and topic whose name, title or tags contain every word."""
    wanted = fold(words).split()

    def fits(row: DocumentRow) -> bool:
        text = fold(" ".join((row.name, row.title, row.english, *row.tags)))
        return (
            (not kind or row.kind == kind)
            and (topic is None or row.topic == topic)
            and all(word in text for word in wanted)
        )

    return [row for row in rows if fits(row)]


def table(rows: Sequence[DocumentRow], texts: Texts, *, any_at_all: bool, may_remove: bool) -> str:
    """HTML; library.js reads the `data-` attributes."""
    if not rows:
        return hint(texts.none_fit if any_at_all else texts.none)
    return HTML("table", rows=rows[:SHOWN], left=len(rows) - SHOWN, texts=texts, may_remove=may_remove)


def about_topic(topic: str, title: str, texts: Texts) -> str:
    """A button that begins a conversation about one topic, as HTML."""
    return HTML("about_topic", topic=topic, title=title, texts=texts)


def unread_list(files: Sequence[Unread], texts: Texts, *, may_remove: bool) -> str:
    """HTML; empty if all files were read."""
    if not files:
        return ""
    whys = [(file, why_unread(file.reason, texts) if file.reason else texts.unread_yet) for file in files[:SHOWN]]
    return HTML("unread", files=whys, total=len(files), texts=texts, may_remove=may_remove)


def reader(name: str, row: DocumentRow | None, page: SourcePage | None, texts: Texts) -> str:
    """The rendered source text of a document, without its front matter."""
    if page is None:
        return HTML("gone", texts=texts)
    source = page.source[page.outline.body_start :]
    shown, note = source[:READ_CHARACTERS], ""
    if len(shown) < len(source):
        note = texts.shortened.format(shown=f"{len(shown):,}", total=f"{len(source):,}")
    title = row.title if row is not None and row.title else name
    text = readable([(shown, ())], lambda markers, html: html)
    return HTML("reader", title=title, name=name, note=note, text=text, texts=texts)


def undo(name: str, texts: Texts) -> str:
    """A message that a document was removed, with a button to undo that, as HTML."""
    return HTML("undo", name=name, texts=texts)


def bytes_text(size: int) -> str:
    """
    >>> bytes_text(12), bytes_text(4_300), bytes_text(64_000_000)
    ('12 B', '4 kB', '64.0 MB')
    """
    if size < 1_000:
        return f"{size} B"
    return f"{size / 1_000:,.0f} kB" if size < 1_000_000 else f"{size / 1e6:,.1f} MB"


def _changed(root: Path, relative: str) -> datetime | None:
    """When a file was last changed; the root may be the file itself."""
    try:
        return datetime.fromtimestamp((root / relative if root.is_dir() else root).stat().st_mtime).astimezone()
    except (OSError, ValueError):
        return None

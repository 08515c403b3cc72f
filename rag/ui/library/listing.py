"""The documents of the index as rows that can be searched, and as a table."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any

from ingest.library import Library
from rag.errors import Unreadable
from rag.index import Index
from rag.index.storage import DocumentEntry
from rag.language.terms import fold
from rag.ui.library.refusals import failures_of, why_unread
from rag.ui.readable import FRONT_MATTER, readable
from rag.ui.texts import Texts

# Rows shown at once; a page of thousands would be slow, and nobody reads it.
SHOWN = 200
# Characters of a document shown at once.
READ_CHARACTERS = 200_000
LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Row:
    """A document. `relative` is its path below its root, by which its own library removes it; `own` says that it lies
    there. `changed` is when its file was, None where the file is not there; `same_as` names a document of the same
    content."""

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

    @property
    def topic(self) -> str:
        return str(PurePosixPath(self.relative).parent).removeprefix(".")

    @property
    def kind(self) -> str:
        return PurePosixPath(self.relative).suffix.lower().removeprefix(".")


@dataclass(frozen=True, slots=True)
class Unread:
    """A file of readers' own that is not in the index; without a `reason` it was not read yet. `error` is the reason in
    the words of whoever read it."""

    relative: str
    reason: Unreadable | None = None
    error: str = ""


def rows_of(index: Index, owns: Callable[[str], bool]) -> list[Row]:
    """All documents: first those of readers, the newest in front, then the others in order of name. `owns` says of a
    root whether readers may remove its documents."""
    roots = {root.number: root.path for root in index.manifest.roots}
    own = {number: owns(path) for number, path in roots.items()}
    twins = _twins(index.storage.entries(), own)
    rows = [
        Row(
            document.name, document.relative, document.title, document.size, document.characters, document.passages,
            document.tags, document.stale, own.get(document.root, False),
            _changed(Path(roots.get(document.root, "")), document.relative), twins.get(document.name, ""),
        )
        for document in index.storage.summaries()
    ]  # fmt: skip
    own_first = sorted((row for row in rows if row.own), key=lambda row: row.changed or LONG_AGO, reverse=True)
    return own_first + sorted((row for row in rows if not row.own), key=lambda row: row.name)


def _twins(entries: Sequence[DocumentEntry], own: Mapping[int, bool]) -> dict[str, str]:
    """Documents of the same content as another one, which they are a copy of: of those that are nobody's own first."""
    first: dict[str, str] = {}
    twins: dict[str, str] = {}
    for entry in sorted(entries, key=lambda entry: own.get(entry.root, False)):
        if (other := first.setdefault(entry.sha256, entry.name)) != entry.name:
            twins[entry.name] = other
    return twins


def unread_of(library: Library, rows: Sequence[Row], *reports: Mapping[str, Any]) -> list[Unread]:
    """The files of the library that are no documents of the index, with what the last of the reports says of them."""
    read = {row.relative for row in rows if row.own}
    left = [name for name in library.files() if name not in read]
    failures = {failure.path: failure for report in reports for failure in failures_of(report)}
    folder = library.folder.expanduser().resolve()
    found = [(name, failures.get(str(folder / name))) for name in left]
    return [Unread(name, failure.reason, failure.error) if failure else Unread(name) for name, failure in found]


def matching(rows: Sequence[Row], words: str = "", kind: str = "", topic: str | None = None) -> list[Row]:
    """Those of a kind and topic that hold every word in their name, title or tags."""
    wanted = fold(words).split()

    def fits(row: Row) -> bool:
        text = fold(" ".join((row.name, row.title, *row.tags)))
        return (
            (not kind or row.kind == kind)
            and (topic is None or row.topic == topic)
            and all(word in text for word in wanted)
        )

    return [row for row in rows if fits(row)]


def table(rows: Sequence[Row], texts: Texts, *, any_at_all: bool, may_remove: bool) -> str:
    """HTML; library.js reads the `data-` attributes."""
    if not rows:
        return f'<p class="hint">{escape(texts.none_fit if any_at_all else texts.none)}</p>'
    columns = (texts.document, texts.passages, texts.characters, texts.size, texts.date, texts.tags, "")
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(_row(row, texts, may_remove=may_remove) for row in rows[:SHOWN])
    left = len(rows) - SHOWN
    more = f'<p class="hint">{escape(texts.more.format(count=f"{left:,}"))}</p>' if left > 0 else ""
    return f'<table class="documents"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}'


def about_topic(topic: str, title: str, texts: Texts) -> str:
    """The way to a conversation about one topic, as HTML."""
    return f'<p class="about">{_ask(f"{topic}/", texts.ask_about_topic.format(topic=title), escape(title))}</p>'


def unread_list(files: Sequence[Unread], texts: Texts, *, may_remove: bool) -> str:
    """HTML; empty where all was read."""
    if not files:
        return ""
    items = "".join(_unread(file, texts, may_remove=may_remove) for file in files[:SHOWN])
    left = len(files) - SHOWN
    more = f'<li class="hint">{escape(texts.more.format(count=f"{left:,}"))}</li>' if left > 0 else ""
    heading = f"{escape(texts.unread_heading)} ({len(files):,})"
    return f'<section class="unread"><h3>{heading}</h3><ul>{items}{more}</ul></section>'


def reader(name: str, row: Row | None, source: str | None, texts: Texts) -> str:
    """The source text of a document as it reads, without what it says of itself for programs."""
    back = f'<p><button type="button" data-action="back" class="quiet">← {escape(texts.back)}</button></p>'
    if source is None:
        return f'{back}<p class="hint">{escape(texts.gone)}</p>'
    source = FRONT_MATTER.sub("", source)
    shown = source[:READ_CHARACTERS]
    note = ""
    if len(shown) < len(source):
        told = texts.shortened.format(shown=f"{len(shown):,}", total=f"{len(source):,}")
        note = f'<p class="hint">{escape(told)}</p>'
    title = row.title if row is not None and row.title else name
    return (
        f'{back}<article class="reader"><h3>{escape(title)}</h3><p class="path">{escape(name)}</p>{note}'
        f'<div class="text readable" tabindex="0">{readable([(shown, ())], lambda markers, html: html)}</div></article>'
    )


def bytes_text(size: int) -> str:
    """
    >>> bytes_text(12), bytes_text(4_300), bytes_text(64_000_000)
    ('12 B', '4 kB', '64.0 MB')
    """
    if size < 1_000:
        return f"{size} B"
    return f"{size / 1_000:,.0f} kB" if size < 1_000_000 else f"{size / 1e6:,.1f} MB"


def _unread(file: Unread, texts: Texts, *, may_remove: bool) -> str:
    name = escape(file.relative)
    why = why_unread(file.reason, texts) if file.reason is not None else texts.unread_yet
    action = _button("discard", name, texts.remove, name) if may_remove else ""
    return f'<li><span><b>{name}</b> <span title="{escape(file.error)}">{escape(why)}</span></span>{action}</li>'


def _row(row: Row, texts: Texts, *, may_remove: bool) -> str:
    marks = f'<span class="mark">{escape(texts.own)}</span>' if row.own else ""
    if row.stale:
        marks += f'<span class="mark problem" title="{escape(texts.stale_hint)}">{escape(texts.stale)}</span>'
    if row.same_as:
        marks += f'<span class="mark">{escape(texts.same_as.format(other=row.same_as))}</span>'
    name, title = escape(row.name), escape(row.title or row.name)
    actions = _ask(row.name, texts.ask_about, title) + _button("read", name, texts.read, title)
    if row.own and may_remove:
        actions += _button("remove", name, texts.remove, title)
    cells = (
        (texts.passages, f"{row.passages:,}"),
        (texts.characters, f"{row.characters:,}"),
        (texts.size, bytes_text(row.size)),
        (texts.date, f"{row.changed:%Y-%m-%d}" if row.changed else "–"),
    )
    numbers = "".join(f'<td data-label="{escape(label)}">{escape(text)}</td>' for label, text in cells)
    tags = "".join(f'<span class="tag">{escape(tag)}</span>' for tag in row.tags)
    return (
        f'<tr><th scope="row">{title}{marks}<span class="path">{name}</span></th>{numbers}'
        f'<td class="tags" data-label="{escape(texts.tags)}">{tags}</td><td class="actions">{actions}</td></tr>'
    )


def _ask(name: str, label: str, title: str) -> str:
    """Begins a conversation that is answered from this alone; the scripts of the chat take it, see clicks.js. `title`
    is HTML."""
    return (
        f'<button type="button" class="do-about-0" data-rest="{escape(name)}" aria-label="{escape(label)}: {title}">'
        f"{escape(label)}</button>"
    )


def _button(action: str, name: str, label: str, title: str) -> str:
    return (
        f'<button type="button" data-action="{action}" data-name="{name}" aria-label="{escape(label)}: {title}">'
        f"{escape(label)}</button>"
    )


def _changed(root: Path, relative: str) -> datetime | None:
    """When a file was; the root may be the file itself."""
    try:
        return datetime.fromtimestamp((root / relative if root.is_dir() else root).stat().st_mtime).astimezone()
    except (OSError, ValueError):
        return None

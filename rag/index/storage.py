"""Documents and passages of one generation in SQLite, written once and then only read."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import TypeAdapter

from rag.errors import IndexCorruptError
from rag.language.terms import simplified, terms
from rag.text.blocks import Block, BlockKind
from rag.text.mapped import MappedText, Piece
from rag.text.page import Outline
from rag.types import Passage, Place

SCHEMA = """
CREATE TABLE documents (
    id INTEGER PRIMARY KEY, root INTEGER NOT NULL, relative TEXT NOT NULL, name TEXT NOT NULL UNIQUE,
    title TEXT NOT NULL, sha256 TEXT NOT NULL, size INTEGER NOT NULL, stale INTEGER NOT NULL, tags TEXT NOT NULL,
    asked_as TEXT NOT NULL, source TEXT NOT NULL, pages TEXT NOT NULL, outline TEXT NOT NULL
) STRICT;
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, document INTEGER NOT NULL REFERENCES documents (id), section TEXT NOT NULL,
    text TEXT NOT NULL, pieces TEXT NOT NULL, blocks TEXT NOT NULL, header TEXT NOT NULL, embedding_key TEXT NOT NULL,
    fingerprint BLOB NOT NULL, number INTEGER UNIQUE, same_as INTEGER
) STRICT;
CREATE TABLE questions (
    document INTEGER NOT NULL REFERENCES documents (id), heading TEXT NOT NULL, terms TEXT NOT NULL
) STRICT;
CREATE INDEX questions_of_document ON questions (document);
CREATE INDEX passages_of_document ON passages (document);
CREATE INDEX repeats ON passages (same_as) WHERE same_as IS NOT NULL;
"""

# Values per list in an SQLite query.
NAMES_AT_ONCE = 500
# Passages that are remembered; some 5 kB each. An answer reads some 250, those of the pages that it may quote.
PASSAGES_KEPT = 2_048
# Outlines that are remembered; some 8 kB of JSON each.
OUTLINES_KEPT = 64
_OUTLINES = TypeAdapter(Outline)
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A passage as stored.

    Among duplicate passages, one has a `number` (its row in the vectors and keywords); the others name it in
    `same_as`. `fingerprint` identifies duplicates; it is empty if not yet computed.
    """

    section: tuple[str, ...]
    content: MappedText
    header: str
    embedding_key: str
    fingerprint: bytes = b""
    number: int | None = None
    same_as: int | None = None
    blocks: tuple[Block, ...] = ()

    @property
    def embedded_text(self) -> str:
        return embedded_text(self.header, self.content.text)


def embedded_text(header: str, text: str) -> str:
    """The text to embed: the heading path, then the passage, in simplified script."""
    return simplified(f"{header}\n{text}" if header else text)


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A document's file. `root` is the number of its root in the manifest; `relative` its path below that root;
    `sha256` the hash of its bytes."""

    root: int
    relative: str
    name: str
    sha256: str
    stale: bool

    @property
    def key(self) -> tuple[int, str]:
        return self.root, self.relative


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    """A document as lists show it. `english` is its title in English, empty if it has none; `size` is the file's in
    bytes; `characters` counts its source text."""

    root: int
    relative: str
    name: str
    title: str
    size: int
    stale: bool
    tags: tuple[str, ...]
    characters: int
    passages: int
    english: str = ""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as stored. `pages` are the offsets in `source` at which its pages begin, if it has pages; `questions`
    the terms of the questions that its sections answer, by heading. The blocks of its passages name sections of its
    `outline`."""

    root: int
    relative: str
    name: str
    title: str
    sha256: str
    size: int
    stale: bool
    tags: tuple[str, ...]
    asked_as: tuple[str, ...]
    source: str
    passages: tuple[StoredPassage, ...] = ()
    pages: tuple[int, ...] = ()
    questions: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    outline: Outline = field(default_factory=Outline)

    @property
    def entry(self) -> DocumentEntry:
        return DocumentEntry(self.root, self.relative, self.name, self.sha256, self.stale)

    def keyword_terms(self, passage: StoredPassage) -> tuple[str, ...]:
        """The terms that keyword search indexes for a passage of this document: its embedded text, plus any tags and
        alternative names of the document that the text lacks, so that they also find passages deep in a page."""
        embedded = passage.embedded_text
        names = (simplified(name) for name in (*self.tags, *self.asked_as))
        return tuple(chain(terms(embedded), *(terms(name) for name in names if name not in embedded)))


def write_storage(file: Path, documents: Iterable[StoredDocument]) -> None:
    """Write a new database. The file must not exist."""
    connection = sqlite3.connect(file)
    try:
        # If anything fails, the whole file is discarded; a journal would only cost time.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.executescript(SCHEMA)
        for number, document in enumerate(documents):
            connection.execute(
                "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (number, document.root, document.relative, document.name, document.title, document.sha256,
                 document.size, int(document.stale), as_json(document.tags), as_json(document.asked_as),
                 document.source, as_json(document.pages), outline_json(document.outline)),
            )  # fmt: skip
            connection.executemany(
                "INSERT INTO questions VALUES (?, ?, ?)",
                [
                    (number, name, " ".join(asked))
                    for name, questions in document.questions.items()
                    for asked in questions
                ],
            )
            connection.executemany(
                "INSERT INTO passages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (number, as_json(p.section), p.content.text, as_json(p.content.pieces), as_json(p.blocks), p.header,
                     p.embedding_key, p.fingerprint, p.number, p.same_as)
                    for p in document.passages
                ],
            )  # fmt: skip
        connection.commit()
    finally:
        connection.close()


class Storage:
    """Reads one generation's database. Safe to use from several threads."""

    def __init__(self, file: Path) -> None:
        # immutable: SQLite takes no locks and writes nothing beside the file.
        self._connection = sqlite3.connect(
            f"file:{quote(str(file))}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self._lock = threading.Lock()
        self._kept: dict[int, Passage] = {}

    def close(self) -> None:
        self._connection.close()

    def __del__(self) -> None:
        # A replaced index closes when its last reader releases it.
        if hasattr(self, "_connection"):
            self._connection.close()

    def _rows(self, query: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection.execute(query, parameters).fetchall()
            except sqlite3.DatabaseError as error:
                raise IndexCorruptError(
                    f"the passage store cannot be read: {error}", hint="rebuild it: python -m ingest --rebuild"
                ) from error

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        """Passages by number, in the order asked for. Those read last are remembered."""
        found = {number: passage for number in numbers if (passage := self._kept.get(number))}
        missing = [number for number in dict.fromkeys(numbers) if number not in found]
        if missing:
            read = self._read_passages(missing)
            found |= read
            with self._lock:
                self._kept |= read
                for number in list(islice(self._kept, max(0, len(self._kept) - PASSAGES_KEPT))):
                    del self._kept[number]
        return [found[number] for number in numbers]

    def _read_passages(self, numbers: Sequence[int]) -> dict[int, Passage]:
        marks = ",".join("?" * len(numbers))
        rows = self._rows(
            "SELECT p.number, d.name, d.title, p.section, p.text, p.pieces, p.blocks"
            " FROM passages p JOIN documents d ON d.id = p.document"
            f" WHERE p.number IN ({marks})",
            list(numbers),
        )
        repeats: dict[int, list[Place]] = {}
        for same_as, name, pieces in self._rows(
            "SELECT p.same_as, d.name, p.pieces FROM passages p JOIN documents d ON d.id = p.document"
            f" WHERE p.same_as IN ({marks}) ORDER BY p.id",
            list(numbers),
        ):
            spans = MappedText("", pieces_of(pieces)).spans
            repeats.setdefault(same_as, []).append(Place(name, spans[0][0], spans[-1][1]))
        return {passage.number: passage for passage in self._passages(rows, repeats)}

    def repeats(self, numbers: Sequence[int]) -> list[Passage]:
        """The duplicates of these passages, under the numbers of the originals."""
        rows = self._rows(
            "SELECT p.same_as, d.name, d.title, p.section, p.text, p.pieces, p.blocks"
            " FROM passages p JOIN documents d ON d.id = p.document"
            f" WHERE p.same_as IN ({','.join('?' * len(numbers))}) ORDER BY p.id",
            list(numbers),
        )
        return self._passages(rows, {})

    def document_numbers(self, name: str) -> list[int]:
        """Numbers of a document's passages, in order; a duplicate counts as the passage it repeats."""
        rows = self._rows(
            "SELECT coalesce(p.number, p.same_as) FROM passages p JOIN documents d ON d.id = p.document"
            " WHERE d.name = ? ORDER BY p.id",
            [name],
        )
        return [number for (number,) in rows]

    def numbers_of(self, names: Sequence[str]) -> list[int]:
        """Numbers of the passages of several documents, each once, in no order."""
        found: set[int] = set()
        for begin in range(0, len(names), NAMES_AT_ONCE):
            some = list(names[begin : begin + NAMES_AT_ONCE])
            rows = self._rows(
                "SELECT coalesce(p.number, p.same_as) FROM passages p JOIN documents d ON d.id = p.document"
                f" WHERE d.name IN ({','.join('?' * len(some))})",
                some,
            )
            found.update(number for (number,) in rows)
        return list(found)

    def embedded_texts(self, numbers: Sequence[int]) -> dict[int, tuple[str, str]]:
        """Embedding key and embedded text of each passage, by number."""
        rows = self._rows(
            "SELECT number, embedding_key, header, text FROM passages"
            f" WHERE number IN ({','.join('?' * len(numbers))})",
            list(numbers),
        )
        return {number: (key, embedded_text(header, text)) for number, key, header, text in rows}

    def entries(self) -> list[DocumentEntry]:
        """All documents in order of name, without their contents."""
        rows = self._rows("SELECT root, relative, name, sha256, stale FROM documents ORDER BY id")
        return [
            DocumentEntry(root, relative, name, digest, bool(stale)) for root, relative, name, digest, stale in rows
        ]

    def documents(self, *, with_passages: bool = False) -> list[StoredDocument]:
        """All documents in order of name; with passages only if the caller is going to write them again."""
        passages: dict[object, list[StoredPassage]] = {}
        if with_passages:
            for document, section, text, pieces, blocks, header, key, fingerprint, number, same_as in self._rows(
                "SELECT document, section, text, pieces, blocks, header, embedding_key, fingerprint, number, same_as"
                " FROM passages ORDER BY id"
            ):
                path, content, read = tuple(json.loads(section)), MappedText(text, pieces_of(pieces)), blocks_of(blocks)
                passages.setdefault(document, []).append(
                    StoredPassage(path, content, header, key, fingerprint, number, same_as, read)
                )
        rows = self._rows(
            "SELECT id, root, relative, name, title, sha256, size, stale, tags, asked_as, source, pages, outline"
            " FROM documents ORDER BY id"
        )
        return [
            StoredDocument(
                root, relative, name, title, sha256, size, bool(stale), tuple(json.loads(tags)),
                tuple(json.loads(asked_as)), source, tuple(passages.get(number, ())), tuple(json.loads(pages)),
                self.questions(name) if with_passages else {}, outline_of(outline),
            )
            for number, root, relative, name, title, sha256, size, stale, tags, asked_as, source, pages, outline in rows
        ]  # fmt: skip

    def summaries(self) -> list[DocumentSummary]:
        """All documents in order of name, with content sizes."""
        rows = self._rows(
            "SELECT d.root, d.relative, d.name, d.title, d.size, d.stale, d.tags, length(d.source), count(p.id),"
            " coalesce(json_extract(d.outline, '$.english'), '')"
            " FROM documents d LEFT JOIN passages p ON p.document = d.id GROUP BY d.id ORDER BY d.id"
        )
        return [
            DocumentSummary(
                root, relative, name, title, size, bool(stale), tuple(json.loads(tags)), characters, passages, english
            )
            for root, relative, name, title, size, stale, tags, characters, passages, english in rows
        ]  # fmt: skip

    def names(self, most: int) -> list[str]:
        """Names of documents and sections: titles, tags, other ways to ask, headings."""
        rows = self._rows("SELECT title, tags, asked_as FROM documents ORDER BY id LIMIT ?", [most])
        names = [row[0] for row in rows]
        names += [name for row in rows for listed in row[1:] for name in json.loads(listed)]
        rows = self._rows("SELECT DISTINCT section FROM passages ORDER BY id LIMIT ?", [most])
        return names + [path[-1] for row in rows if (path := json.loads(row[0]))]

    def texts(self, most: int) -> list[str]:
        """The texts of the first passages."""
        return [row[0] for row in self._rows("SELECT text FROM passages ORDER BY id LIMIT ?", [most])]

    def known_as(self, name: str) -> tuple[str, ...]:
        """A document's title and other ways to ask for it; empty if there is no such document."""
        rows = self._rows("SELECT title, asked_as FROM documents WHERE name = ?", [name])
        return tuple(n for title, asked_as in rows for n in (title, *json.loads(asked_as)))

    def questions(self, name: str) -> dict[str, tuple[tuple[str, ...], ...]]:
        """The terms of the questions that a document's sections answer, by heading."""
        rows = self._rows(
            "SELECT q.heading, q.terms FROM questions q JOIN documents d ON d.id = q.document WHERE d.name = ?"
            " ORDER BY q.rowid",
            [name],
        )
        found: dict[str, tuple[tuple[str, ...], ...]] = {}
        for heading, asked in rows:
            found[heading] = (*found.get(heading, ()), tuple(asked.split(" ")))
        return found

    def all_questions(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Document, heading and terms of every question, the questions of a section together."""
        rows = self._rows(
            "SELECT d.name, q.heading, q.terms FROM questions q JOIN documents d ON d.id = q.document"
            " ORDER BY d.id, q.heading, q.rowid"
        )
        return [(name, heading, tuple(asked.split(" "))) for name, heading, asked in rows]

    def source(self, name: str) -> str | None:
        """The source text of a document; None if there is no such document."""
        rows = self._rows("SELECT source FROM documents WHERE name = ?", [name])
        return str(rows[0][0]) if rows else None

    def pages(self, name: str) -> tuple[int, ...]:
        """The offsets at which a document's pages begin; empty if it has no pages."""
        rows = self._rows("SELECT pages FROM documents WHERE name = ?", [name])
        return tuple(json.loads(rows[0][0])) if rows else ()

    def outline(self, name: str) -> Outline | None:
        """What was read of a document beside its passages; None if there is no such document."""
        rows = self._rows("SELECT outline FROM documents WHERE name = ?", [name])
        return outline_of(rows[0][0]) if rows else None

    def _passages(self, rows: Sequence[Sequence[Any]], also_in: Mapping[int, Sequence[Place]]) -> list[Passage]:
        sections = {name: (self.outline(name) or Outline()).sections for name in {row[1] for row in rows}}
        return [
            Passage(
                number, name, title, tuple(json.loads(section)), MappedText(text, pieces_of(pieces)),
                tuple(also_in.get(number, ())), read, tuple(sections[name][block.section] for block in read),
            )
            for number, name, title, section, text, pieces, blocks in rows
            for read in [blocks_of(blocks)]
        ]  # fmt: skip


def as_json(value: object) -> str:
    return _JSON.encode(value)


def pieces_of(text: str) -> tuple[Piece, ...]:
    return tuple(map(Piece._make, json.loads(text)))


def blocks_of(text: str) -> tuple[Block, ...]:
    return tuple(Block(start, end, BlockKind(kind), *others) for start, end, kind, *others in json.loads(text))


def outline_json(outline: Outline) -> str:
    return _OUTLINES.dump_json(outline, exclude_defaults=True).decode()


@lru_cache(OUTLINES_KEPT)
def outline_of(text: str) -> Outline:
    return _OUTLINES.validate_json(text)

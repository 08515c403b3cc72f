"""A part of an index, in whichever store it lives, to answer from some of its documents only. No search considers
passages outside the part, so those inside are ranked as if alone; word rarity still comes from the whole material.

Documents and folders ("alignment/") name a part, by their path below the root or with it.
"""

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rag.errors import UsageError
from rag.index.storage import DocumentEntry, DocumentSummary, StoredDocument
from rag.index.store import Index, Passages
from rag.text.page import Outline, SourcePage
from rag.types import Passage


@dataclass(frozen=True, kw_only=True)
class IndexPart(Index):
    """Searches the structures of the whole, restricted to `within`."""

    whole: Index

    def part(self, documents: Sequence[str]) -> Index:
        return self.whole.part(documents)


class PassagesOfPart:
    """The documents and passages of a part. Reads the storage of the whole, which stays open; attributes a passage that
    occurs in several documents to one of the part. `repeats` returns the duplicates of passages, under the numbers of
    the originals."""

    def __init__(
        self, whole: Passages, names: frozenset[str], repeats: Callable[[Sequence[int]], list[Passage]]
    ) -> None:
        self._whole = whole
        self._names = names
        self._repeats = repeats

    def close(self) -> None:
        """Whoever opened the whole closes it."""

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        found = self._whole.passages(numbers)
        outside = [passage.number for passage in found if passage.document not in self._names]
        inside: dict[int, Passage] = {}
        for repeat in self._repeats(outside) if outside else ():
            if repeat.document in self._names:
                inside.setdefault(repeat.number, repeat)
        given = [inside.get(passage.number, passage) for passage in found]
        return [
            replace(passage, also_in=tuple(place for place in passage.also_in if place.document in self._names))
            for passage in given
        ]

    def document_numbers(self, name: str) -> list[int]:
        return self._whole.document_numbers(name) if name in self._names else []

    def source(self, name: str) -> str | None:
        return self._whole.source(name) if name in self._names else None

    def known_as(self, name: str) -> tuple[str, ...]:
        return self._whole.known_as(name) if name in self._names else ()

    def all_questions(self) -> list[tuple[str, str, tuple[str, ...]]]:
        return [row for row in self._whole.all_questions() if row[0] in self._names]

    def documents(self, *, with_passages: bool = False) -> list[StoredDocument]:
        found = self._whole.documents(with_passages=with_passages)
        return [document for document in found if document.name in self._names]

    def summaries(self) -> list[DocumentSummary]:
        return [document for document in self._whole.summaries() if document.name in self._names]

    def entries(self) -> list[DocumentEntry]:
        return self._whole.entries()

    def names(self, most: int) -> list[str]:
        return self._whole.names(most)

    def texts(self, most: int) -> list[str]:
        return self._whole.texts(most)

    def pages(self, name: str) -> tuple[int, ...]:
        return self._whole.pages(name)

    def outline(self, name: str) -> Outline | None:
        return self._whole.outline(name) if name in self._names else None


def part_of(index: Index, only: Sequence[str]) -> Index:
    """The part that documents and folders name; without names, the index itself. Unknown names add nothing."""
    if not only:
        return index
    names = [*map(typed, only)]
    return index.part([entry.name for entry in index.storage.entries() if any(_is_in(entry, name) for name in names)])


def check_names(index: Index, only: Sequence[str]) -> None:
    """Raises UsageError for an unknown name."""
    entries = index.storage.entries() if only else []
    for name in only:
        if not any(_is_in(entry, typed(name)) for entry in entries):
            known = ", ".join(sorted({f"{entry.name.rpartition('/')[0]}/" for entry in entries if "/" in entry.name}))
            raise UsageError(
                f"there is no document or folder {name[:200]!r} in the index",
                hint="use the name of a document as in citations, or of a folder with a slash at the end"
                + (f": {known[:300]}" if known else ""),
            )


def source_of(index: Index, document: str) -> str | None:
    """The source text of a document by its name, or by one that looks the same; None if there is none."""
    return index.storage.source(_stored_name(index, document))


def page_of(index: Index, document: str) -> SourcePage | None:
    """The source text and outline of a document by its name, or by one that looks the same; None if there is none."""
    name = _stored_name(index, document)
    source = index.storage.source(name)
    return None if source is None else SourcePage(source, index.storage.outline(name) or Outline())


def _stored_name(index: Index, document: str) -> str:
    """The name of the document that looks the same; the name itself if there is none."""
    if document.isascii() or index.storage.source(document) is not None:
        return document
    name = typed(document)
    return next((entry.name for entry in index.storage.entries() if typed(entry.name) == name), document)


def typed(name: str) -> str:
    """A name as keyboards enter it. Some systems store an accent apart from its letter, which looks the same:

    >>> typed("cafe\u0301.md") == "café.md"
    True
    """
    return unicodedata.normalize("NFC", name)


def _is_in(entry: DocumentEntry, name: str) -> bool:
    names = typed(entry.name), typed(entry.relative)
    return any(own.startswith(name) for own in names) if name.endswith("/") else name in names

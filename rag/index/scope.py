"""A part of an index, to answer from some of its documents only. What is outside is no candidate of any search, so what
is inside is ranked as if it were alone; how rare a word is, the whole material says.

A part is named by documents and by folders ("alignment/"), below their root or with it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rag.errors import UsageError
from rag.index.generation import DiskIndex
from rag.index.storage import DocumentEntry, DocumentSummary, Storage, StoredDocument
from rag.index.store import Index
from rag.types import Passage

NAMES_AT_ONCE = 500


class StorageOfPart(Storage):
    """Reads the storage of the whole, which stays open; a passage that stands in several documents is given as one of
    the part."""

    def __init__(self, whole: Storage, names: frozenset[str]) -> None:
        self._whole = whole
        self._names = names

    def close(self) -> None:
        """The whole is closed by whoever opened it."""

    def _rows(self, query: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        return self._whole._rows(query, parameters)

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        found = super().passages(numbers)
        outside = [passage.number for passage in found if passage.document not in self._names]
        inside: dict[int, Passage] = {}
        for repeat in self.repeats(outside) if outside else ():
            if repeat.document in self._names:
                inside.setdefault(repeat.number, repeat)
        given = [inside.get(passage.number, passage) for passage in found]
        return [
            replace(passage, also_in=tuple(place for place in passage.also_in if place.document in self._names))
            for passage in given
        ]

    def document_numbers(self, name: str) -> list[int]:
        return super().document_numbers(name) if name in self._names else []

    def source(self, name: str) -> str | None:
        return super().source(name) if name in self._names else None

    def documents(self, *, with_passages: bool = False) -> list[StoredDocument]:
        found = super().documents(with_passages=with_passages)
        return [document for document in found if document.name in self._names]

    def summaries(self) -> list[DocumentSummary]:
        return [document for document in super().summaries() if document.name in self._names]


def part_of(index: Index, only: Sequence[str]) -> Index:
    """The part that documents and folders name; without names the index itself. Names of nothing add nothing."""
    if not only:
        return index
    if not isinstance(index, DiskIndex):
        raise UsageError(
            "some documents of an index can only be asked for where it lies in a folder",
            hint="ask all of it, or set `store` to embedded",
        )
    names = [entry.name for entry in index.storage.entries() if any(_is_in(entry, name) for name in only)]
    storage = StorageOfPart(index.storage, frozenset(names))
    within = np.unique(np.asarray(_numbers(storage, names), dtype=np.int64))
    return replace(index, storage=storage, within=within, whole=index)


def check_names(index: Index, only: Sequence[str]) -> None:
    """Raises UsageError for a name of nothing."""
    entries = index.storage.entries() if only else []
    for name in only:
        if not any(_is_in(entry, name) for entry in entries):
            known = ", ".join(sorted({f"{entry.name.rpartition('/')[0]}/" for entry in entries if "/" in entry.name}))
            raise UsageError(
                f"there is no document or folder {name[:200]!r} in the index",
                hint="name a document as citations do, or a folder with a slash at its end"
                + (f": {known[:300]}" if known else ""),
            )


def _is_in(entry: DocumentEntry, name: str) -> bool:
    if name.endswith("/"):
        return entry.name.startswith(name) or entry.relative.startswith(name)
    return name in (entry.name, entry.relative)


def _numbers(storage: Storage, names: Sequence[str]) -> list[int]:
    found: list[int] = []
    for begin in range(0, len(names), NAMES_AT_ONCE):
        found += storage.numbers_of(names[begin : begin + NAMES_AT_ONCE])
    return found

"""A part of an index, to answer from some of its documents only. No search considers passages outside the part, so
those inside are ranked as if alone; word rarity still comes from the whole material.

Documents and folders ("alignment/") name a part, by their path below the root or with it.
"""

import unicodedata
from collections.abc import Sequence

from rag.errors import UsageError
from rag.index.storage import DocumentEntry
from rag.index.store import Index


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
    source = index.storage.source(document)
    if source is not None or document.isascii():
        return source
    name = typed(document)
    same = next((entry.name for entry in index.storage.entries() if typed(entry.name) == name), None)
    return None if same is None else index.storage.source(same)


def typed(name: str) -> str:
    """A name as keyboards enter it. Some systems store an accent apart from its letter, which looks the same:

    >>> typed("cafe\u0301.md") == "café.md"
    True
    """
    return unicodedata.normalize("NFC", name)


def _is_in(entry: DocumentEntry, name: str) -> bool:
    names = typed(entry.name), typed(entry.relative)
    return any(own.startswith(name) for own in names) if name.endswith("/") else name in names

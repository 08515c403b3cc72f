"""A part of an index, to answer from some of its documents only. What is outside is no candidate of any search, so what
is inside is ranked as if it were alone; how rare a word is, the whole material says.

A part is named by documents and by folders ("alignment/"), below their root or with it.
"""

from collections.abc import Sequence

from rag.errors import UsageError
from rag.index.storage import DocumentEntry
from rag.index.store import Index


def part_of(index: Index, only: Sequence[str]) -> Index:
    """The part that documents and folders name; without names the index itself. Names of nothing add nothing."""
    if not only:
        return index
    return index.part([entry.name for entry in index.storage.entries() if any(_is_in(entry, name) for name in only)])


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

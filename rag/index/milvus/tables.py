"""The number of passages with each term and token: tables that grow by their changes.

A table is a list of parts; later ones override earlier ones. Parts are cached once read: their rows never change.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rag.errors import IndexCorruptError
from rag.index.milvus.connection import Connection
from rag.index.milvus.schema import MOST_BYTES, Table
from rag.index.storage import as_json

Entry = tuple[str | int, ...]
"""A key and its numbers."""

Parts = dict[int, list[Entry]]
"""What was read, by the number of its row."""

# A table is rewritten when it holds this many times its entries.
WORN = 2


def read_table(
    connection: Connection, parts: Sequence[int], consistency: str, kept: Parts
) -> dict[str | int, tuple[int, ...]]:
    """Its entries by key. Raises IndexCorruptError if a part is missing."""
    found: dict[str | int, tuple[int, ...]] = {}
    for entries in _read_parts(connection, parts, consistency, kept):
        found.update((key, tuple(map(int, values))) for key, *values in entries)
    return found


def write_parts(entries: Iterable[Entry]) -> Iterator[str]:
    """The entries as texts that each fit a row."""
    some: list[str] = []
    length = 2
    for entry in entries:
        text = as_json(entry)
        size = len(text.encode()) + 1
        if length + size > MOST_BYTES:
            yield f"[{','.join(some)}]"
            some, length = [], 2
        some.append(text)
        length += size
    if some:
        yield f"[{','.join(some)}]"


def changed_entries(
    before: Mapping[str | int, tuple[int, ...]], now: Mapping[str | int, tuple[int, ...]]
) -> list[Entry]:
    """What to add to a table: new and changed entries, in order of their keys."""
    return sorted((key, *values) for key, values in now.items() if before.get(key) != values)


def is_worn(written: int, entries: int) -> bool:
    return written > WORN * max(entries, 1)


def _read_parts(connection: Connection, parts: Sequence[int], consistency: str, kept: Parts) -> list[list[Entry]]:
    new = [part for part in parts if part not in kept]
    for row in connection.with_values(Table.PARTS, "id", new, ["data"], consistency):
        kept[int(row["id"])] = json.loads(row["data"])
    try:
        return [kept[part] for part in parts]
    except KeyError as error:
        raise IndexCorruptError(
            f"the index {connection.prefix} at {connection.uri} lacks part {error} of its tables",
            hint="write it again: python -m ingest --rebuild",
        ) from error

"""The collections of an index, and a check that existing ones fit.

passages    searched: one row per passage that is not a duplicate
documents   one row per document: what a list shows
parts       texts of any length in rows: sources, bodies of documents, token vectors, tables
state       the generations, the attempts to make one, and the writer
"""

import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any

from rag.errors import IndexMismatchError, StoreError
from rag.index.milvus.connection import Connection

# A row's longest text, in UTF-8 bytes.
MOST_BYTES = 65_535
# A collection must have a vector; in an unsearched one it is a dummy.
NOTHING = [1.0, 0.0]


class Table(StrEnum):
    """A collection."""

    PASSAGES = "passages"
    DOCUMENTS = "documents"
    PARTS = "parts"
    STATE = "state"


NUMBERS = {
    Table.PASSAGES: ("generation", "document", "place", "length"),
    Table.DOCUMENTS: ("generation", "document", "size", "stale", "characters", "passages", "numbered", "root"),
    Table.PARTS: ("generation", "document", "owner", "place"),
    Table.STATE: ("number",),
}
TEXTS = {
    Table.PASSAGES: ("record", "counts"),
    Table.DOCUMENTS: ("name", "relative", "record", "digest"),
    Table.PARTS: ("kind", "data"),
    Table.STATE: ("kind", "data"),
}
SPARSE = {Table.PASSAGES: ("terms",), Table.DOCUMENTS: (), Table.PARTS: (), Table.STATE: ()}
# Fields to look rows up by, beside their keys.
LOOKED_UP = {
    Table.PASSAGES: ("document",),
    Table.DOCUMENTS: ("name", "document"),
    Table.PARTS: ("owner", "document"),
    Table.STATE: (),
}
LOOKED_UP_WITH = "INVERTED"
# The first version with sparse vectors. An older one accepts a collection with them, and crashes when loading it.
OLDEST = (2, 4)
VERSION = re.compile(r"(\d+)\.(\d+)")


def create_missing(connection: Connection, tables: Iterable[Table], dimension: int | None = None) -> None:
    """Create missing collections, and indexes that a killed process did not get to. Raises StoreError if the server is
    too old, IndexMismatchError as `require_schema` does."""
    tables = list(tables)
    there = [table for table in tables if connection.has(table)]
    if len(there) < len(tables):
        require_version(connection)
    require_schema(connection, dimension, there)
    for table in tables:
        make = _maker(table, dimension or 0)
        if table not in there:
            connection.create(table, make)
        connection.complete(table, make)


def require_version(connection: Connection) -> None:
    version = connection.version()
    found = VERSION.search(version)  # a service may report no version, and has them
    if found and tuple(map(int, found.groups())) < OLDEST:
        raise StoreError(
            f"the Milvus server at {connection.uri} has version {version}; an index needs sparse vectors, which came "
            f"with {'.'.join(map(str, OLDEST))}",
            hint="upgrade the server, set `milvus_uri` to a newer one, or set `store` to embedded",
        )


def require_schema(connection: Connection, dimension: int | None, tables: Iterable[Table] = Table) -> None:
    """Raise IndexMismatchError if a collection lacks a field of ours, or its vectors have another dimension."""
    hint = "set `milvus_prefix` to a name that is free, then: python -m ingest"
    for table in tables:
        fields = connection.fields(table)
        wanted = {"id", "vector", *NUMBERS[table], *TEXTS[table], *SPARSE[table]}
        lacking = sorted(wanted - fields.keys())
        if lacking:
            raise IndexMismatchError(
                f"the collection {connection.name(table)} at {connection.uri} has no field {lacking[0]!r}: "
                "another program or another version of this one made it",
                hint=hint,
            )
        has = int(fields["vector"]["params"]["dim"])
        if table is Table.PASSAGES and dimension not in (None, has):
            raise IndexMismatchError(
                f"the collection {connection.name(table)} at {connection.uri} holds vectors of {has} numbers, the "
                f"embedder makes {dimension}",
                hint=hint,
            )


def _maker(table: Table, dimension: int) -> Callable[[Any], tuple[Any, Any]]:
    def make(client: Any) -> tuple[Any, Any]:
        from pymilvus import DataType

        schema = client.create_schema(auto_id=False, enable_dynamic_field=False)
        if table is Table.STATE:
            schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=512)
        else:
            schema.add_field("id", DataType.INT64, is_primary=True)
        for name in NUMBERS[table]:
            schema.add_field(name, DataType.INT64)
        for name in TEXTS[table]:
            schema.add_field(name, DataType.VARCHAR, max_length=MOST_BYTES)
        indexes = client.prepare_index_params()
        width = dimension if table is Table.PASSAGES else len(NOTHING)
        schema.add_field("vector", DataType.FLOAT_VECTOR, dim=width)
        indexes.add_index("vector", index_type="FLAT", metric_type="IP")
        for name in SPARSE[table]:
            schema.add_field(name, DataType.SPARSE_FLOAT_VECTOR)
            indexes.add_index(name, index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
        for name in LOOKED_UP[table]:
            indexes.add_index(name, index_type=LOOKED_UP_WITH)
        return schema, indexes

    return make

"""The store without sparse vectors, for the promises that a server which is too old for them can still be held to:
one writer, whole generations, nothing lost, nothing left over. What is missing is the search by keywords."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from rag.index.milvus import schema
from rag.index.milvus.connection import Connection, Row


@contextmanager
def without_sparse_vectors() -> Iterator[None]:
    """Within the block, collections of passages have no terms, whatever the version of the server."""
    insert = Connection.insert

    def without_terms(connection: Connection, collection: str, rows: Sequence[Row]) -> None:
        insert(connection, collection, [{name: said for name, said in row.items() if name != "terms"} for row in rows])

    with (
        patch.object(schema, "OLDEST", (0, 0)),
        patch.object(schema, "SPARSE", dict.fromkeys(schema.Table, ())),
        patch.object(schema, "LOOKED_UP_WITH", ""),  # the server names its own kinds of index
        patch.object(Connection, "insert", without_terms),
    ):
        yield

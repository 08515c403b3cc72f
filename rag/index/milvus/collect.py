"""Deletes rows that no generation needs any more, so that nothing of a removed document stays in the store."""

import contextlib
import json
import time
from collections.abc import Sequence

from rag.errors import IndexCorruptError
from rag.index.milvus.connection import Connection, batches
from rag.index.milvus.generations import ATTEMPT, GENERATION, Generation, read_generation
from rag.index.milvus.lease import Lease
from rag.index.milvus.schema import Table

# Documents last: while one remains, the next run knows that its other rows may too.
ORDER = (Table.PARTS, Table.PASSAGES, Table.DOCUMENTS)


def sweep(connection: Connection, lease: Lease) -> None:
    """Delete the rows of writers that were killed before they published."""
    if lease.aborted:
        _delete(connection, "generation", lease.aborted)


def collect(connection: Connection, live: Generation, *, grace: float) -> None:
    """Delete what the live generation does not see and readers have had `grace` seconds to release."""
    now = time.time()
    gone = [hidden.document for hidden in live.hidden if hidden.since + grace <= now]
    if gone:
        _delete(connection, "document", gone)
    if live.published + grace > now:
        return
    rows = connection.query(Table.STATE, f'kind == "{GENERATION}" and number < {live.number}', ["number", "data"])
    for number in sorted(int(row["number"]) for row in rows):
        _collect_record(connection, number, live)
    if rows:
        # Everything from before the last full rewrite, with its tables.
        for table in ORDER:
            connection.delete(table, f"generation < {live.since}")
        connection.delete(Table.STATE, f'kind == "{ATTEMPT}" and number < {live.since}')


def _collect_record(connection: Connection, number: int, live: Generation) -> None:
    """Delete an earlier generation's record and its tables that the live one does not use."""
    (row,) = connection.query(Table.STATE, f'id == "{GENERATION}/{number}"', ["data"])
    with contextlib.suppress(IndexCorruptError):  # records go last, so its tables are already gone
        earlier = read_generation(connection, number)
        tables = {*earlier.terms, *earlier.tokens, *earlier.codec} - {*live.terms, *live.tokens, *live.codec}
        _delete_keys(connection, sorted(tables))
    _delete_keys(connection, json.loads(row["data"])["parts"])
    # Attempt first: alone it would look like one that published nothing.
    connection.delete(Table.STATE, f'id in ["{ATTEMPT}/{number}"]')
    connection.delete(Table.STATE, f'id in ["{GENERATION}/{number}"]')


def _delete(connection: Connection, field: str, values: Sequence[int]) -> None:
    for table in filter(connection.has, ORDER):
        for some in batches(values):
            connection.delete(table, f"{field} in {some}")


def _delete_keys(connection: Connection, keys: Sequence[int]) -> None:
    for some in batches(keys):
        connection.delete(Table.PARTS, f"id in {some}")

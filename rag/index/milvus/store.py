"""The store in a Milvus server: opens the live generation, and detects a newer one."""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rag.errors import IndexCorruptError, IndexMismatchError, StoreError
from rag.index.manifest import FORMAT
from rag.index.milvus.connection import BOUNDED, Connection
from rag.index.milvus.documents import MilvusDocuments, read_part
from rag.index.milvus.generations import SCHEMA, Generation, live_number, require_live
from rag.index.milvus.keywords import MilvusKeywords
from rag.index.milvus.records import joined_bytes
from rag.index.milvus.rows import RowCaches, RowReader
from rag.index.milvus.schema import Table, require_schema
from rag.index.milvus.tables import read_table
from rag.index.milvus.vectors import MilvusTokens, MilvusVectors
from rag.index.part import PassagesOfPart
from rag.index.store import Index
from rag.index.tokens import TokenCodec
from rag.settings import Settings

logger = logging.getLogger(__name__)

# Seconds between checks for a new generation.
LOOKED = 1.0


@dataclass(frozen=True, kw_only=True)
class MilvusIndex(Index):
    """An open generation in the server, whose rows stay for `milvus_grace` seconds after its replacement."""

    generation: Generation
    reader: RowReader
    keywords: MilvusKeywords
    tokens: MilvusTokens | None = None

    def part(self, documents: Sequence[str]) -> Index:
        part = read_part(self.reader, documents)
        inside = self.reader.narrowed(part.condition)
        storage = PassagesOfPart(self.storage, frozenset(documents), part.repeats_of)
        keywords = self.keywords.narrowed(inside)
        return replace(self, storage=storage, vectors=MilvusVectors(inside), keywords=keywords, whole=self)


class MilvusStore:
    """Safe to use from several threads. Connects on first use."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._connection: Connection | None = None
        self._connecting = threading.Lock()
        self._caches = RowCaches()
        self._looked = -LOOKED

    @property
    def connection(self) -> Connection:
        with self._connecting:
            if self._connection is None:
                self._connection = Connection(self._settings)
            return self._connection

    def is_there(self) -> bool:
        return live_number(self.connection) is not None

    def open(self, *, embedder: str | None = None) -> MilvusIndex:
        while True:
            generation = require_live(self.connection)
            try:
                return open_generation(self.connection, generation, self._caches, embedder)
            except IndexCorruptError:
                if live_number(self.connection) == generation.number:
                    raise
                # It was replaced and collected during opening.

    def reopen(self, index: Index) -> Index:
        now = time.monotonic()
        if now < self._looked + LOOKED:
            return index
        self._looked = now
        try:
            live = live_number(self.connection, BOUNDED)
            if live is None or (isinstance(index, MilvusIndex) and live <= index.generation.number):
                return index
            return self.open(embedder=index.manifest.embedder)
        except StoreError as error:
            logger.warning("%s; the open generation goes on answering", error.message)
            return index


def open_generation(
    connection: Connection, generation: Generation, caches: RowCaches, embedder: str | None = None
) -> MilvusIndex:
    """Open a generation after checking that it is complete. Raises IndexCorruptError or IndexMismatchError."""
    manifest = generation.manifest
    if generation.schema_version != SCHEMA or manifest.format != FORMAT:
        raise IndexMismatchError(
            f"the index {connection.prefix} at {connection.uri} has format "
            f"{generation.schema_version}.{manifest.format}, this program reads {SCHEMA}.{FORMAT}",
            hint="set `milvus_prefix` to a name that is free, then: python -m ingest",
        )
    if embedder is not None and manifest.embedder != embedder:
        raise IndexMismatchError(
            f"the index {connection.prefix} at {connection.uri} was made with embedder {manifest.embedder!r}, the "
            f"settings name {embedder!r}",
            hint="set `embedder` back, or: python -m ingest --rebuild",
        )
    require_schema(connection, manifest.dimension)
    require_whole(connection, generation)
    reader = RowReader(connection, generation, caches)
    consistency = reader.consistency
    for part in caches.tables.keys() - {*generation.terms, *generation.tokens}:
        caches.tables.pop(part, None)
    terms = read_table(connection, generation.terms, consistency, caches.tables)
    return MilvusIndex(
        manifest=manifest.model_copy(update={"generation": generation.number}),
        storage=MilvusDocuments(reader),
        vectors=MilvusVectors(reader),
        keywords=MilvusKeywords(reader, {str(term): (values[0], values[1]) for term, values in terms.items()}),
        tokens=_tokens(reader, caches) if generation.codec else None,
        manifest_sha256=f"{generation.mirrors}-{generation.number}",
        generation=generation,
        reader=reader,
    )


def require_whole(connection: Connection, generation: Generation) -> None:
    """Raise IndexCorruptError unless the server has as many rows of the generation as were published."""
    for table, expected in generation.rows.items():
        there = connection.count(table, generation.visible)
        if there != expected:
            raise IndexCorruptError(
                f"the server has {there:,} of {expected:,} rows of {connection.name(table)} in generation "
                f"{generation.number} at {connection.uri}",
                hint="write it again: python -m ingest --rebuild",
            )


def _tokens(reader: RowReader, caches: RowCaches) -> MilvusTokens:
    generation = reader.generation
    found = {
        row["id"]: row["data"]
        for row in reader.connection.with_values(Table.PARTS, "id", generation.codec, ["data"], reader.consistency)
    }
    numbers = np.frombuffer(joined_bytes([found[part] for part in generation.codec]), np.float32)
    dimension = generation.manifest.dimension
    rotation, centre = np.split(numbers, [dimension * dimension])
    table = read_table(reader.connection, generation.tokens, reader.consistency, caches.tables)
    entries = sorted((int(token), values[0]) for token, values in table.items() if values[0])
    vocabulary, frequencies = np.asarray(entries, np.int32).reshape(-1, 2).T
    codec = TokenCodec(rotation.reshape(dimension, dimension), centre)
    return MilvusTokens(reader, codec, np.ascontiguousarray(vocabulary), np.ascontiguousarray(frequencies))

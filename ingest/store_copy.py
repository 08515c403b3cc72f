"""Syncs the index in a Milvus server with the folder that an ingest works in, both ways.

The folder is a working copy. If another writer has published since, the store's generation is first written into the
folder, as if made there; afterwards the run's changes go to the store.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from rag.errors import IndexCorruptError, IndexMismatchError
from rag.index.generation import (
    KEYWORDS,
    STORAGE_FILE,
    TOKENS,
    current_generation,
    live_manifest,
    new_generation,
    open_index,
    save_words,
)
from rag.index.generation import publish as publish_on_disk
from rag.index.keywords import KeywordIndex
from rag.index.manifest import FrozenModel
from rag.index.milvus.collect import collect, sweep
from rag.index.milvus.connection import Connection
from rag.index.milvus.generations import Generation, read_live
from rag.index.milvus.lease import Lease, writing
from rag.index.milvus.publish import publish
from rag.index.milvus.rows import RowCaches
from rag.index.milvus.schema import Table, create_missing
from rag.index.milvus.store import MilvusIndex, open_generation
from rag.index.storage import StoredDocument, write_storage
from rag.index.tokens import save_tokens
from rag.index.vectors import save_vectors
from rag.settings import Settings

logger = logging.getLogger(__name__)

STATE_FILE = "store.json"


class StoreState(FrozenModel):
    """The store's index and generation that the folder equalled, and its manifest."""

    uri: str
    prefix: str
    generation: int
    manifest_sha256: str


class StoreCopy:
    """The folder and the store, while only this process may write to either."""

    def __init__(self, settings: Settings, connection: Connection, lease: Lease, *, rebuild: bool) -> None:
        self._settings = settings
        self._connection = connection
        self._lease = lease
        self._rebuild = rebuild
        self._live = self._read_live()

    def _read_live(self) -> Generation | None:
        try:
            return read_live(self._connection)
        except IndexCorruptError as error:
            if not self._rebuild:
                raise
            logger.warning("%s; it is written again from the folder", error.message)
            return None

    def fetch(self, identity: str) -> None:
        """Write the store's generation into the folder, unless the folder holds it or derives from it."""
        live = self._live
        if live is None or self._comes_from(live):
            return
        if live.manifest.embedder != identity and not self._rebuild:
            raise IndexMismatchError(
                f"the index {self._connection.prefix} at {self._connection.uri} was made with embedder "
                f"{live.manifest.embedder!r}, the settings name {identity!r}",
                hint="set `embedder` back, or: python -m ingest --rebuild",
            )
        logger.info("another writer has published generation %d; it is fetched first", live.number)
        try:
            index = open_generation(self._connection, live, RowCaches())
        except IndexCorruptError as error:
            if not self._rebuild:
                raise
            logger.warning("%s; it is written again from the folder", error.message)
            return
        _write(self._settings.index, index)
        self._remember(live)

    def publish(self) -> None:
        """Sync the store with the folder, and delete what no generation needs any more."""
        if self._live is None or self._live.mirrors != live_manifest(self._settings.index):
            with closing(open_index(self._settings.index)) as index:
                base = None if self._rebuild else self._live
                self._live = publish(self._connection, self._lease, base, index)
        self._remember(self._live)
        collect(self._connection, self._live, grace=self._settings.milvus_grace)

    def _comes_from(self, live: Generation) -> bool:
        """Whether the folder holds the live generation, or what this process or an earlier one made from it."""
        if live.mirrors == live_manifest(self._settings.index):
            return True
        try:
            known = StoreState.model_validate_json((self._settings.index / STATE_FILE).read_bytes())
        except (OSError, ValidationError):
            return False
        if current_generation(self._settings.index) is None:
            return False
        here = (self._connection.uri, self._connection.prefix, live.number)
        return here == (known.uri, known.prefix, known.generation)

    def _remember(self, live: Generation) -> None:
        known = StoreState(
            uri=self._connection.uri,
            prefix=self._connection.prefix,
            generation=live.number,
            manifest_sha256=live_manifest(self._settings.index) or "",
        )
        temporary = self._settings.index / f"{STATE_FILE}.new"
        temporary.write_text(known.model_dump_json(), encoding="utf-8")
        temporary.replace(self._settings.index / STATE_FILE)


@contextmanager
def store_copy(settings: Settings, identity: str, *, rebuild: bool, wait: float) -> Iterator[None]:
    """Hold the store for writing, sync the folder with it, and on success sync the store with the folder.

    Raises SettingsError, StoreError, IndexLockedError, IndexCorruptError or IndexMismatchError.
    """
    connection = Connection(settings)
    with closing(connection):
        create_missing(connection, (Table.STATE,))
        with writing(connection, wait=wait) as lease:
            sweep(connection, lease)
            copy = StoreCopy(settings, connection, lease, rebuild=rebuild)
            copy.fetch(identity)
            yield
            copy.publish()


def _renumbered(document: StoredDocument, new: Mapping[int, int]) -> StoredDocument:
    return replace(
        document,
        passages=tuple(
            replace(
                passage,
                number=None if passage.number is None else new[passage.number],
                same_as=None if passage.same_as is None else new[passage.same_as],
            )
            for passage in document.passages
        ),
    )


def _write(folder: Path, index: MilvusIndex) -> None:
    """Write a generation of the store as one of the folder, renumbering passages in order."""
    stored = index.storage.documents(with_passages=True)
    passages = [passage for document in stored for passage in document.passages]
    old = [passage.number for passage in passages if passage.number is not None]
    new = {number: place for place, number in enumerate(old)}
    number = int(current_generation(folder) or 0) + 1
    with new_generation(folder, number) as written:
        write_storage(written / STORAGE_FILE, [_renumbered(document, new) for document in stored])
        save_vectors(index.vectors.rows(old), written)
        if index.tokens is not None:
            save_tokens(index.tokens.codec, index.reader.tokens(old), written / TOKENS)
        KeywordIndex.build(d.keyword_terms(p) for d in stored for p in d.passages if p.number is not None).save(
            written / KEYWORDS
        )
        save_words(written)
        fields = index.manifest.model_dump(exclude={"format", "files"}) | {"generation": number}
        publish_on_disk(folder, written, fields)

"""Calls to a Milvus server, and the errors that explain their failures."""

import base64
import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from rag.errors import IndexMissingError, RagError, SettingsError, StoreError
from rag.settings import Settings

if TYPE_CHECKING:
    from pymilvus import MilvusClient

T = TypeVar("T")
Row = dict[str, Any]

STRONG, BOUNDED = "Strong", "Bounded"
# Values per list in a filter, and rows per page; the server returns at most 16,384 rows.
MOST_VALUES = 1_000
PAGE = 1_000
# Seconds between retries of an unavailable server.
LOOKS_AGAIN = 0.2
NOT_LOADED = 101
NO_COLLECTION = 100
NO_COLLECTION_NAME = re.compile(r"CollectionNotExist|can't find collection|collection not found", re.I)
# A server may hang up on a client that sends more frequent keepalives; calls have their own time limit.
KEPT_ALIVE = {"grpc.keepalive_time_ms": 300_000}
DENIED = re.compile(r"unauthenticated|auth check failure|permission[ _]?(deny|denied)|not authorized", re.I)
# Also a server that denies writes because a quota is used up. It does so too while its nodes lag, which passes.
FULL = re.compile(r"no space left|disk (is )?full|(disk|memory) quota", re.I)
AWAY = re.compile(
    r"unavailable|connect|deadline|timed? ?out|timeout|not ready|not serving|recovering|closed channel"
    r"|time tick long delay",
    re.I,
)


class Connection:
    """A server, and its collections with one prefix. Safe to use from several threads.

    Each call waits up to `milvus_timeout` seconds for a restarting server; nothing has to be reopened.
    """

    def __init__(self, settings: Settings) -> None:
        """Raises SettingsError or StoreError."""
        self.uri = settings.milvus_uri
        self.prefix = settings.milvus_prefix
        self.timeout = settings.milvus_timeout
        self._secret = settings.milvus_token.get_secret_value()
        self._connect = self._checked(settings)
        self._client: MilvusClient | None = None
        self._told(lambda client: None)

    def _checked(self, settings: Settings) -> "Callable[[], MilvusClient]":
        """Validate the settings and return a function that connects."""
        if not self.uri:
            raise SettingsError(
                "`store` is milvus and `milvus_uri` is not set", hint="set it, such as to http://localhost:19530"
            )
        if "@" in self.uri:  # messages show the address
            raise SettingsError(
                "`milvus_uri` holds credentials", hint="take them out of it and set INTERVIEW_RAG_MILVUS_TOKEN"
            )
        certificate = settings.milvus_certificate
        if certificate is not None and not certificate.is_file():
            raise SettingsError(
                f"`milvus_certificate` is {certificate}, which is no file", hint="give the PEM file of the authority"
            )
        try:
            from pymilvus import MilvusClient
        except ImportError as error:
            raise SettingsError(
                "`store` is milvus, which needs pymilvus", hint='pip install "interview-rag[milvus]"'
            ) from error
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs, with a traceback, what is raised here
        options: dict[str, Any] = {"db_name": settings.milvus_database, "grpc_options": KEPT_ALIVE}
        if certificate is not None:
            options |= {"secure": True, "server_pem_path": str(certificate)}
        return lambda: MilvusClient(self.uri, token=self._secret, timeout=self.timeout, dedicated=True, **options)

    def close(self) -> None:
        if self._client is not None:
            self._client.close()

    def version(self) -> str:
        return str(self._told(lambda client: client.get_server_version(timeout=self.timeout)))

    def name(self, collection: str) -> str:
        return f"{self.prefix}_{collection}"

    def has(self, collection: str) -> bool:
        return bool(self._told(lambda client: client.has_collection(self.name(collection), timeout=self.timeout)))

    def fields(self, collection: str) -> dict[str, Row]:
        """The fields of a collection by name, as the server describes them."""
        found = self._told(lambda client: client.describe_collection(self.name(collection), timeout=self.timeout))
        return {field["name"]: field for field in found["fields"]}

    def create(self, collection: str, make: "Callable[[MilvusClient], tuple[Any, Any]]") -> None:
        """Create a collection with the schema and indexes from `make`."""
        name = self.name(collection)
        try:
            self._told(
                lambda client: client.create_collection(
                    name, schema=make(client)[0], consistency_level=STRONG, timeout=self.timeout
                )
            )
        except StoreError:
            if not self.has(collection):  # another process has just created it
                raise

    def complete(self, collection: str, make: "Callable[[MilvusClient], tuple[Any, Any]]") -> None:
        """Create a collection's missing indexes, and load it."""
        name = self.name(collection)

        def create(client: "MilvusClient") -> None:
            there = set(client.list_indexes(name, timeout=self.timeout))
            missing = client.prepare_index_params()
            for index in make(client)[1]:
                if index.field_name not in there:
                    missing.append(index)
            if missing:
                client.create_index(name, missing, timeout=self.timeout)
            client.load_collection(name, timeout=self.timeout)

        self._told(create)

    def drop(self, collection: str) -> None:
        self._told(lambda client: client.drop_collection(self.name(collection), timeout=self.timeout))

    def insert(self, collection: str, rows: Sequence[Row]) -> None:
        """Insert rows with new keys. Repeating an interrupted call is safe: `upsert` keeps one row per key."""
        self._loaded(collection, lambda client, name: client.upsert(name, list(rows), timeout=self.timeout))

    def flush(self, collection: str) -> None:
        """Have the server close the segments with new rows, after which it indexes them."""
        self._told(lambda client: client.flush(self.name(collection), timeout=self.timeout))

    def delete(self, collection: str, condition: str) -> None:
        self._loaded(collection, lambda client, name: client.delete(name, filter=condition, timeout=self.timeout))

    def count(self, collection: str, condition: str) -> int:
        rows = self.query(collection, condition, ["count(*)"])
        return int(rows[0]["count(*)"])

    def query(self, collection: str, condition: str, fields: Sequence[str], consistency: str = STRONG) -> list[Row]:
        """Rows that meet a condition; for a few thousand rows at most."""
        return self._loaded(
            collection,
            lambda client, name: list(
                client.query(
                    name, filter=condition, output_fields=list(fields), timeout=self.timeout,
                    consistency_level=consistency,
                )
            ),
        )  # fmt: skip

    def with_values(
        self, collection: str, field: str, values: Sequence[int], fields: Sequence[str], consistency: str = STRONG,
        *, also: str = "",
    ) -> Iterator[Row]:  # fmt: skip
        """The rows whose `field` has one of the values."""
        condition = f" and {also}" if also else ""
        for some in batches(map(int, values)):
            yield from self.query(collection, f"{field} in {some}{condition}", fields, consistency)

    def all(self, collection: str, condition: str, fields: Sequence[str], key: str = "id") -> Iterator[Row]:
        """Every row that meets a condition, in key order, read a page at a time."""

        def page(client: "MilvusClient", name: str, after: int) -> list[Row]:
            beyond = f"{key} > {after} and ({condition})"
            found = client.query_iterator(
                name, batch_size=PAGE, limit=PAGE, filter=beyond, output_fields=list(fields), timeout=self.timeout,
                consistency_level=STRONG,
            )  # fmt: skip
            try:
                return list(found.next())
            finally:
                found.close()

        after = -1
        while rows := self._loaded(collection, partial(page, after=after)):
            yield from rows
            after = int(rows[-1][key])

    def search(
        self, collection: str, field: str, query: Any, *, count: int, condition: str, fields: Sequence[str],
        consistency: str,
    ) -> list[tuple[int, float, Mapping[str, Any]]]:  # fmt: skip
        """Keys, inner products and fields of the rows nearest to a vector, best first."""
        (hits,) = self._loaded(
            collection,
            lambda client, name: client.search(
                name, data=[query], anns_field=field, limit=count, filter=condition, output_fields=list(fields),
                search_params={"metric_type": "IP", "params": {}}, timeout=self.timeout,
                consistency_level=consistency,
            ),
        )  # fmt: skip
        return [(int(hit["id"]), float(hit["distance"]), hit["entity"]) for hit in hits]

    def _loaded(self, collection: str, call: "Callable[[MilvusClient, str], T]") -> T:
        """Make the call; if the server reports the collection as not loaded, load it and retry: a restart may have
        unloaded it."""
        name = self.name(collection)

        def attempt(client: "MilvusClient") -> T:
            from pymilvus.exceptions import MilvusException

            try:
                return call(client, name)
            except MilvusException as error:
                if error.code != NOT_LOADED and "not loaded" not in str(error):
                    raise
                client.load_collection(name, timeout=self.timeout)
                return call(client, name)

        return self._told(attempt)

    def _told(self, call: "Callable[[MilvusClient], T]") -> T:
        """Make the call, retrying over a new connection while the server is away and time remains; turns what pymilvus
        and gRPC raise into a RagError that names the server, never the token."""
        until, pause = time.monotonic() + self.timeout, threading.Event()
        while True:
            client = self._client
            try:
                if client is None:
                    client = self._client = self._connect()
                return call(client)
            except RagError:
                raise
            except Exception as error:
                # For a server's error pymilvus raises its own exceptions, gRPC's, and plain Python ones.
                told, away = self._explained(error)
                if not away or time.monotonic() >= until:
                    raise told from None
                if self._client is client:
                    self._client = None
            pause.wait(LOOKS_AGAIN)

    def _explained(self, error: Exception) -> tuple[RagError, bool]:
        """The RagError for an exception, and whether the outage may be temporary."""
        code, said = getattr(error, "code", None), str(getattr(error, "message", "") or error)
        cause, status = _cause(error)
        encoded = base64.b64encode(self._secret.encode()).decode()  # as it is sent
        for secret in {encoded, self._secret, *self._secret.split(":")[1:]} - {""}:
            said, cause = said.replace(secret, "(hidden)"), cause.replace(secret, "(hidden)")
        said = " ".join(said.split())[:300]
        kind = type(error).__name__
        if DENIED.search(f"{said} {cause} {status}"):
            return StoreError(
                f"the Milvus server at {self.uri} refuses the credentials: {cause[:300] or said}",
                hint="check INTERVIEW_RAG_MILVUS_TOKEN, which is user:password or a key",
            ), False
        if code == NO_COLLECTION or NO_COLLECTION_NAME.search(f"{kind} {said}"):
            return IndexMissingError(
                f"the Milvus server at {self.uri} has no index {self.prefix}",
                hint="make one: python -m ingest; or set `milvus_prefix` to the one that is there",
            ), False
        if FULL.search(said):
            return StoreError(
                f"the Milvus server at {self.uri} has no room left: {said}",
                hint="make room for it, start it again, then run the command again; what was published goes on serving",
            ), False
        if AWAY.search(f"{kind} {said}"):
            return StoreError(
                f"the Milvus server at {self.uri} does not answer: {said}",
                hint="start it, or set `milvus_uri`; questions go on as soon as it answers",
            ), True
        return StoreError(
            f"the Milvus server at {self.uri} cannot do it: {said}", hint="look into the log of the server"
        ), False


def batches(values: Iterable[T], most: int = MOST_VALUES) -> Iterator[list[T]]:
    """The values in order, `most` at a time; by default as many as a filter may list."""
    left = iter(values)
    while some := list(islice(left, most)):
        yield some


def _cause(error: Exception) -> tuple[str, str]:
    """gRPC's message and status, if it caused the error."""
    import grpc

    cause = error.__cause__
    return (str(cause.details() or ""), cause.code().name) if isinstance(cause, grpc.Call) else ("", "")

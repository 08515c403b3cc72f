"""Reads rows of passages from the server and caches the latest: a row never changes."""

import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from rag.errors import IndexCorruptError
from rag.index.milvus.connection import Connection
from rag.index.milvus.generations import Generation
from rag.index.milvus.records import TermCounts, coded_of, joined_bytes, passage_of, unpacked
from rag.index.milvus.schema import Table
from rag.index.milvus.tables import Parts
from rag.index.tokens import PassageTokens
from rag.types import Passage

V = TypeVar("V")
TOKENS = "tokens"
# Passages whose rows are cached; token vectors are some 50 kB each.
KEPT, KEPT_TOKENS = 20_000, 1_000


class LeastRecentlyUsedCache(Generic[V]):
    """A least-recently-used cache of values by number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[int, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, numbers: Sequence[int], fetch: Callable[[list[int]], Mapping[int, V]]) -> list[V]:
        """The values of these numbers; `fetch`, which may raise, supplies uncached ones."""
        with self._lock:
            known = {number: self._values[number] for number in numbers if number in self._values}
        missing = [number for number in dict.fromkeys(numbers) if number not in known]
        if missing:
            known |= self.put(fetch(missing))
        return [known[number] for number in numbers]

    def put(self, values: Mapping[int, V]) -> Mapping[int, V]:
        with self._lock:
            for number, value in values.items():
                self._values[number] = value
                self._values.move_to_end(number)
            while len(self._values) > self._most:
                self._values.popitem(last=False)
        return values


class RowCaches:
    """The latest rows read over a connection, of any generation."""

    def __init__(self) -> None:
        self.counts: LeastRecentlyUsedCache[TermCounts] = LeastRecentlyUsedCache(KEPT)
        self.passages: LeastRecentlyUsedCache[Passage] = LeastRecentlyUsedCache(KEPT)
        self.vectors: LeastRecentlyUsedCache[NDArray[np.float32]] = LeastRecentlyUsedCache(KEPT)
        self.tokens: LeastRecentlyUsedCache[PassageTokens] = LeastRecentlyUsedCache(KEPT_TOKENS)
        self.tables: Parts = {}


class RowReader:
    """Reads the rows of one generation, and searches those that meet a condition. Safe to use from several threads."""

    def __init__(self, connection: Connection, generation: Generation, caches: RowCaches, searched: str = "") -> None:
        self.connection = connection
        self.generation = generation
        self._caches = caches
        self._searched = f"{generation.visible} and ({searched})" if searched else generation.visible

    def narrowed(self, condition: str) -> "RowReader":
        return RowReader(self.connection, self.generation, self._caches, condition)

    @property
    def consistency(self) -> str:
        return self.generation.consistency(time.time())

    def search(
        self, table: Table, field: str, query: Any, count: int, within: NDArray[np.int64] | None = None
    ) -> list[tuple[int, float]]:
        """Numbers and inner products of the passages nearest to a query. Caches their term counts too."""
        if not self.generation.manifest.passages:
            return []
        condition = self._searched if within is None else f"{self._searched} and id in {within.tolist()}"
        hits = self.connection.search(
            table, field, query, count=min(count, self.generation.manifest.passages), condition=condition,
            fields=["counts", "length"], consistency=self.consistency,
        )  # fmt: skip
        self._caches.counts.put({number: _counts(row) for number, _, row in hits})
        return [(number, score) for number, score, _ in hits]

    def counts(self, numbers: Sequence[int]) -> list[TermCounts]:
        return self._caches.counts.get(
            numbers, lambda missing: {n: _counts(row) for n, row in self._read(missing, ["counts", "length"]).items()}
        )

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        return self._caches.passages.get(
            numbers,
            lambda missing: {
                n: passage_of(n, unpacked(row["record"])) for n, row in self._read(missing, ["record"]).items()
            },
        )

    def vectors(self, numbers: Sequence[int]) -> list[NDArray[np.float32]]:
        return self._caches.vectors.get(
            numbers,
            lambda missing: {
                n: np.asarray(row["vector"], np.float32) for n, row in self._read(missing, ["vector"]).items()
            },
        )

    def tokens(self, numbers: Sequence[int]) -> list[PassageTokens]:
        return self._caches.tokens.get(numbers, self._read_tokens)

    def _read(self, numbers: Sequence[int], fields: Sequence[str]) -> dict[int, Mapping[str, Any]]:
        rows = self.connection.with_values(Table.PASSAGES, "id", numbers, fields, self.consistency)
        found: dict[int, Mapping[str, Any]] = {int(row["id"]): row for row in rows}
        self._require(numbers, found)
        return found

    def _read_tokens(self, numbers: Sequence[int]) -> dict[int, PassageTokens]:
        parts: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
        fields = ["owner", "place", "data"]
        for row in self.connection.with_values(
            Table.PARTS, "owner", numbers, fields, self.consistency, also=f'kind == "{TOKENS}"'
        ):
            parts[int(row["owner"])].append((int(row["place"]), row["data"]))
        self._require(numbers, parts)
        dimension = self.generation.manifest.dimension
        return {n: coded_of(joined_bytes([text for _, text in sorted(found)]), dimension) for n, found in parts.items()}

    def _require(self, numbers: Sequence[int], found: Mapping[int, object]) -> None:
        missing = [number for number in numbers if number not in found]
        if missing:
            raise self.lacking(f"passage {missing[0]}")

    def lacking(self, what: str) -> IndexCorruptError:
        return IndexCorruptError(
            f"the index {self.connection.prefix} at {self.connection.uri} lacks {what} of generation "
            f"{self.generation.number}, which was perhaps collected",
            hint="ask again; if it stays so: python -m ingest --rebuild",
        )


def _counts(row: Mapping[str, Any]) -> TermCounts:
    return TermCounts.of(row["counts"], int(row["length"]))


def part_texts(connection: Connection, owner: int, kind: str, consistency: str) -> str:
    """The text of one owner, joined."""
    rows = connection.query(Table.PARTS, f'owner == {owner} and kind == "{kind}"', ["place", "data"], consistency)
    return "".join(row["data"] for row in sorted(rows, key=lambda row: int(row["place"])))

"""A generation on disk -> a generation in the store: the rows of new or changed documents, and one that flips.

A document whose digest the store already has keeps its rows. The digest covers all that its rows hold, and the settings
that vectors depend on.
"""

import hashlib
import itertools
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rag.errors import IndexCorruptError, StoreError
from rag.index.generation import DiskIndex
from rag.index.milvus.connection import STRONG, Connection, Row, batches
from rag.index.milvus.documents import BODY, SOURCE
from rag.index.milvus.generations import RECORD, Generation, Hidden, flip, live_number
from rag.index.milvus.keywords import saturated
from rag.index.milvus.lease import Lease
from rag.index.milvus.records import (
    TermCounts,
    byte_parts,
    coded_bytes,
    first_number,
    packed,
    passage_record,
    repeat_record,
    text_parts,
)
from rag.index.milvus.rows import TOKENS
from rag.index.milvus.schema import NOTHING, Table, create_missing
from rag.index.milvus.store import require_whole
from rag.index.milvus.tables import Parts, changed_entries, is_worn, read_table, write_parts
from rag.index.storage import StoredDocument, as_json, outline_json

# Rows per request; those of parts have 64 kB at most.
AT_ONCE = {Table.PASSAGES: 200, Table.DOCUMENTS: 500, Table.PARTS: 200}
# Rows after which the server must close its segments: it searches open ones without an index.
FLUSHED = 1_000
# A change of mean passage length by this share triggers new weights.
DRIFT = 0.2
# A dimension of no term, for a passage without terms: a vector must not be empty.
NO_TERM, NO_WEIGHT = 0, 1e-6
TERMS, TOKEN_TABLE, CODEC = "terms", "token-table", "codec"


@dataclass(frozen=True, slots=True)
class DocumentRecords:
    """A document and all that its rows hold except vectors: the records of its passages, including duplicates, and
    their digest."""

    document: StoredDocument
    records: tuple[Mapping[str, Any], ...]
    digest: str


def publish(connection: Connection, lease: Lease, live: Generation | None, index: DiskIndex) -> Generation:
    """Write what the live generation lacks of the one on disk (all, if none is live), and make it live.

    Raises StoreError or IndexMismatchError; the live generation stays unchanged until the last moment.
    """
    manifest = index.manifest
    create_missing(connection, Table, manifest.dimension)
    documents = _records_of(index)
    writer = _Writer(connection, lease, index)
    base = live if live is not None and live.manifest.settings == manifest.settings else None
    change = _change(connection, base, documents)
    if base is not None and abs(change.mean_length(manifest.passages) / base.weighed_at - 1) > DRIFT:
        base = None
        change = _change(connection, base, documents)
    weighed_at = base.weighed_at if base else change.mean_length(manifest.passages)
    table, term_parts = writer.term_table(base)
    numbers = writer.documents(change.new, {term: values[0] for term, values in table.items()}, weighed_at)
    now = time.time()
    generation = Generation(
        number=lease.attempt,
        since=base.since if base else lease.attempt,
        aborted=tuple(sorted({*lease.aborted, *base.aborted})) if base else (),
        hidden=(*_still_hidden(connection, base), *(Hidden(document=gone, since=now) for gone in change.gone)),
        published=now,
        manifest=manifest,
        mirrors=index.manifest_sha256,
        terms_in_all=change.terms_in_all,
        weighed_at=weighed_at,
        background=_background(connection, index, documents, change, numbers),
        terms=term_parts,
        tokens=writer.token_table(base),
        codec=writer.codec(base),
        rows={Table.PASSAGES: manifest.passages, Table.DOCUMENTS: manifest.documents},
    )
    text = generation.model_dump_json()
    parts = writer.parts(RECORD, text_parts(text))
    lease.require_alone()
    require_whole(connection, generation)
    writer.require_parts()
    lease.require()
    flip(connection, generation, text, parts)
    if live_number(connection) != generation.number:  # it arrived after the claim had expired
        raise StoreError(
            f"another process has published meanwhile to {connection.prefix} at {connection.uri}",
            hint="run the command again",
        )
    lease.forget_attempt()
    return generation


@dataclass(frozen=True, slots=True)
class Change:
    """How a generation on disk differs from the one in the store. `kept` (by name) and `gone` are document numbers in
    the store; `terms_in_all` counts the terms of all passages."""

    new: tuple[DocumentRecords, ...]
    kept: Mapping[str, int]
    gone: tuple[int, ...]
    terms_in_all: int

    def mean_length(self, passages: int) -> float:
        return max(self.terms_in_all / max(passages, 1), 1.0)


def _change(connection: Connection, base: Generation | None, documents: Sequence[DocumentRecords]) -> Change:
    stored: dict[str, tuple[int, str]] = {}
    if base is not None:
        for row in connection.all(Table.DOCUMENTS, base.visible, ["name", "digest"]):
            stored[row["name"]] = (int(row["id"]), row["digest"])
    new = tuple(each for each in documents if stored.get(each.document.name, (0, ""))[1] != each.digest)
    changed = {each.document.name for each in new}
    names = {each.document.name for each in documents} - changed
    kept = {name: number for name, (number, _) in stored.items() if name in names}
    gone = tuple(number for name, (number, _) in stored.items() if name not in names)
    terms_in_all = sum(
        len(each.document.keyword_terms(p)) for each in new for p in each.document.passages if p.number is not None
    )
    if base is not None:
        removed = (
            int(row["length"])
            for some in batches(gone)
            for row in connection.all(Table.PASSAGES, f"document in {some}", ["length"])
        )
        terms_in_all += base.terms_in_all - sum(removed)
    return Change(new, kept, gone, terms_in_all)


def _records_of(index: DiskIndex) -> list[DocumentRecords]:
    """All documents on disk, with their records."""
    documents = index.storage.documents(with_passages=True)
    places = {
        passage.number: (document.name, place)
        for document in documents
        for place, passage in enumerate(document.passages)
        if passage.number is not None
    }
    settings = as_json(index.manifest.settings)
    found = []
    for document in documents:
        own = [passage.number for passage in document.passages if passage.number is not None]
        also = {passage.number: passage.also_in for some in batches(own) for passage in index.storage.passages(some)}
        records = tuple(
            repeat_record(document, passage, places[passage.same_as])
            if passage.number is None and passage.same_as is not None
            else passage_record(document, passage, also[passage.number or 0])
            for passage in document.passages
        )
        row = _document_row(document)
        said = as_json([settings, row, document.pages, outline_json(document.outline), document.source, records])
        found.append(DocumentRecords(document, records, hashlib.sha256(said.encode()).hexdigest()))
    return found


def _document_row(document: StoredDocument) -> Row:
    record = {
        "title": document.title, "sha256": document.sha256, "tags": document.tags, "asked_as": document.asked_as,
        "english": document.outline.english,
    }  # fmt: skip
    return {
        "root": document.root, "relative": document.relative, "name": document.name, "size": document.size,
        "stale": int(document.stale), "characters": len(document.source), "passages": len(document.passages),
        "numbered": sum(passage.number is not None for passage in document.passages), "record": packed(record),
    }  # fmt: skip


def _still_hidden(connection: Connection, base: Generation | None) -> list[Hidden]:
    """The documents that the live generation hides but whose rows remain."""
    if base is None or not base.hidden:
        return []
    rows = connection.with_values(Table.DOCUMENTS, "id", [hidden.document for hidden in base.hidden], ["document"])
    there = {int(row["id"]) for row in rows}
    return [hidden for hidden in base.hidden if hidden.document in there]


def _background(
    connection: Connection,
    index: DiskIndex,
    documents: Sequence[DocumentRecords],
    change: Change,
    numbers: Mapping[tuple[str, int], int],
) -> tuple[int, ...]:
    """The store's numbers of the passages in the background on disk."""
    wanted = index.vectors.background().tolist() if index.manifest.passages else []
    places = {
        passage.number: (each.document.name, place)
        for each in documents
        for place, passage in enumerate(each.document.passages)
        if passage.number is not None and passage.number in wanted
    }
    found: dict[int, int] = {}
    for own, (name, place) in places.items():
        if (name, place) in numbers:
            found[own] = numbers[name, place]
        else:
            condition = f"document == {change.kept[name]} and place == {place}"
            found[own] = next((int(row["id"]) for row in connection.query(Table.PASSAGES, condition, ["place"])), 0)
    if 0 in found.values():
        raise IndexCorruptError(
            f"the index {connection.prefix} at {connection.uri} lacks passages of its live generation",
            hint="write it again: python -m ingest --rebuild",
        )
    return tuple(found[own] for own in wanted)


class _Writer:
    """Inserts the rows of one attempt."""

    def __init__(self, connection: Connection, lease: Lease, index: DiskIndex) -> None:
        self._connection = connection
        self._lease = lease
        self._index = index
        self._keys = itertools.count(first_number(lease.attempt))
        self._parts = 0

    def documents(
        self, new: Sequence[DocumentRecords], dimensions: Mapping[str | int, int], weighed_at: float
    ) -> dict[tuple[str, int], int]:
        """Insert documents with all their rows. Returns their passage numbers by name and place."""
        numbers: dict[tuple[str, int], int] = {}
        # Documents come last, so rows without a document are leftovers of a killed process.
        keys = {each.document.name: next(self._keys) for each in new}
        self._insert(Table.PASSAGES, (
            self._passage_row(each, place, keys[each.document.name], numbers, dimensions, weighed_at)
            for each in new
            for place, passage in enumerate(each.document.passages)
            if passage.number is not None
        ))  # fmt: skip
        self._insert(
            Table.PARTS, (row for each in new for row in self._part_rows(each, keys[each.document.name], numbers))
        )
        self._insert(Table.DOCUMENTS, (
            self._row(keys[each.document.name], keys[each.document.name], vector=NOTHING, digest=each.digest)
            | _document_row(each.document)
            for each in new
        ))  # fmt: skip
        return numbers

    def parts(self, kind: str, texts: Iterable[str]) -> list[int]:
        """Insert texts of no document; returns their numbers."""
        rows = [self._part(kind, 0, 0, place, text) for place, text in enumerate(texts)]
        self._insert(Table.PARTS, iter(rows))
        return [int(row["id"]) for row in rows]

    def require_parts(self) -> None:
        there = self._connection.count(Table.PARTS, f"generation == {self._lease.attempt}")
        if there != self._parts:
            raise StoreError(
                f"the Milvus server at {self._connection.uri} has {there:,} of the {self._parts:,} rows that were "
                f"written to {self._connection.name(Table.PARTS)}",
                hint="run the command again: what was published before goes on serving",
            )

    def term_table(self, base: Generation | None) -> tuple[Mapping[str | int, tuple[int, ...]], tuple[int, ...]]:
        """Each term's dimension and number of passages, and the parts that hold this table."""
        before, written = self._table(base.terms if base else ())
        new = itertools.count(max((values[0] for values in before.values()), default=NO_TERM) + 1)
        keywords = self._index.keywords
        now: dict[str | int, tuple[int, ...]] = {term: (values[0], 0) for term, values in before.items()}
        for term, frequency in zip(keywords.terms(), np.diff(keywords.starts).tolist(), strict=True):
            now[term] = (before[term][0] if term in before else next(new), frequency)
        return now, self._rewritten(TERMS, base.terms if base else (), before, now, written)

    def token_table(self, base: Generation | None) -> tuple[int, ...]:
        tokens = self._index.tokens
        if tokens is None:
            return ()
        before, written = self._table(base.tokens if base else ())
        now: dict[str | int, tuple[int, ...]] = dict.fromkeys(before, (0,))
        for token, frequency in zip(tokens.vocabulary.tolist(), tokens.frequencies.tolist(), strict=True):
            now[token] = (frequency,)
        return self._rewritten(TOKEN_TABLE, base.tokens if base else (), before, now, written)

    def codec(self, base: Generation | None) -> tuple[int, ...]:
        tokens = self._index.tokens
        if tokens is None or base is not None:
            return base.codec if base is not None else ()
        data = np.concatenate([tokens.codec.rotation.reshape(-1), tokens.codec.centre]).astype(np.float32).tobytes()
        return tuple(self.parts(CODEC, byte_parts(data)))

    def _table(self, parts: Sequence[int]) -> tuple[dict[str | int, tuple[int, ...]], int]:
        """A table, and its parts' number of entries."""
        kept: Parts = {}
        table = read_table(self._connection, parts, STRONG, kept)
        return table, sum(map(len, kept.values()))

    def _rewritten(
        self,
        kind: str,
        parts: tuple[int, ...],
        before: Mapping[str | int, tuple[int, ...]],
        now: Mapping[str | int, tuple[int, ...]],
        written: int,
    ) -> tuple[int, ...]:
        """The parts of the current table: the existing ones plus the changes, or, if they hold twice the entries of the
        table, a full rewrite."""
        changed = changed_entries(before, now)
        if is_worn(written + len(changed), len(now)):
            return tuple(self.parts(kind, write_parts(changed_entries({}, now))))
        return (*parts, *self.parts(kind, write_parts(changed)))

    def _passage_row(
        self,
        each: DocumentRecords,
        place: int,
        document: int,
        numbers: dict[tuple[str, int], int],
        dimensions: Mapping[str | int, int],
        weighed_at: float,
    ) -> Row:
        passage = each.document.passages[place]
        number = numbers[each.document.name, place] = next(self._keys)
        found = each.document.keyword_terms(passage)
        counted = sorted((dimensions[term], many) for term, many in Counter(found).items())
        counts = TermCounts(
            np.asarray([dimension for dimension, _ in counted], np.uint32),
            np.asarray([many for _, many in counted], np.uint16),
            len(found),
        )
        weights = saturated(counts.counts, counts.length, weighed_at).tolist()
        assert passage.number is not None
        return self._row(
            number, document, place=place, length=len(found), counts=counts.packed(),
            record=packed(each.records[place]),
            vector=self._index.vectors.rows([passage.number])[0].tolist(),
            terms=dict(zip(counts.terms.tolist(), weights, strict=True)) or {NO_TERM: NO_WEIGHT},
        )  # fmt: skip

    def _part_rows(self, each: DocumentRecords, document: int, numbers: Mapping[tuple[str, int], int]) -> Iterator[Row]:
        passages = [None if "same_as" not in record else record for record in each.records]
        body = as_json({
            "pages": each.document.pages, "questions": each.document.questions, "passages": passages,
            "outline": outline_json(each.document.outline),
        })  # fmt: skip
        for kind, text in ((BODY, body), (SOURCE, each.document.source)):
            for place, part in enumerate(text_parts(text)):
                yield self._part(kind, document, document, place, part)
        tokens = self._index.tokens
        for place, passage in enumerate(each.document.passages):
            if tokens is not None and passage.number is not None:
                data = coded_bytes(tokens.passage(passage.number))
                number = numbers[each.document.name, place]
                for which, coded in enumerate(byte_parts(data)):
                    yield self._part(TOKENS, document, number, which, coded)

    def _part(self, kind: str, document: int, owner: int, place: int, data: str) -> Row:
        return self._row(
            next(self._keys), document, owner=owner, place=place, kind=kind, data=data, vector=NOTHING
        )  # fmt: skip

    def _row(self, key: int, document: int, **values: object) -> Row:
        return {"id": key, "generation": self._lease.attempt, "document": document, **values}

    def _insert(self, table: Table, rows: Iterator[Row]) -> None:
        written = 0
        for some in batches(rows, AT_ONCE[table]):
            self._lease.require()
            self._connection.insert(table, some)
            self._parts += len(some) if table is Table.PARTS else 0
            written += len(some)
        if written >= FLUSHED:
            self._connection.flush(table)

"""Documents and passages of a generation, as stored in the server; and some of the documents: the rows to search, and
their passages that duplicate other documents'."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rag.index.milvus.connection import Connection, Row, batches
from rag.index.milvus.records import passage_of, stored_passage, unpacked
from rag.index.milvus.rows import RowReader, part_texts
from rag.index.milvus.schema import Table
from rag.index.storage import DocumentEntry, DocumentSummary, StoredDocument, StoredPassage, outline_of
from rag.text.page import Outline
from rag.types import Passage

BODY, SOURCE = "body", "source"
FIELDS = ("root", "relative", "name", "size", "stale", "characters", "passages", "numbered", "record")
# No row has it: keys are positive.
NOTHING_INSIDE = "id < 0"


class MilvusDocuments:
    """Reads one generation. Safe to use from several threads."""

    def __init__(self, reader: RowReader) -> None:
        self._reader = reader
        self._connection = reader.connection
        self._visible = reader.generation.visible
        # Documents of this generation already looked up by name; they do not change.
        self._named: dict[str, Mapping[str, Any]] = {}
        self._bodies: dict[int, Mapping[str, Any]] = {}
        self._entries: tuple[DocumentEntry, ...] | None = None

    def close(self) -> None:
        """The connection belongs to the store."""

    def passages(self, numbers: Sequence[int]) -> list[Passage]:
        return self._reader.passages([int(number) for number in numbers])

    def document_numbers(self, name: str) -> list[int]:
        row = self._document(name)
        if row is None:
            return []
        own = self._numbers(f"document == {int(row['id'])}")
        if int(row["numbered"]) == int(row["passages"]):
            return [number for _, number in sorted(own.items())]
        return [
            number
            for place, stored in enumerate(self._body(row)["passages"])
            if (number := own[place] if stored is None else self._repeated(stored["same_as"])) is not None
        ]

    def entries(self) -> list[DocumentEntry]:
        if self._entries is None:
            self._entries = tuple(
                DocumentEntry(row["root"], row["relative"], row["name"], record["sha256"], bool(row["stale"]))
                for row in self._rows(("root", "relative", "name", "stale", "record"))
                for record in [unpacked(row["record"])]
            )
        return list(self._entries)

    def summaries(self) -> list[DocumentSummary]:
        return [
            DocumentSummary(
                row["root"], row["relative"], row["name"], record["title"], row["size"], bool(row["stale"]),
                tuple(record["tags"]), row["characters"], row["passages"], record["english"],
            )
            for row in self._rows(FIELDS)
            for record in [unpacked(row["record"])]
        ]  # fmt: skip

    def documents(self, *, with_passages: bool = False) -> list[StoredDocument]:
        """All documents in order of name. Reads every row of the index."""
        numbers = self._all_numbers() if with_passages else {}
        texts: defaultdict[tuple[int, str], dict[int, str]] = defaultdict(dict)
        for part in self._connection.all(
            Table.PARTS, f'{self._visible} and kind in ["{SOURCE}", "{BODY}"]', ["document", "kind", "place", "data"]
        ):
            texts[part["document"], part["kind"]][part["place"]] = part["data"]

        def text(document: int, kind: str) -> str:
            return "".join(data for _, data in sorted(texts[document, kind].items()))

        found = []
        rows = self._rows(FIELDS)
        by_name = {row["name"]: int(row["id"]) for row in rows}
        records = self._all_records() if with_passages else {}
        for row in rows:
            document, record = int(row["id"]), unpacked(row["record"])
            body = json.loads(text(document, BODY))
            passages: list[StoredPassage] = []
            for place, stored in enumerate(body["passages"] if with_passages else ()):
                if stored is None:
                    number = numbers[document, place]
                    passages.append(stored_passage(records[number], number, None))
                else:
                    other, there = stored["same_as"]
                    passages.append(stored_passage(stored, None, numbers[by_name[other], there]))
            found.append(
                StoredDocument(
                    root=row["root"], relative=row["relative"], name=row["name"], title=record["title"],
                    sha256=record["sha256"], size=row["size"], stale=bool(row["stale"]), tags=tuple(record["tags"]),
                    asked_as=tuple(record["asked_as"]), source=text(document, SOURCE), passages=tuple(passages),
                    pages=tuple(body["pages"]), questions=_questions(body) if with_passages else {},
                    outline=outline_of(body["outline"]),
                )
            )  # fmt: skip
        return found

    def names(self, most: int) -> list[str]:
        records = [unpacked(row["record"]) for row in self._rows(("record", "name"))[:most]]
        names = [record["title"] for record in records]
        names += [name for record in records for name in (*record["tags"], *record["asked_as"])]
        sections = dict.fromkeys(tuple(record["section"]) for record in self._first_records(most))
        return names + [section[-1] for section in sections if section]

    def texts(self, most: int) -> list[str]:
        return [record["text"] for record in self._first_records(most)]

    def known_as(self, name: str) -> tuple[str, ...]:
        row = self._document(name)
        if row is None:
            return ()
        record = unpacked(row["record"])
        return (record["title"], *record["asked_as"])

    def all_questions(self) -> list[tuple[str, str, tuple[str, ...]]]:
        """Document, heading and terms of every question. Reads a row or more of every document."""
        names = {int(row["id"]): str(row["name"]) for row in self._rows(("name",))}
        bodies: defaultdict[int, dict[int, str]] = defaultdict(dict)
        condition = f'{self._visible} and kind == "{BODY}"'
        for part in self._connection.all(Table.PARTS, condition, ["document", "place", "data"]):
            bodies[int(part["document"])][part["place"]] = part["data"]
        return [
            (names[document], heading, terms)
            for document, parts in sorted(bodies.items())
            for heading, asked in _questions(json.loads("".join(data for _, data in sorted(parts.items())))).items()
            for terms in asked
        ]

    def source(self, name: str) -> str | None:
        row = self._document(name)
        if row is None:
            return None
        return part_texts(self._connection, int(row["id"]), SOURCE, self._reader.consistency)

    def pages(self, name: str) -> tuple[int, ...]:
        row = self._document(name)
        return tuple(self._body(row)["pages"]) if row is not None else ()

    def outline(self, name: str) -> Outline | None:
        row = self._document(name)
        return outline_of(self._body(row)["outline"]) if row is not None else None

    def _rows(self, fields: Sequence[str]) -> list[Mapping[str, Any]]:
        rows = self._connection.all(Table.DOCUMENTS, self._visible, [*fields, "id"])
        return sorted(rows, key=lambda row: str(row["name"]))

    def _document(self, name: str) -> Mapping[str, Any] | None:
        if name not in self._named:
            condition = f"name == {json.dumps(name, ensure_ascii=False)} and {self._visible}"
            found = self._connection.query(Table.DOCUMENTS, condition, FIELDS, self._reader.consistency)
            if not found:
                return None
            self._named[name] = found[0]
        return self._named[name]

    def _body(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        document = int(row["id"])
        if document not in self._bodies:
            text = part_texts(self._connection, document, BODY, self._reader.consistency)
            self._bodies[document] = json.loads(text)
        return self._bodies[document]

    def _numbers(self, condition: str) -> dict[int, int]:
        rows = self._connection.query(Table.PASSAGES, condition, ["place"], self._reader.consistency)
        return {int(row["place"]): int(row["id"]) for row in rows}

    def _repeated(self, place: Sequence[Any]) -> int | None:
        """The number of the passage that a duplicate repeats."""
        row = self._document(place[0])
        if row is None:
            return None
        return self._numbers(f"document == {int(row['id'])} and place == {int(place[1])}").get(int(place[1]))

    def _all_numbers(self) -> dict[tuple[int, int], int]:
        rows = self._connection.all(Table.PASSAGES, self._visible, ["document", "place"])
        return {(int(row["document"]), int(row["place"])): int(row["id"]) for row in rows}

    def _all_records(self) -> dict[int, Mapping[str, Any]]:
        rows = self._connection.all(Table.PASSAGES, self._visible, ["record"])
        return {int(row["id"]): unpacked(row["record"]) for row in rows}

    def _first_records(self, most: int) -> list[Mapping[str, Any]]:
        """The records of the first `most` passages."""
        found: list[Mapping[str, Any]] = []
        for row in self._connection.all(Table.PASSAGES, self._visible, ["record"]):
            found.append(unpacked(row["record"]))
            if len(found) == most:
                break
        return found


@dataclass(frozen=True, slots=True)
class MilvusPart:
    """The rows of the passages inside meet `condition`. `repeats`, by number, are the passages inside that duplicate
    one that may lie outside."""

    condition: str
    repeats: dict[int, list[Passage]]

    def repeats_of(self, numbers: Sequence[int]) -> list[Passage]:
        return [passage for number in numbers for passage in self.repeats.get(number, ())]


def read_part(reader: RowReader, names: Sequence[str]) -> MilvusPart:
    """Raises IndexCorruptError if rows are missing."""
    try:
        return _read_part(reader, names)
    except (KeyError, ValueError) as error:
        raise reader.lacking(f"rows of {', '.join(names)[:200]}") from error


def _read_part(reader: RowReader, names: Sequence[str]) -> MilvusPart:
    connection = reader.connection
    fields = ["name", "passages", "numbered", "record"]
    rows = {row["name"]: row for row in connection.all(Table.DOCUMENTS, reader.generation.visible, fields)}
    inside = [rows[name] for name in names]
    own = {int(row["id"]) for row in inside}
    stored = list(_stored_repeats(connection, [row for row in inside if row["numbered"] < row["passages"]]))
    said_by = {(int(rows[repeat["same_as"][0]]["id"]), int(repeat["same_as"][1])) for _, repeat in stored}
    numbers = _numbers(connection, sorted({document for document, _ in said_by}))
    repeats: defaultdict[int, list[Passage]] = defaultdict(list)
    for row, repeat in stored:
        name, place = repeat["same_as"]
        number = numbers[int(rows[name]["id"]), int(place)]
        whose = {"document": row["name"], "title": unpacked(row["record"])["title"], "also_in": []}
        repeats[number].append(passage_of(number, {**repeat, **whose}))
    elsewhere = sorted(numbers[place] for place in said_by if place[0] not in own)
    conditions = [f"{field} in {values}" for field, values in (("document", sorted(own)), ("id", elsewhere)) if values]
    return MilvusPart(" or ".join(conditions) or NOTHING_INSIDE, dict(repeats))


def _stored_repeats(connection: Connection, rows: Sequence[Row]) -> Iterator[tuple[Row, dict[str, Any]]]:
    """The passages of these documents that repeat others, in document order."""
    for row, text in zip(rows, _bodies(connection, [int(row["id"]) for row in rows]), strict=True):
        for passage in unpacked(text)["passages"]:
            if passage is not None:
                yield row, passage


def _bodies(connection: Connection, documents: Sequence[int]) -> list[str]:
    found: defaultdict[int, dict[int, str]] = defaultdict(dict)
    for some in batches(documents):
        for part in connection.all(Table.PARTS, f'owner in {some} and kind == "{BODY}"', ["owner", "place", "data"]):
            found[int(part["owner"])][int(part["place"])] = part["data"]
    return ["".join(text for _, text in sorted(found[document].items())) for document in documents]


def _numbers(connection: Connection, documents: Sequence[int]) -> dict[tuple[int, int], int]:
    """The passage numbers of these documents, by document and place."""
    return {
        (int(row["document"]), int(row["place"])): int(row["id"])
        for some in batches(documents)
        for row in connection.all(Table.PASSAGES, f"document in {some}", ["document", "place"])
    }


def _questions(body: Mapping[str, Any]) -> dict[str, tuple[tuple[str, ...], ...]]:
    return {heading: tuple(map(tuple, asked)) for heading, asked in body["questions"].items()}

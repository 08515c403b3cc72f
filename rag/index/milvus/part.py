"""Some documents of a generation: the rows to search, and their passages that duplicate other documents'."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rag.index.milvus.connection import MOST_VALUES, Connection, Row
from rag.index.milvus.documents import BODY
from rag.index.milvus.fetched import Fetched
from rag.index.milvus.records import passage_of, unpacked
from rag.index.milvus.schema import Table
from rag.types import Passage

# No row has it: keys are positive.
NOTHING_INSIDE = "id < 0"


@dataclass(frozen=True, slots=True)
class MilvusPart:
    """The rows of the passages inside meet `condition`. `repeats`, by number, are the passages inside that duplicate
    one that may lie outside."""

    condition: str
    repeats: dict[int, list[Passage]]

    def repeats_of(self, numbers: Sequence[int]) -> list[Passage]:
        return [passage for number in numbers for passage in self.repeats.get(number, ())]


def read_part(fetched: Fetched, names: Sequence[str]) -> MilvusPart:
    """Raises IndexCorruptError if rows are missing."""
    try:
        return _read_part(fetched, names)
    except (KeyError, ValueError) as error:
        raise fetched.lacking(f"rows of {', '.join(names)[:200]}") from error


def _read_part(fetched: Fetched, names: Sequence[str]) -> MilvusPart:
    connection = fetched.connection
    fields = ["name", "passages", "numbered", "record"]
    rows = {row["name"]: row for row in connection.all(Table.DOCUMENTS, fetched.generation.visible, fields)}
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
    for some in _some(documents):
        for part in connection.all(Table.PARTS, f'owner in {some} and kind == "{BODY}"', ["owner", "place", "data"]):
            found[int(part["owner"])][int(part["place"])] = part["data"]
    return ["".join(text for _, text in sorted(found[document].items())) for document in documents]


def _numbers(connection: Connection, documents: Sequence[int]) -> dict[tuple[int, int], int]:
    """The passage numbers of these documents, by document and place."""
    return {
        (int(row["document"]), int(row["place"])): int(row["id"])
        for some in _some(documents)
        for row in connection.all(Table.PASSAGES, f"document in {some}", ["document", "place"])
    }


def _some(values: Sequence[int]) -> Iterator[list[int]]:
    for begin in range(0, len(values), MOST_VALUES):
        yield list(values[begin : begin + MOST_VALUES])

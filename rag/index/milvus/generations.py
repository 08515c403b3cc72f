"""The record of a generation in the store, and which one is live."""

import hashlib
import json

from pydantic import ValidationError

from rag.errors import IndexCorruptError, IndexMissingError
from rag.index.manifest import FrozenModel, Manifest
from rag.index.milvus.connection import BOUNDED, STRONG, Connection
from rag.index.milvus.schema import NOTHING, Table

SCHEMA = 1
GENERATION, ATTEMPT, CLAIM = "generation", "attempt", "claim"
RECORD = "record"
# This many seconds after a flip every read sees its rows, even a read that may lag by some seconds.
SETTLED = 60.0


class Hidden(FrozenModel):
    """A document that this generation no longer sees; its rows may remain for readers of earlier ones."""

    document: int
    since: float


class Generation(FrozenModel):
    """A generation, which sees the rows whose `generation` is from `since` to `number`, except those of `aborted`
    attempts and `hidden` documents.

    `mirrors` is the SHA-256 of the manifest of the equal generation on disk. `terms_in_all` counts the terms of all
    passages; `weighed_at` is the mean length for which the stored term weights were computed. The tables are numbers
    of rows in `parts`.
    """

    schema_version: int = SCHEMA
    number: int
    since: int
    aborted: tuple[int, ...]
    hidden: tuple[Hidden, ...]
    published: float
    manifest: Manifest
    mirrors: str
    terms_in_all: int
    weighed_at: float
    background: tuple[int, ...]
    terms: tuple[int, ...]
    tokens: tuple[int, ...]
    codec: tuple[int, ...]
    rows: dict[str, int]

    @property
    def visible(self) -> str:
        """The condition that its passage and document rows meet."""
        parts = [f"generation >= {self.since}", f"generation <= {self.number}"]
        if self.aborted:
            parts.append(f"generation not in {sorted(self.aborted)}")
        if self.hidden:
            parts.append(f"document not in {sorted(hidden.document for hidden in self.hidden)}")
        return " and ".join(parts)

    @property
    def mean_length(self) -> float:
        """Of the passages, in terms."""
        return max(self.terms_in_all / max(self.manifest.passages, 1), 1.0)

    def consistency(self, now: float) -> str:
        """Consistency at which a read sees all of it."""
        return BOUNDED if now > self.published + SETTLED else STRONG


def live_number(connection: Connection, consistency: str = STRONG) -> int | None:
    """The number of the live generation: the highest in any row."""
    try:
        rows = connection.query(Table.STATE, f'kind == "{GENERATION}"', ["number"], consistency)
    except IndexMissingError:
        return None
    return max((int(row["number"]) for row in rows), default=None)


def read_live(connection: Connection) -> Generation | None:
    number = live_number(connection)
    return None if number is None else read_generation(connection, number)


def require_live(connection: Connection) -> Generation:
    live = read_live(connection)
    if live is None:
        raise IndexMissingError(
            f"the Milvus server at {connection.uri} has no index {connection.prefix}",
            hint="make one: python -m ingest; or set `milvus_prefix` to the one that is there",
        )
    return live


def read_generation(connection: Connection, number: int) -> Generation:
    """Raises IndexCorruptError if the server's data differs from what was published."""
    try:
        (row,) = connection.query(Table.STATE, f'id == "{GENERATION}/{number}"', ["data"])
        named = json.loads(row["data"])
        found = {
            part["id"]: part["data"] for part in connection.with_values(Table.PARTS, "id", named["parts"], ["data"])
        }
        text = "".join(found[part] for part in named["parts"])
        if hashlib.sha256(text.encode()).hexdigest() != named["sha256"]:
            raise ValueError("its checksum differs")
        return Generation.model_validate_json(text)
    except (KeyError, ValueError, ValidationError) as error:
        raise IndexCorruptError(
            f"generation {number} of the index {connection.prefix} at {connection.uri} cannot be read: {error!r}",
            hint="write it again: python -m ingest --rebuild",
        ) from error


def flip(connection: Connection, generation: Generation, text: str, parts: list[int]) -> None:
    """Make the generation with its record in `parts` live, by one row."""
    named = {"parts": parts, "sha256": hashlib.sha256(text.encode()).hexdigest(), "published": generation.published}
    connection.insert(
        Table.STATE, [state_row(GENERATION, str(generation.number), generation.number, json.dumps(named))]
    )


def state_row(kind: str, name: str, number: int, data: str) -> dict[str, object]:
    return {"id": f"{kind}/{name}", "kind": kind, "number": number, "data": data, "vector": NOTHING}

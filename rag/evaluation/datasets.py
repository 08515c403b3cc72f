"""Evaluation sets from disk: a BEIR folder, or a gold file over documents that are already in an index.

BEIR (Thakur et al., 2021): `corpus.jsonl` {"_id", "title", "text"}, `queries.jsonl` {"_id", "text"}, `qrels.tsv` with a
header row and the columns query id, document id, grade. A gold file has one question per line with the quotes that
answer it; a document with such a quote is relevant.

Invalid input raises UsageError with file, line and value: a missing or empty file, a malformed row, a duplicate id,
judgements on unknown ids or that contradict each other. Oddities of real sets are kept: duplicate documents, documents
without text (which cannot be found), very long ones, and queries without a relevant document, which the averages omit.
A grade of 0 or less means the same as no judgement: not relevant.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from rag.cli import read_text
from rag.errors import UsageError
from rag.types import Role, Turn

CORPUS_FILE, QUERIES_FILE, QRELS_FILE = "corpus.jsonl", "queries.jsonl", "qrels.tsv"
FORMS = f"a BEIR folder ({CORPUS_FILE}, {QUERIES_FILE}, {QRELS_FILE}) or a gold file (JSON lines)"


class Split(StrEnum):
    DEV = "dev"
    TEST = "test"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class SourceDocument:
    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Query:
    """A question with the conversation before it. `kind` comes from a gold file."""

    id: str
    text: str
    split: Split
    history: tuple[Turn, ...] = ()
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Questions and their answers.

    `qrels` has the grades (above 0) of a query's relevant documents; a query without an entry has none. `evidence` has
    a query's quotes, each in all its wordings. `documents` is None for a gold file, whose documents are those of an
    index.
    """

    name: str
    queries: tuple[Query, ...]
    qrels: Mapping[str, Mapping[str, int]]
    evidence: Mapping[str, tuple[tuple[str, ...], ...]]
    documents: tuple[SourceDocument, ...] | None

    @property
    def scored(self) -> tuple[Query, ...]:
        """The queries that have a relevant document."""
        return tuple(query for query in self.queries if query.id in self.qrels)

    @property
    def duplicate_documents(self) -> int:
        """The number of documents identical to an earlier one."""
        documents = self.documents or ()
        return len(documents) - len({(document.title, document.text) for document in documents})

    def part(self, split: Split) -> "Dataset":
        """The dataset with only the queries of a split. Raises UsageError if none of them can be scored."""
        part = self if split is Split.ALL else replace(self, queries=_of(self.queries, split))
        if not part.scored:
            raise UsageError(
                f"{self.name} has no query with a relevant document in its split {split}",
                hint="choose another --split, or check the judgements",
            )
        return part


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


_Id = Annotated[str, StringConstraints(strict=True, min_length=1)]
_Text = Annotated[str, StringConstraints(strict=True, pattern=r"\S")]


class IdentifiedRow(_Row):
    id: _Id


class _CorpusRow(IdentifiedRow):
    id: _Id = Field(alias="_id")
    title: str = ""
    text: str


class _QueryRow(IdentifiedRow):
    id: _Id = Field(alias="_id")
    text: _Text


class _Judgement(_Row):
    query: _Id
    document: _Id
    grade: int


class GoldEvidence(_Row):
    """Evidence for an answer; `translation` says the same in a page's other language."""

    document: _Id
    quote: _Text
    translation: _Text | None = None

    @property
    def wordings(self) -> tuple[str, ...]:
        return (self.quote,) if self.translation is None else (self.quote, self.translation)


class GoldRow(IdentifiedRow):
    """A question of a gold file. `standalone` states a follow-up without the conversation before it."""

    question: _Text
    history: tuple[tuple[Literal["user", "assistant"], str], ...] = ()
    kind: str | None = None
    split: Literal["dev", "test"]
    evidence: tuple[GoldEvidence, ...] = ()
    answerable: bool | None = None
    standalone: _Text | None = None

    @property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(Turn(Role(role), text) for role, text in self.history)


class Labelled(Protocol):
    """A labelled question, of one of the splits."""

    @property
    def id(self) -> str: ...

    @property
    def split(self) -> str: ...


Row = TypeVar("Row", bound=_Row)
Identified = TypeVar("Identified", bound=IdentifiedRow)
Question = TypeVar("Question", bound=Labelled)


def load_dataset(path: Path) -> Dataset:
    """Read a BEIR folder or a gold file. Raises UsageError."""
    if path.is_dir():
        return _beir(path)
    if path.is_file():
        return _gold(path)
    raise UsageError(f"there is no dataset at {path}", hint=f"name {FORMS}")


def load_gold(file: Path) -> list[GoldRow]:
    """The rows of a gold file, even those without an answer. Raises UsageError."""
    return list(json_rows(file, GoldRow))


def split_of(query_id: str) -> Split:
    """The split of a question that names none: by the parity of the first byte of its id's SHA-256, even is dev."""
    return Split.TEST if hashlib.sha256(query_id.encode()).digest()[0] & 1 else Split.DEV


def evenly_spread(questions: Sequence[str], count: int) -> list[str]:
    """At most `count` of the distinct questions, evenly spread in their order; deterministic."""
    unique = list(dict.fromkeys(question for question in questions if question.strip()))
    count = max(0, min(count, len(unique)))
    return [unique[place * len(unique) // count] for place in range(count)]


def choose(rows: Sequence[Question], split: Split, limit: int | None, file: Path) -> list[Question]:
    """The rows of a split, or `limit` of them, evenly spread. Raises UsageError if none are left."""
    if limit is not None and limit < 1:
        raise UsageError(f"--limit {limit} asks nothing", hint="give a number of at least 1")
    part = {row.id: row for row in rows if split is Split.ALL or Split(row.split) is split}
    if not part:
        raise UsageError(f"{file} has no question in its split {split}", hint="choose another --split")
    return list(part.values()) if limit is None else [part[row_id] for row_id in evenly_spread(list(part), limit)]


def _beir(folder: Path) -> Dataset:
    documents = {
        row.id: SourceDocument(row.id, row.title, row.text) for row in json_rows(folder / CORPUS_FILE, _CorpusRow)
    }
    if not any(document.text.strip() for document in documents.values()):
        raise UsageError(f"no document of {folder / CORPUS_FILE} has text", hint="there is nothing to search")
    queries = {row.id: Query(row.id, row.text, split_of(row.id)) for row in json_rows(folder / QUERIES_FILE, _QueryRow)}
    return Dataset(
        name=folder.resolve().name,
        queries=tuple(queries.values()),
        qrels=_qrels(folder / QRELS_FILE, queries, documents),
        evidence={},
        documents=tuple(documents.values()),
    )


def _gold(file: Path) -> Dataset:
    rows = load_gold(file)
    return Dataset(
        name=file.resolve().stem,
        queries=tuple(Query(row.id, row.question, Split(row.split), row.turns, row.kind) for row in rows),
        qrels={row.id: {evidence.document: 1 for evidence in row.evidence} for row in rows if row.evidence},
        evidence={row.id: tuple(evidence.wordings for evidence in row.evidence) for row in rows if row.evidence},
        documents=None,
    )


def _qrels(
    file: Path, queries: Mapping[str, Query], documents: Mapping[str, SourceDocument]
) -> dict[str, dict[str, int]]:
    grades: dict[tuple[str, str], int] = {}
    for number, line in _lines(file):
        cells = line.split("\t")
        if number == 1:
            if cells[-1].strip().lstrip("-").isdigit():
                raise UsageError(
                    f"{file} line 1 is a judgement, not the header row: {line!r}",
                    hint="begin with the line: query-id, corpus-id, score (separated by tabs)",
                )
            continue
        if len(cells) != 3:
            raise UsageError(
                f"{file} line {number} has {len(cells)} columns: {line[:80]!r}",
                hint="a row is: query id, document id, grade, separated by tabs",
            )
        row = _validated(file, number, _Judgement, dict(zip(("query", "document", "grade"), cells, strict=True)))
        for kind, name, known in (("query", row.query, queries), ("document", row.document, documents)):
            if name not in known:
                raise UsageError(
                    f"{file} line {number} names the unknown {kind} {name!r}",
                    hint=f"remove the row, or add the {kind} to its file",
                )
        if grades.setdefault((row.query, row.document), row.grade) != row.grade:
            raise UsageError(
                f"{file} line {number} grades document {row.document!r} for query {row.query!r} a second time, "
                f"{row.grade} instead of {grades[row.query, row.document]}",
                hint="keep one of the rows",
            )
    qrels: dict[str, dict[str, int]] = {}
    for (query, document), grade in grades.items():
        if grade > 0:
            qrels.setdefault(query, {})[document] = grade
    return qrels


def first_row_has(file: Path, field: str) -> bool:
    """Whether the first row of a JSON-lines file has a field, which tells its kind. False for an unreadable file, which
    whoever reads the rows reports."""
    try:
        with file.open(encoding="utf-8-sig") as stream:
            row = json.loads(stream.readline())
    except (OSError, ValueError):
        return False
    return isinstance(row, dict) and field in row


def json_rows(file: Path, model: type[Identified]) -> Iterator[Identified]:
    """The rows of a JSON-lines file; at least one, unique ids."""
    first: dict[str, int] = {}
    for number, line in _lines(file):
        row = _validated(file, number, model, line)
        if row.id in first:
            raise UsageError(
                f"{file} line {number} has the id {row.id!r} of line {first[row.id]}",
                hint="give each row an id of its own",
            )
        first[row.id] = number
        yield row
    if not first:
        raise UsageError(f"{file} is empty", hint=f"a dataset is {FORMS}")


def _validated(file: Path, number: int, model: type[Row], value: str | dict[str, str]) -> Row:
    try:
        return model.model_validate_json(value) if isinstance(value, str) else model.model_validate(value)
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        given = value if isinstance(value, str) else "\t".join(value.values())
        raise UsageError(
            f"{file} line {number}: {f'{place}: ' if place else ''}{problem['msg']}: {given[:80]!r}",
            hint=f"a dataset is {FORMS}; see rag/evaluation/datasets.py for the rows",
        ) from error


def _lines(file: Path) -> Iterator[tuple[int, str]]:
    """Non-blank lines, numbered from 1."""
    # Not splitlines: JSON strings may contain U+2028 and its like unescaped.
    for number, line in enumerate(read_text(file, hint=f"a dataset is {FORMS}").split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def _of(queries: tuple[Query, ...], split: Split) -> tuple[Query, ...]:
    return tuple(query for query in queries if query.split is split)

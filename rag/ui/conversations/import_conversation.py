"""A conversation exported as JSON -> exchanges of a new one. The file is untrusted: it is checked field by field, and
nothing in it is run, opened or fetched."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError, model_validator

from rag.answer.assistant import MAX_QUESTION_CHARACTERS
from rag.errors import UsageError
from rag.feedback.store import IMPORTED
from rag.language.courtesy import Courtesy
from rag.text.page import PageOf
from rag.types import (
    Answer,
    AnswerKind,
    Citation,
    Claim,
    ReadAs,
    Refusal,
    RefusalReason,
    Seconds,
    Step,
    StepKind,
)
from rag.ui.browser_input import unpacked
from rag.ui.session.excerpts import make_excerpts
from rag.ui.session.session import MAX_KNOWN, Exchange, State
from rag.ui.texts import Texts

# Unpacked bytes, and citations, of a file.
MOST_BYTES = 10_000_000
MOST_CITATIONS = 5_000

# More than any export reaches: the query of a follow-up holds two questions and some of an answer, and a refusal may
# name every word of a question. FailFast: only the first error is reported, and a small file can have a million.
Line = Annotated[str, Field(max_length=5 * MAX_QUESTION_CHARACTERS)]
Lines = Annotated[tuple[Line, ...], Field(max_length=MAX_QUESTION_CHARACTERS), FailFast()]
Text = Annotated[str, Field(max_length=200_000)]
Offset = Annotated[int, Field(ge=0, lt=1 << 40)]
Marker = Annotated[int, Field(ge=1, le=9_999)]
Duration = Annotated[float, Field(ge=0, le=1e7)]


class Exported(BaseModel):
    """Ignores fields of later versions."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True, allow_inf_nan=False)


class ExportedCitation(Exported):
    marker: Marker
    document: Annotated[str, Field(min_length=1, max_length=1_000)]
    title: Line
    start: Offset
    end: Offset
    quote: Annotated[str, Field(min_length=1, max_length=50_000)]
    page: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    section: Lines = ()

    @model_validator(mode="after")
    def _is_a_slice(self) -> "ExportedCitation":
        if self.end - self.start != len(self.quote):
            raise ValueError("the quote is not as long as its place")
        return self

    def value(self) -> Citation:
        return Citation(
            self.marker, self.document, self.title, self.start, self.end, self.quote, self.page, self.section
        )


class ExportedClaim(Exported):
    text: Text
    citations: Annotated[tuple[Marker, ...], Field(max_length=100), FailFast()]
    supported: bool

    def value(self) -> Claim:
        return Claim(self.text, self.citations, self.supported)


class ExportedRefusal(Exported):
    reason: RefusalReason
    missing: Lines = ()
    suggestions: Lines = ()
    only: Lines = ()

    def value(self) -> Refusal:
        return Refusal(self.reason, self.missing, self.suggestions, self.only)


class ExportedStep(Exported):
    kind: StepKind
    request: Line
    result: Line = ""
    documents: Lines = ()
    failed: bool = False
    seconds: Duration = 0.0

    def value(self) -> Step:
        return Step(self.kind, self.request, self.result, self.documents, self.failed, self.seconds)


class ExportedSeconds(Exported):
    retrieve: Duration = 0.0
    first_text: Duration = 0.0
    total: Duration = 0.0

    def value(self) -> Seconds:
        return Seconds(self.retrieve, self.first_text, self.total)


class ExportedReading(Exported):
    question: Text
    follows: Text | None = None

    def value(self) -> ReadAs:
        return ReadAs(self.question, self.follows)


class ExportedExchange(Exported):
    """As `as_json` writes an exchange."""

    id: Line
    parent: Line | None
    state: State
    question: Annotated[str, Field(min_length=1, max_length=MAX_QUESTION_CHARACTERS)]
    answer: Text
    llm: Annotated[str, Field(max_length=200)]
    search_queries: Lines = ()
    kind: AnswerKind = AnswerKind.ANSWER
    nearest: Lines = ()
    courtesy: Courtesy | None = None
    refusal: ExportedRefusal | None = None
    claims: Annotated[tuple[ExportedClaim, ...], Field(max_length=500), FailFast()] = ()
    citations: Annotated[tuple[ExportedCitation, ...], Field(max_length=500), FailFast()] = ()
    steps: Annotated[tuple[ExportedStep, ...], Field(max_length=100), FailFast()] = ()
    seconds: ExportedSeconds = ExportedSeconds()
    read_as: ExportedReading | None = None

    def value(self) -> Answer:
        return Answer(
            question=self.question,
            search_queries=self.search_queries,
            text=self.answer,
            llm=self.llm,
            claims=tuple(claim.value() for claim in self.claims),
            citations=tuple(citation.value() for citation in self.citations),
            refusal=None if self.refusal is None else self.refusal.value(),
            seconds=self.seconds.value(),
            kind=self.kind,
            courtesy=self.courtesy,
            nearest=self.nearest,
            steps=tuple(step.value() for step in self.steps),
            read_as=None if self.read_as is None else self.read_as.value(),
        )


class ExportedConversation(Exported):
    title: Line
    tag: Line = ""
    exchanges: Annotated[tuple[ExportedExchange, ...], Field(min_length=1, max_length=MAX_KNOWN), FailFast()]


@dataclass(frozen=True, slots=True)
class Imported:
    title: str
    exchanges: tuple[Exchange, ...]
    tag: str = ""


@dataclass(frozen=True, slots=True)
class PackedFile:
    """A file as the browser sends it; `packed` is empty if it is too large."""

    name: str
    packed: str

    @classmethod
    def read(cls, data: object) -> "PackedFile":
        values: Mapping[str, Any] = data if isinstance(data, Mapping) else {}
        return cls(str(values.get("rest") or "")[:200], str(values.get("packed") or ""))


def read_packed(file: PackedFile, page_of: PageOf, texts: Texts) -> Imported:
    """As `read_conversation`; an error names the file."""
    try:
        return read_conversation(_data(file, texts), page_of, texts)
    except UsageError as error:
        raise UsageError(texts.import_failed.format(name=file.name, problem=error.message)) from error


def _data(file: PackedFile, texts: Texts) -> bytes:
    try:
        data = unpacked(file.packed, MOST_BYTES) if file.packed else None
    except UsageError as error:
        raise UsageError(texts.import_no_json) from error
    if data is None:
        raise UsageError(texts.import_large.format(most=MOST_BYTES // 10**6))
    return data


def read_conversation(data: bytes, page_of: PageOf, texts: Texts) -> Imported:
    """Its exchanges, numbered from 1; looks quotes up in the present documents. Raises UsageError, in the reader's
    language."""
    try:
        file = ExportedConversation.model_validate_json(data)
    except ValidationError as error:
        raise UsageError(_message(error, texts)) from error
    if sum(len(row.citations) for row in file.exchanges) > MOST_CITATIONS:
        raise UsageError(texts.import_citations.format(most=f"{MOST_CITATIONS:,}"))
    known_page = lru_cache(maxsize=32)(page_of)
    numbers: dict[str, int] = {}
    exchanges = []
    for number, row in enumerate(file.exchanges, start=1):
        markers = [citation.marker for citation in row.citations]
        wrong = [
            name
            for name, is_wrong in (
                ("id", row.id in numbers),
                ("parent", row.parent is not None and row.parent not in numbers),  # it follows an earlier one
                ("citations", len(markers) != len(set(markers))),
            )
            if is_wrong
        ]
        if wrong:
            raise UsageError(texts.import_wrong.format(number=number, field=wrong[0]))
        numbers[row.id] = number
        exchanges.append(_exchange(number, None if row.parent is None else numbers[row.parent], row, known_page))
    return Imported(file.title, tuple(exchanges), file.tag)


def _exchange(number: int, parent: int | None, row: ExportedExchange, page_of: PageOf) -> Exchange:
    if row.state is not State.DONE:  # stopped or failed, without an answer
        return Exchange(number, row.question, parent, state=State.STOPPED, chunks=[row.answer], used={IMPORTED: True})
    answer = row.value()
    return Exchange(
        number,
        row.question,
        parent,
        state=State.DONE,
        used={IMPORTED: True},
        answer=answer,
        excerpts=make_excerpts(answer.citations, page_of),
        follow_ups=answer.nearest,
    )


def _message(error: ValidationError, texts: Texts) -> str:
    """The first error, and its place."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = first["loc"]
    if first["type"] == "json_invalid":
        return texts.import_no_json
    if len(where) < 2 or where[0] != "exchanges":
        return texts.import_no_conversation
    said = texts.import_lacks if first["type"] == "missing" else texts.import_wrong
    return said.format(number=int(where[1]) + 1, field=".".join(map(str, where[2:])))

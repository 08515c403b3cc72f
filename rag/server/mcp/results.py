"""What the tools return: the command line's JSON with an address for each slice, and the same as text to read."""

from collections.abc import Iterable, Sequence
from typing import Any

from mcp.types import CallToolResult, ContentBlock, ResourceLink, TextContent
from pydantic import BaseModel, Field

from rag.index import Index
from rag.language.injection import is_injection
from rag.practice.bank import Question
from rag.practice.grading import Grade
from rag.search.retrieval import Evidence
from rag.server.mcp.quoting import NOTICE, WITHHELD, fenced, slice_of, slice_uri, without_orders
from rag.types import Answer, Citation
from rag.wire import answer_as_dict, grade_as_dict


class LinkedPlace(BaseModel):
    """A stretch of a document."""

    uri: str = Field(description="the resource that is source[start:end]")
    document: str
    title: str
    section: list[str] = Field(description="headings above it, outermost first")
    start: int = Field(description="offset in the source text, in Unicode code points")
    end: int
    withheld: bool = Field(description="whether sentences that give orders to a model were withheld")


class QuotedSlice(LinkedPlace):
    """`quote` is `source[start:end]` exactly, unless something was withheld."""

    quote: str
    page: int | None = None


class CitedSlice(QuotedSlice):
    marker: int = Field(description="the number that appears in the answer as [marker]")


class Quoting(BaseModel):
    notice: str = NOTICE


class SearchResult(LinkedPlace):
    rank: int
    score: float
    text: str = Field(description="the cleaned passage; the resource has its source text")


class SearchResults(Quoting):
    query: str
    results: list[SearchResult]


class RefusalDetails(BaseModel):
    reason: str
    missing: list[str] = Field(description="names in the question that the material lacks")
    suggestions: list[str] = Field(description="questions that the material can answer")
    only: list[str] = Field([], description="the documents and folders that were searched; empty for all")


class AskedAnswer(Quoting):
    """`kind` is `answer`, `nearest` (no direct answer; the nearest material is quoted), `refusal` or `clarification`
    (the answer is a question back)."""

    question: str
    read_as: dict[str, str | None] = Field(description="the question as understood, and the earlier one it follows")
    answer: str
    kind: str
    nearest: list[str]
    courtesy: str | None
    refused: bool
    refusal: RefusalDetails | None
    llm: str = Field(description="who wrote the answer; `extractive`: every sentence is a quote")
    claims: list[dict[str, Any]] = Field(description="sentences, their markers, and whether these support them")
    citations: list[CitedSlice]
    seconds: dict[str, float]


class SourceText(Quoting, QuotedSlice):
    characters: int = Field(description="length of the whole document")
    next_start: int | None = Field(description="offset to read on from; null at the end")


class PracticeQuestion(BaseModel):
    id: str = Field(description="pass it to grade_answer")
    question: str
    kind: str
    topic: str
    tags: list[str]
    follow_ups: list[str] = Field(description="ids of questions that dig deeper")
    due: bool
    topics: dict[str, int] = Field(description="all topics, with the number of questions in each")


class GradedAnswer(Quoting):
    question_id: str
    score: float = Field(ge=0, le=1, description="coverage times correctness")
    coverage: float = Field(ge=0, le=1, description="share of the points that the answer addresses")
    correctness: float = Field(ge=0, le=1, description="share of what it addresses that is right")
    points: list[dict[str, Any]] = Field(
        description="the points of a good answer, each with the verdict (found, partly, mentioned, missing, "
        "contradicted, unsure), where this answer makes it (offsets into the answer), and the slice that states it"
    )
    mistakes: list[dict[str, Any]]
    beyond: list[list[int]] = Field(description="offsets of sentences beyond the material; they cost nothing")
    notes: list[str]
    graded_by: str
    kept: bool = Field(description="whether the attempt was stored in the reader's practice log")


def search_result(evidence: Evidence) -> CallToolResult:
    found = []
    for hit in evidence.hits:
        passage, text = hit.passage, without_orders(hit.passage.text)
        fields = place_fields(passage.document, passage.title, passage.section, passage.start, passage.end)
        found.append(SearchResult(**fields, rank=hit.rank, score=hit.score, text=text, withheld=text != passage.text))
    text = "\n\n".join(f"[{one.rank}] {_where(one)}\n{one.text}" for one in found)
    return result(SearchResults(query=evidence.query, results=found), fenced(text or "(nothing found)"), found)


def answer_result(index: Index, answer: Answer) -> CallToolResult:
    values = answer_as_dict(answer)
    cited = [CitedSlice(marker=one.marker, **slice_fields(index, one)) for one in answer.citations]
    for key in ("nearest", "citations", "search_queries", "steps"):
        values.pop(key)
    if values["refusal"]:
        values["refusal"]["suggestions"] = _without_injections(values["refusal"]["suggestions"])
    values["answer"] = without_orders(answer.text)
    nearest = _without_injections(answer.nearest)
    given = AskedAnswer(**values, nearest=nearest, citations=cited)
    sources = "\n".join(f"[{one.marker}] {_where(one)}" for one in cited)
    asks = "\n".join(f"- {question}" for question in nearest)
    return result(given, fenced("\n\n".join(filter(None, (given.answer, asks, sources)))), cited)


def question_result(question: Question, *, due: bool, topics: dict[str, int]) -> CallToolResult:
    asked = PracticeQuestion(
        id=question.id,
        question=question.text,
        kind=str(question.kind),
        topic=question.topic,
        tags=_without_injections(question.tags),
        follow_ups=_without_injections(question.follow_ups),
        due=due,
        topics=topics,
    )
    return result(asked, f"{fenced(question.text)}\nid: {question.id}")


def grade_result(index: Index, question: Question, grade: Grade, *, kept: bool) -> CallToolResult:
    values = grade_as_dict(grade)
    cited = []
    rows = [*values["points"], *values["mistakes"]]
    citations = [*(one.point.citation for one in grade.points), *(one.mistake.right for one in grade.mistakes)]
    for row, citation in zip(rows, citations, strict=True):
        row["citation"] = slice_fields(index, citation)
        row["text"] = WITHHELD if row["citation"]["withheld"] else without_orders(row["text"])
        cited.append(QuotedSlice(**row["citation"]))
    graded = GradedAnswer(question_id=question.id, kept=kept, **values)
    points = "\n".join(f"{point['verdict']}: {point['text']}" for point in graded.points)
    mistakes = "\n".join(f"mistake: {made['text']} -> {made['citation']['quote']}" for made in graded.mistakes)
    score = f"score {graded.score:.2f}, graded by {graded.graded_by}"
    said = fenced("\n".join((points, mistakes)))
    return result(graded, f"{score}\n{said}", cited)


def result(value: BaseModel, text: str, slices: Sequence[LinkedPlace] = ()) -> CallToolResult:
    """Text to read, values, and a link to each slice."""
    links: list[ContentBlock] = [
        ResourceLink(uri=one.uri, name=f"{one.document} {one.start}–{one.end}", mime_type="text/plain")
        for one in {one.uri: one for one in slices}.values()
    ]
    return CallToolResult(
        content=[TextContent(text=text, type="text"), *links], structured_content=value.model_dump(mode="json")
    )


def place_fields(document: str, title: str, section: Sequence[str], start: int, end: int) -> dict[str, Any]:
    return {
        "uri": slice_uri(document, start, end),
        "document": document,
        "title": without_orders(title),
        "section": [without_orders(name) for name in section],
        "start": start,
        "end": end,
    }


def slice_fields(index: Index, citation: Citation) -> dict[str, Any]:
    """The fields of a QuotedSlice; takes its quote from the source again."""
    quote, withheld = slice_of(index.storage.source(citation.document) or "", citation.start, citation.end)
    place = place_fields(citation.document, citation.title, citation.section, citation.start, citation.end)
    return {**place, "quote": quote, "withheld": withheld, "page": citation.page}


def _without_injections(names: Iterable[str]) -> list[str]:
    return [name for name in names if not is_injection(name)]


def _where(one: CitedSlice | SearchResult) -> str:
    return f"{' > '.join((one.document, *one.section))} ({one.uri})"

"""POST /v1/search, POST /v1/ask, GET /v1/documents/{id}."""

import hashlib
from dataclasses import replace
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.convertors import PathConvertor, register_url_convertor

from rag.answer.assistant import Assistant, check_question
from rag.search.retrieval import Evidence
from rag.server.http.completions import slice_url
from rag.server.http.problems import Problem
from rag.server.http.requests import AskRequest, SearchRequest, turns_of
from rag.server.http.service import Service
from rag.server.http.work import unless_gone
from rag.wire import answer_as_dict, search_as_dict

router = APIRouter(prefix="/v1", tags=["specific to this server"])


class Slice(BaseModel):
    document: str
    start: int
    end: int
    characters: int
    text: str


class Found(BaseModel):
    """As printed by `search --json`, with a `url` for each result that returns source[start:end]."""

    query: str
    results: list[dict[str, Any]]


class Asked(BaseModel):
    """As printed by `ask --json`, with a `url` for each citation that returns its quote."""

    id: str | int | None
    question: str
    read_as: dict[str, str | None]
    search_queries: list[str]
    answer: str
    kind: Literal["answer", "nearest", "refusal", "clarification"]
    nearest: list[str]
    courtesy: str | None
    refused: bool
    refusal: dict[str, Any] | None
    llm: str
    claims: list[dict[str, Any]]
    citations: list[dict[str, Any]]
    steps: list[dict[str, Any]]
    seconds: dict[str, float]


@router.post("/search")
async def search(body: SearchRequest, request: Request) -> Found:
    """The passages for a question, best first. Offsets count Unicode code points of the document's text."""
    service: Service = request.app.state.service
    query, history = check_question(body.query), service.refusals.marked(turns_of(body.history))
    choices = replace(service.assistant.choices, only=tuple(body.only))
    assistant = await run_in_threadpool(service.choosing, choices)

    def compute() -> Evidence:
        return assistant.search(query, history, k=body.k)

    found = search_as_dict(await service.work.computed(compute))
    base = service.base(request)
    sources = await run_in_threadpool(_sources, assistant, [result["document"] for result in found["results"]])
    for result in found["results"]:
        start, end = result["start"], result["end"]
        result["url"] = slice_url(base, result["document"], start, end, sources[result["document"]][start:end])
    return Found(**found)


@router.post("/ask")
async def ask(body: AskRequest, request: Request) -> Asked:
    """The answer with its claims and citations. Offsets count Unicode code points of the document's text."""
    service: Service = request.app.state.service
    question, history = check_question(body.question), service.refusals.marked(turns_of(body.history))
    choices = replace(
        service.assistant.choices, llm=body.answerer, style=body.style_name, only=tuple(body.only), follows=body.follows
    )
    assistant = await run_in_threadpool(service.choosing, choices)
    finished = await unless_gone(request, service.work.finished(assistant, question, history))
    answer = answer_as_dict(finished.answer)
    base = service.base(request)
    for citation in answer["citations"]:
        place = (citation["document"], citation["start"], citation["end"])
        citation["url"] = slice_url(base, *place, citation["quote"])
    return Asked(id=body.id, **answer)


class DocumentName(PathConvertor):
    """A path in which every character counts, even line breaks: file names may hold them."""

    regex = "(?s:.*)"


register_url_convertor("document_name", DocumentName())


@router.get(
    "/documents/{id:document_name}",
    response_model=None,
    responses={
        200: {"content": {"text/plain": {}, "application/json": {"schema": Slice.model_json_schema()}}},
        404: {"description": "no such document"},
        410: {"description": "the document has changed there"},
    },
)
def document(
    id: str,
    request: Request,
    start: Annotated[int, Query(ge=0, le=1 << 40, description="offset to begin at, in Unicode code points")] = 0,
    end: Annotated[int | None, Query(ge=0, le=1 << 40, description="the first offset that is not returned")] = None,
    sha256: Annotated[
        str | None,
        Query(pattern=r"^[0-9a-f]{8,64}$", description="first digits of the SHA-256 of the slice in UTF-8; else 410"),
    ] = None,
) -> Response:
    """The text of a document as ingested, or the slice text[start:end]: as plain text without anything else, or with
    `Accept: application/json` as an object."""
    service: Service = request.app.state.service
    source = service.assistant.source(id)
    if source is None:
        raise Problem(404, f"there is no document {id[:200]!r}", code="document_not_found", param="id")
    end = len(source) if end is None else end
    text = source[start:end]
    if sha256 is not None and not hashlib.sha256(text.encode()).hexdigest().startswith(sha256):
        raise Problem(410, "the document has changed there", code="document_changed", param="sha256")
    if not start <= end <= len(source):
        told = f"[{start}:{end}] is not a slice of the {len(source):,} characters of this document"
        raise Problem(400, told, code="out_of_range", param="start" if start > end else "end")
    if "application/json" in request.headers.get("accept", ""):
        found = Slice(document=id, start=start, end=end, characters=len(source), text=text)
        return Response(found.model_dump_json(), media_type="application/json")
    return Response(text.encode(), media_type="text/plain; charset=utf-8")


def _sources(assistant: Assistant, names: list[str]) -> dict[str, str]:
    return {name: assistant.source(name) or "" for name in set(names)}

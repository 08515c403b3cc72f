"""Responses of POST /v1/chat/completions, in OpenAI's format; annotations link the statements of an answer to their
sources."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal
from urllib.parse import quote, urlencode

from pydantic import BaseModel, Field

from rag.text.tokens import count_tokens
from rag.types import Answer, Claim, Turn

# Characters of a slice's SHA-256 in its address.
DIGEST_CHARACTERS = 16


class About(BaseModel):
    """Fields that OpenAI's format has no place for; they are those of POST /v1/ask."""

    kind: Literal["answer", "nearest", "refusal", "clarification"]
    refused: bool
    refusal: dict[str, Any] | None = None
    nearest: list[str] = []
    courtesy: str | None = None
    llm: str
    search_queries: list[str]
    read_as: dict[str, str | None]
    seconds: dict[str, float]


class Usage(BaseModel):
    """Token counts in cl100k_base: of the question with its conversation, and of the answer. They do not include what a
    chat model was given to read and billed for."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class UrlCitation(BaseModel):
    """All offsets count Unicode code points (not UTF-16 units, as JavaScript does)."""

    start_index: int = Field(description="message.content[start_index:end_index] is the statement, with its markers")
    end_index: int
    title: str = Field(description="title of the document")
    url: str = Field(description="returns exactly `quote`, or 410 once the document has changed there")
    marker: int = Field(description="number that appears in the answer as [marker]")
    document: str = Field(description="the document's name, for GET /v1/documents/{id}")
    section: list[str] = Field(description="headings above the quote, outermost first")
    start: int = Field(description="source[start:end] is `quote`, where `source` is the text of the document")
    end: int
    quote: str
    page: int | None = None


class Annotation(BaseModel):
    type: str = Field("url_citation", description="always url_citation")
    url_citation: UrlCitation


class AnswerMessage(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = Field(None, description="always null: a refusal is in `content`; see `interview_rag.kind`")
    annotations: list[Annotation]


class Choice(BaseModel):
    index: Literal[0] = 0
    message: AnswerMessage
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


class Completion(BaseModel):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    system_fingerprint: str = Field(description="the generation of the index that answered")
    choices: list[Choice]
    usage: Usage
    interview_rag: About


class Delta(BaseModel):
    role: Literal["assistant"] | None = None
    content: str | None = None
    annotations: list[Annotation] | None = Field(None, description="all of them, with the last delta")


class ChunkChoice(BaseModel):
    index: Literal[0] = 0
    delta: Delta
    logprobs: None = None
    finish_reason: Literal["stop"] | None = None


class Chunk(BaseModel):
    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChunkChoice]
    usage: Usage | None = None
    system_fingerprint: str | None = None
    interview_rag: About | None = Field(None, description="with the last delta")

    def event(self, *, with_usage: bool) -> bytes:
        """As a server-sent event. Has `usage`, null except at the end, only if requested."""
        unset = {"usage"} if not with_usage else None
        data = self.model_dump(mode="json", exclude=unset)
        for choice in data["choices"]:
            choice["delta"] = {name: value for name, value in choice["delta"].items() if value is not None}
        for name in ("interview_rag", "system_fingerprint"):
            if data[name] is None:
                del data[name]
        return event_of(data)


def event_of(data: object) -> bytes:
    # No line end of any kind inside: a client may split at U+2028 too.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for separator in "\x85\u2028\u2029":
        text = text.replace(separator, f"\\u{ord(separator):04x}")
    return f"data: {text}\n\n".encode()


def about(answer: dict[str, Any]) -> About:
    """From the JSON of an answer."""
    return About(**{name: answer[name] for name in About.model_fields})


def usage_of(question: str, history: Sequence[Turn], answer: Answer) -> Usage:
    prompt = sum(map(count_tokens, [question, *(turn.text for turn in history)]))
    completion = count_tokens(answer.text)
    return Usage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)


def annotations_of(answer: Answer, base: str, *, content: str | None = None, begin: int = 0) -> list[Annotation]:
    """One for each citation of each claim, in the order of the answer. `content` is the message, if it is more than the
    answer's text, and `begin` the offset of the answer in it."""
    content = answer.text if content is None else content
    citations = {citation.marker: citation for citation in answer.citations}
    return [
        Annotation(
            url_citation=UrlCitation(
                start_index=start,
                end_index=end,
                title=citation.title,
                url=slice_url(base, citation.document, citation.start, citation.end, citation.quote),
                marker=marker,
                document=citation.document,
                section=list(citation.section),
                start=citation.start,
                end=citation.end,
                quote=citation.quote,
                page=citation.page,
            )
        )
        for claim, (start, end) in zip(answer.claims, places(content, answer.claims, begin), strict=True)
        for marker in claim.citations
        for citation in [citations[marker]]
    ]


def places(text: str, claims: Sequence[Claim], begin: int = 0) -> Iterator[tuple[int, int]]:
    """The span of each claim in the text from `begin` on, with the markers that follow it; for a missing claim, all of
    that text.

    >>> list(places("A. [1] B. [2][3]", [Claim("A.", (1,), True), Claim("B.", (2, 3), True)]))
    [(0, 6), (7, 16)]
    """
    reached = begin
    for claim in claims:
        start = text.find(claim.text, reached)
        if start < 0:
            yield begin, len(text)
            continue
        end = start + len(claim.text)
        for marker in claim.citations:
            written = f"[{marker}]"
            place = text.find(written, end)
            if place >= 0 and not text[end:place].strip():
                end = place + len(written)
        reached = end
        yield start, end


def slice_url(base: str, document: str, start: int, end: int, text: str) -> str:
    """The address that returns a slice of a document as long as it still reads `text`."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS]
    query = urlencode({"start": start, "end": end, "sha256": digest})
    return f"{base}/v1/documents/{quote(document)}?{query}"

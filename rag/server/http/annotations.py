"""Citations -> annotations that link an answer's statements to their sources."""

import hashlib
from collections.abc import Iterator, Sequence
from urllib.parse import quote, urlencode

from pydantic import BaseModel, Field

from rag.types import Answer, Claim

# Characters of a slice's SHA-256 in its address.
DIGEST_CHARACTERS = 16


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

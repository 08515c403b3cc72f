"""A quote's whole source, with every quote of the answer highlighted, as a dialog over the page."""

import logging
from base64 import b64encode
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

from ingest.formats.extract import Picture, UnreadableError
from ingest.reading.parser_process import ParserProcess
from rag.answer.assistant import Assistant
from rag.index.part import page_of
from rag.language.language import Language
from rag.text.page import Outline
from rag.types import Citation
from rag.ui.chat.sources import HTML, highlight
from rag.ui.readable import balanced, readable
from rag.ui.session.excerpts import segments
from rag.ui.texts import Texts

logger = logging.getLogger(__name__)

# Cached pictures, some hundred kB each, and the processor seconds that one may take.
KEPT, SECONDS = 16, 10


def picture_of(assistant: Assistant, citation: Citation) -> Picture | None:
    """None if the document is no PDF, or its file is gone, has changed, or cannot be drawn."""
    if citation.page is None or not citation.document.lower().endswith(".pdf"):
        return None
    index = assistant.index
    entry = next((entry for entry in index.storage.entries() if entry.name == citation.document), None)
    root = next((Path(root.path) for root in index.manifest.roots if entry and root.number == entry.root), None)
    if entry is None or root is None or entry.stale:
        return None
    file = root / entry.relative if root.is_dir() else root
    try:
        return _drawn(file, entry.sha256, citation.page, citation.quote)
    except (OSError, UnreadableError) as error:
        logger.info("%s cannot be shown as a picture: %s", citation.document, error)
        return None


@lru_cache(KEPT)
def _drawn(file: Path, digest: str, page: int, quote: str) -> Picture | None:
    data = file.read_bytes()
    if sha256(data).hexdigest() != digest:
        return None
    with ParserProcess(seconds=SECONDS) as process:
        return process.picture(data, page, quote)


# Characters of a source shown at once, around the quote.
SHOWN = 300_000


def open_whole(
    assistant: Assistant, citations: Sequence[Citation], chosen: Citation, texts: Texts, moment: str = ""
) -> str:
    """The document of a quote as it is now, under its title in the reader's language, and of a PDF its page as a
    picture. HTML; see `render_whole`."""
    found, pages = page_of(assistant.index, chosen.document), assistant.index.storage.pages(chosen.document)
    source, outline = found or (None, Outline())
    english = outline.english if texts.tag == Language.EN else ""
    at = next((citation.start for citation in _placed([chosen], source)), chosen.start)
    page = chosen.page or bisect_right(pages, at) or None
    chosen = replace(chosen, title=english or chosen.title, page=page)
    picture = picture_of(assistant, chosen)
    return render_whole(
        citations, chosen, source, pages, texts, body_start=outline.body_start, moment=moment, picture=picture
    )


def render_whole(
    citations: Sequence[Citation],
    chosen: Citation,
    source: str | None,
    pages: Sequence[int],
    texts: Texts,
    *,
    body_start: int = 0,
    moment: str = "",
    picture: Picture | None = None,
) -> str:
    """HTML. `citations` are those of the same document, `pages` the offsets at which its pages begin; `source` is None
    if the document is gone. `moment` makes each opening unique. Omits what is before `body_start`, unless it is quoted.
    `picture` is the page of the chosen quote, shown above the text."""
    placed = _placed(citations, source)
    notes = []
    start, end = 0, len(source or "")
    if source is None or not any(citation.marker == chosen.marker for citation in placed):
        notes.append(texts.whole_gone)
        quotes = ([(balanced(citation.quote), (citation.marker,))] for citation in citations)
        body = "\n\n".join(readable(quote, highlight) for quote in quotes)
    else:
        at = next(citation.start for citation in placed if citation.marker == chosen.marker)
        if all(body_start <= citation.start for citation in placed):
            start = body_start
        first, start = start, max(start, at - SHOWN // 2)
        end = min(end, start + SHOWN)
        if first < start or end < len(source):
            notes.append(texts.whole_cut)
        borders = [start, *(page for page in pages if start < page < end), end]
        parts = []
        for low, high in pairwise(borders):
            within = [(part.text, part.markers) for part in segments(source, low, high, _within(placed, low, high))]
            parts += [_page(bisect_right(pages, low), texts), readable(within, highlight)]
        body = "".join(parts)
    page = f" · {texts.page.format(number=chosen.page)}" if chosen.page is not None else ""
    if picture is not None:
        png = b64encode(picture.png).decode()
        body = HTML("picture", picture=picture, png=png, marker=chosen.marker, name=chosen.title) + body
    return HTML("whole", body=body, chosen=chosen, page=page, notes=notes, moment=moment, texts=texts)


def _placed(citations: Sequence[Citation], source: str | None) -> list[Citation]:
    """The citations at their quotes' present places, without those whose quotes are gone or occur several times."""
    if source is None:
        return []
    placed = []
    for citation in citations:
        start = citation.start
        if source[start : citation.end] != citation.quote:
            start = source.find(citation.quote)
            if start < 0 or source.find(citation.quote, start + 1) >= 0:
                continue
        placed.append(replace(citation, start=start, end=start + len(citation.quote)))
    return placed


def _within(citations: Sequence[Citation], low: int, high: int) -> list[Citation]:
    """The parts of the citations between two places: a quote may continue on the next page."""
    return [
        replace(citation, start=max(citation.start, low), end=min(citation.end, high))
        for citation in citations
        if citation.start < high and low < citation.end
    ]


def _page(number: int, texts: Texts) -> str:
    return HTML("page", number=texts.page.format(number=number)) if number else ""

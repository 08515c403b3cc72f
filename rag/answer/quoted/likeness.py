"""How similar the units of sections are to a question, by their token vectors."""

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from rag.answer.quoted.paragraphs import Paragraph, read_together
from rag.answer.quoted.relevance import relevance
from rag.answer.quoted.sections import Section
from rag.embedding import Embedder
from rag.index import Index
from rag.index.store import TokenScores
from rag.language.terms import simplified
from rag.search.retrieval import Evidence
from rag.text.sentences import Unit

LINK = re.compile(r"\[[^\]\n]*\]\([^)\n]*\)")


def by_unit(
    index: Index, embedder: Embedder, evidence: Evidence, sections: Sequence[Section]
) -> list[tuple[tuple[float, ...], ...]]:
    """For each section and each of its paragraphs, how well each unit answers: its late interaction with the question,
    or its `relevance` without token vectors."""
    question = evidence.encoded
    if index.tokens is None or question is None or not len(question.tokens):
        return [_by_relevance(evidence.query, section) for section in sections]
    paragraphs = [paragraph for section in sections for paragraph in section.paragraphs]
    scores = iter(_by_tokens(index.tokens, embedder, evidence, paragraphs))
    return [tuple(next(scores) for _ in section.paragraphs) for section in sections]


def _by_tokens(
    tokens: TokenScores, embedder: Embedder, evidence: Evidence, paragraphs: Sequence[Paragraph]
) -> list[tuple[float, ...]]:
    assert evidence.encoded is not None
    passages = {paragraph.passage.number: paragraph.passage for paragraph in paragraphs}
    inside: dict[int, list[int]] = {number: [] for number in passages}
    for place, paragraph in enumerate(paragraphs):
        inside[paragraph.passage.number].append(place)
    # The tokens of a passage are those of its text, after those of its headings. Folding keeps the length of a text.
    spans = embedder.token_spans([simplified(passage.text) for passage in passages.values()])
    sentences = [
        np.asarray([_within(span, read) for place in places for read in _read(paragraphs[place])])
        for span, places in zip(spans, inside.values(), strict=True)
    ]
    found: list[tuple[float, ...]] = [()] * len(paragraphs)
    scored = tokens.part_scores(evidence.encoded, list(passages), sentences)
    for places, of_passage in zip(inside.values(), scored, strict=True):
        scores = iter(of_passage.tolist())
        for place in places:
            of_units = [(next(scores), text) for text in paragraphs[place].texts]
            found[place] = tuple(-1.0 if _sends_elsewhere(text) else score for score, text in of_units)
    return found


def _read(paragraph: Paragraph) -> Iterator[list[Unit]]:
    """Each unit of a paragraph, with the items that it is nested in: alone it does not say what it is about."""
    return (read_together(paragraph.units, place) for place in range(len(paragraph.units)))


def _within(spans: NDArray[np.int32], units: Sequence[Unit]) -> NDArray[np.bool_]:
    """Which tokens stand in these units."""
    inside = [(spans[:, 0] < unit.end) & (spans[:, 1] > unit.start) for unit in units]
    return np.asarray(np.logical_or.reduce(inside), np.bool_)


def _sends_elsewhere(text: str) -> bool:
    """Whether a sentence consists mostly of links: it names the subject, but another page answers."""
    return 2 * sum(len(link) for link in LINK.findall(text)) > len(text)


def _by_relevance(question: str, section: Section) -> tuple[tuple[float, ...], ...]:
    scores = iter(relevance(question, section.texts, topic=section.title).tolist())
    return tuple(tuple(next(scores) for _ in paragraph.units) for paragraph in section.paragraphs)

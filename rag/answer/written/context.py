"""The context given to a chat model: the paragraphs that answer best, within a budget of its own tokens."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from rag.answer.quoted.choosing import choose_paragraphs
from rag.answer.quoted.features import NOTHING_ELSE, Wanted
from rag.answer.quoted.paragraphs import Paragraph, paragraphs, without_orders
from rag.answer.quoted.ranking import SectionRanking
from rag.answer.quoted.relevance import relevance
from rag.language.injection import defused, is_injection
from rag.search.retrieval import Evidence
from rag.text.tokens import count_tokens

# Share of the budget that the best page may take if other pages were found, too; see docs/results/context.md.
BEST_PAGE = 0.85
# A model also reads what a reader would skip: sections that score far below the best one, while there is room.
READ_CUT = 0.3
# Hits after this many are not considered.
HITS = 6


def choose_context(
    evidence: Evidence, rankings: Sequence[SectionRanking], budget: int, *, wanted: Wanted = NOTHING_ELSE
) -> list[Paragraph]:
    """The best paragraphs of the best hit's page and of the sides' pages, in their order, then the best of the other
    hits, without orders to the model; `as_context` of them takes at most `budget` tokens."""
    if not evidence.hits:
        return []
    page = evidence.hits[0].passage.document
    elsewhere = [hit.passage for hit in evidence.hits[1:HITS] if hit.passage.document != page]
    chosen: list[Paragraph] = []
    room = int(budget * BEST_PAGE) if elsewhere else budget
    characters = 2 * room
    while characters > 40:
        chosen = without_orders(choose_paragraphs(rankings, wanted=wanted, characters=characters, cut=READ_CUT))
        if count_tokens(as_context(chosen)) <= room:
            break
        characters = characters * 4 // 5
    else:
        chosen = [_shortened(evidence.query, paragraph, budget) for paragraph in chosen[:1]]
    candidates = [
        part for part in without_orders(chain.from_iterable(map(paragraphs, elsewhere))) if part not in chosen
    ]
    for paragraph in _best_first(evidence.query, candidates):
        if count_tokens(as_context([*chosen, paragraph])) <= budget:
            chosen.append(paragraph)
    return [paragraph for paragraph in chosen if paragraph.units]


def as_context(chosen: Sequence[Paragraph]) -> str:
    """Paragraphs as the prompt quotes them, under their headings. Text that could close the fence early is defused."""
    lines: list[str] = []
    above: tuple[str, str] = ("", "")
    for paragraph in chosen:
        title, heading = paragraph.passage.title, paragraph.heading
        if above[0] != title and not is_injection(title):
            lines.append(f"# {title}")
        if heading and above != (title, heading) and heading != title and not is_injection(heading):
            lines.append(f"## {heading}")
        above = (title, heading)
        lines.append(_text(paragraph))
    return defused("\n".join(lines))


def _text(paragraph: Paragraph) -> str:
    """The units of the paragraph with their list marks, on lines as in the passage."""
    whole = paragraph.passage.text
    parts: list[str] = []
    for place, (unit, text) in enumerate(zip(paragraph.units, paragraph.texts, strict=True)):
        gap = "\n" if unit.begins_line else " " if whole[unit.start - 1].isspace() else ""
        parts.append((gap if place else "") + (f"{unit.mark} " if unit.mark else "") + text)
    return "".join(parts)


def _best_first(question: str, candidates: Sequence[Paragraph]) -> Iterator[Paragraph]:
    if candidates:
        scores = relevance(question, [_text(paragraph) for paragraph in candidates])
        yield from (candidates[place] for place in scores.argsort(kind="stable")[::-1])


def _shortened(question: str, paragraph: Paragraph, room: int) -> Paragraph:
    """The sentences of a paragraph that answer best, in order, as many as fit into `room` tokens; none if none fits."""
    kept: list[int] = []
    for place in relevance(question, paragraph.texts).argsort(kind="stable")[::-1]:
        tried = sorted([*kept, int(place)])
        if count_tokens(as_context([_only(paragraph, tried)])) <= room:
            kept = tried
    return _only(paragraph, kept)


def _only(paragraph: Paragraph, places: Sequence[int]) -> Paragraph:
    return replace(paragraph, units=tuple(paragraph.units[place] for place in places))

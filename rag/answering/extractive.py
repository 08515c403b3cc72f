"""An answer without a chat model: the paragraphs of a page that answer, each sentence with its citation."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.answering.relevance import relevance
from rag.index import Index
from rag.retrieval import Evidence
from rag.sentences import Unit, UnitKind, units
from rag.types import Citation, Claim, Passage

# About what is read in a minute.
ANSWER_CHARACTERS = 900
# A paragraph's score is that of its best sentence, 0..1 within the page, and this often that of its passage, 0..1 among
# the hits. What scores below this share of the best is left out. Citation recall and mean length of the answers to the
# 219 answerable development questions of tests/data/gold.jsonl: .747 and 704 characters; with a weight of 2 and a cut
# at 0.5 .733 and 609, of 1 and 0.5 .733 and 659, of 1 and 0.4 .744 and 728, of 0.7 and 0.4 .744 and 752.
PASSAGE_WEIGHT = 1.4
CUT = 0.4
# Of a question with sides, so much room is for the whole and for each side, whose own words then choose. Development
# questions with two sides of which both are quoted, and mean length: 89 % and 900 characters; with one room of
# ANSWER_CHARACTERS 78 % and 718, with 600 and 300 82 % and 849, on the page of the whole question alone 82 % and 835,
# on the page of each side's best hit 87 % and 855.
SIDE_CHARACTERS = 400
# What the last answer said already counts this much in the answer to a follow-up.
SAID_WEIGHT = 0.5
# Passages before and after the best hit that are looked at: more than a page of the corpus has, less than a book.
REACH = 50
# A line like `常见追问` in a document without markup heads what follows.
LABEL = re.compile(r"[\u4e00-\u9fff]{2,8}[:：]?")
# A heading may hold several sentences; a shorter text stands in one by accident.
LONG_ENOUGH = 6
# A page of the corpus opens with the answer in one sentence; it leads, whichever part of the page matched.
SHORT_ANSWER_HEADINGS = frozenset({"一句话回答", "in one sentence", "tl;dr"})
# Code holds so many names that it matches almost any question; unless it is asked for, it counts half.
CODE_WEIGHT = 0.5
ASKS_FOR_CODE = re.compile(r"代码|手写|实现|怎么写|\bcode\b|\bimplement|\bwrite\b|\bsnippet\b", re.IGNORECASE)
BLOCKS = (UnitKind.CODE, UnitKind.FORMULA, UnitKind.TABLE)
# After a formula: what its letters stand for.
LEGEND = re.compile(r"(?:其中|这里|where\b|here\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Written:
    """Text of an answer with its claims and citations; `chunks` are the pieces in which it can be shown."""

    chunks: tuple[str, ...]
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]

    @property
    def text(self) -> str:
        return "".join(self.chunks).strip()


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Units of a passage that make sense together, and the heading they stand under."""

    passage: Passage
    heading: str
    units: tuple[Unit, ...]

    @property
    def texts(self) -> list[str]:
        return [self.passage.text[unit.start : unit.end] for unit in self.units]


def choose_paragraphs(
    index: Index,
    evidence: Evidence,
    sides: Sequence[Evidence] = (),
    *,
    said: str = "",
    characters: int = ANSWER_CHARACTERS,
    cut: float = CUT,
) -> list[Paragraph]:
    """What to quote, by document and in its order: the short answer of the best hit's page, and the paragraphs of the
    page that answer best, up to `characters`, without those that score below `cut` of the best.

    `sides` holds what was found for each side of a question that has several: each is given room, on its own page.
    `said` is the last answer, where the question follows it: what stands there need not be said again.
    """
    chosen: dict[tuple[str, int, int], Paragraph] = {}
    for part in (evidence, *(side for side in sides if side.hits)):
        candidates, scores = _score(index, part, part.hits[0].passage if part is evidence else _on_main_page(part))
        repeats = np.asarray([_is_said(paragraph, said) for paragraph in candidates], bool)
        scores[repeats] *= SAID_WEIGHT
        taken = {_place(paragraph) for paragraph in chosen.values()}
        short = np.asarray([_is_short_answer(paragraph.passage) for paragraph in candidates], bool)
        scores[repeats & short] = 0.0
        places = list(map(int, np.flatnonzero(short & ~repeats))) if part is evidence else []
        room = characters * SIDE_CHARACTERS // ANSWER_CHARACTERS if sides else characters
        room -= sum(_length(candidates[place]) for place in places)
        for place in map(int, np.argsort(-scores, kind="stable")):
            length = _length(candidates[place])
            if place in places or _place(candidates[place]) in taken:
                continue
            if (length <= room or not (places or chosen)) and scores[place] >= cut * scores.max():
                places.append(place)
                room -= length
        # A passage may end between a line and the formula, table or code that it announces.
        places += [place + 1 for place in places if _announces(candidates[place : place + 2])]
        chosen |= {_place(candidates[place]): candidates[place] for place in places}
    documents = list(dict.fromkeys(paragraph.passage.document for paragraph in chosen.values()))
    return sorted(
        chosen.values(), key=lambda paragraph: (documents.index(paragraph.passage.document), _place(paragraph))
    )


def _on_main_page(evidence: Evidence) -> Passage:
    """The best passage of the page whose hits lead most in sum. A side's own words are few, and its best hit may stand
    on a page that speaks of little else but it."""
    last = min(hit.score for hit in evidence.hits)
    leads: dict[str, float] = {}
    for hit in evidence.hits:
        leads[hit.passage.document] = leads.get(hit.passage.document, 0.0) + hit.score - last
    main = max(leads, key=lambda document: leads[document])
    return next(hit.passage for hit in evidence.hits if hit.passage.document == main)


def _score(index: Index, evidence: Evidence, best: Passage) -> tuple[list[Paragraph], NDArray[np.float64]]:
    """The paragraphs of the page of a hit in order, and how well each answers."""
    numbers = list(dict.fromkeys(index.storage.document_numbers(best.document)))
    middle = numbers.index(best.number)
    candidates = [
        paragraph
        for passage in index.storage.passages(numbers[max(0, middle - REACH) : middle + REACH + 1])
        if passage.document == best.document and _same_question(passage, best)
        for paragraph in paragraphs(passage)
    ]
    if not candidates:
        return [], np.zeros(0)
    lowest, spread = evidence.hits[-1].score, max(evidence.hits[0].score - evidence.hits[-1].score, 1e-6)
    found = {hit.passage.number: (hit.score - lowest) / spread for hit in evidence.hits}
    scores = _answering(evidence.query, candidates)
    scores += PASSAGE_WEIGHT * np.asarray([found.get(paragraph.passage.number, 0.0) for paragraph in candidates])
    if not ASKS_FOR_CODE.search(evidence.query):
        scores[[any(unit.kind is UnitKind.CODE for unit in paragraph.units) for paragraph in candidates]] *= CODE_WEIGHT
    return candidates, scores


def paragraphs(passage: Passage) -> Iterator[Paragraph]:
    """The paragraphs of a passage in order, without headings and without what has no place in the source.

    A formula, a table or code belongs to the lines around it that speak of it, a list to the line that announces it.
    """
    heading = passage.section[-1] if passage.section else ""
    gathered: list[Unit] = []
    announced = False  # a line that ends in a colon has come, and since then only what it announces
    for unit in units(passage.text):
        part = passage.text[unit.start : unit.end]
        if unit.kind is UnitKind.HEADING or _is_own_heading(unit, part, passage):
            if gathered:
                yield Paragraph(passage, heading, tuple(gathered))
            gathered, announced = [], False
            heading = part.lstrip("# ").replace("**", "").strip()
            continue
        if passage.content.source_range(unit.start, unit.end) is None:
            continue
        is_block = unit.kind in BLOCKS
        explains = bool(gathered) and gathered[-1].kind in BLOCKS and bool(LEGEND.match(part))
        if gathered and unit.begins_line and not (is_block or explains or (unit.mark and announced)):
            yield Paragraph(passage, heading, tuple(gathered))
            gathered, announced = [], False
        gathered.append(unit)
        announced = announced or (not unit.mark and part.endswith((":", "：")))
    if gathered:
        yield Paragraph(passage, heading, tuple(gathered))


def write_extract(chosen: Sequence[Paragraph], sources: dict[str, str]) -> Written:
    """Quote paragraphs sentence by sentence. `sources` maps a document to its source text."""
    chunks: list[str] = []
    claims: list[Claim] = []
    citations: list[Citation] = []
    before: Paragraph | None = None
    for paragraph in chosen:
        passage = paragraph.passage
        if before and paragraph.heading not in (before.heading, passage.title, ""):
            chunks.append(f"{_gap(chunks)}**{paragraph.heading}**\n\n")
        for place, (unit, part) in enumerate(zip(paragraph.units, paragraph.texts, strict=True)):
            span = passage.content.source_range(unit.start, unit.end)
            assert span is not None, "paragraphs() leaves out what has no place in the source"
            marker = len(citations) + 1
            quote = sources[passage.document][span[0] : span[1]]
            citations.append(Citation(marker, passage.document, passage.title, span[0], span[1], quote))
            claims.append(Claim(part, (marker,), supported=True))
            chunk = _render(unit, part, marker)
            goes_on = place or (unit.mark and before and before.units[-1].mark)  # a list without what was left out
            if not (goes_on and _gap(chunks)):
                chunk = _gap(chunks) + chunk.lstrip()
            chunks.append(chunk)
        before = paragraph
    return Written(tuple(chunks), tuple(claims), tuple(citations))


def _gap(chunks: Sequence[str]) -> str:
    return "" if not chunks or chunks[-1].endswith("\n\n") else "\n\n"


def _answering(question: str, candidates: Sequence[Paragraph]) -> NDArray[np.float64]:
    """Of each paragraph, the score of the sentence that answers best, from 0 (the worst of them) to 1 (the best)."""
    scores = relevance(
        question, [text for paragraph in candidates for text in paragraph.texts], topic=candidates[0].passage.title
    )
    starts = np.cumsum([0, *(len(paragraph.units) for paragraph in candidates[:-1])])
    spread = max(float(scores.max() - scores.min()), 1e-6)
    return np.asarray((np.maximum.reduceat(scores, starts) - scores.min()) / spread, np.float64)


def _announces(pair: Sequence[Paragraph]) -> bool:
    """Whether the first ends in the middle of a sentence, or with a colon, and the second goes on with a block."""
    if len(pair) < 2 or pair[0].heading != pair[1].heading or pair[1].units[0].kind not in BLOCKS:
        return False
    return pair[0].units[-1].kind not in BLOCKS and pair[0].texts[-1][-1] not in "。！？.!?"


def _place(paragraph: Paragraph) -> tuple[str, int, int]:
    return paragraph.passage.document, paragraph.passage.start, paragraph.units[0].start


def _is_said(paragraph: Paragraph, said: str) -> bool:
    return bool(said) and all(text in said for text in paragraph.texts)


def _length(paragraph: Paragraph) -> int:
    return sum(unit.end - unit.start for unit in paragraph.units)


def _render(unit: Unit, part: str, marker: int) -> str:
    if unit.kind in (UnitKind.CODE, UnitKind.FORMULA, UnitKind.TABLE):
        return f"\n\n{part}\n\n[{marker}]\n\n"
    if unit.mark:
        return f"\n{'-' if unit.mark in '-*+•' else unit.mark} {part} [{marker}]"
    return f"\n\n{part} [{marker}]" if unit.begins_line else f" {part} [{marker}]"


def _is_own_heading(unit: Unit, part: str, passage: Passage) -> bool:
    """Headings of plain-text documents have no `#`: they are known from the passage's path, or are a bare label."""
    return (unit.begins_line and not unit.mark and bool(LABEL.fullmatch(part))) or any(
        part == name or (len(part) >= LONG_ENOUGH and part in name) for name in passage.section
    )


def _is_short_answer(passage: Passage) -> bool:
    return bool(passage.section) and passage.section[-1].lower() in SHORT_ANSWER_HEADINGS


def _same_question(passage: Passage, best: Passage) -> bool:
    """Whether both stand under the same question: the page, or one of many questions of an article."""
    depth = next((place for place, name in enumerate(best.section, start=1) if name.endswith(("?", "？"))), 1)
    return passage.section[:depth] == best.section[:depth]

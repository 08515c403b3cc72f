"""The sections of a page, each the whole text under one heading: how well they answer, and which to quote."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace
from itertools import groupby
from math import log1p

import numpy as np
from numpy.typing import NDArray

from rag.answer.quoted.paragraphs import Paragraph, quotable
from rag.answer.quoted.relevance import relevance
from rag.embedding import Embedder
from rag.index import Index
from rag.question.intents import Intent, answered_by
from rag.search.retrieval import Evidence
from rag.text.language import language_of
from rag.text.sentences import UnitKind
from rag.text.terms import simplified, terms
from rag.types import Passage

# Passages before and after a hit that are looked at: more than a page of the corpus has, less than a book.
REACH = 40
SHORT_ANSWER_HEADINGS = frozenset({"一句话回答", "in one sentence", "tl;dr"})
# What goes with a short answer that it follows.
POINTS_HEADINGS = frozenset({"要点", "key points"})
MISTAKES_HEADINGS = frozenset({"常见错误", "常见误解", "common mistakes"})
# Characters of an answer in the standard style: about what is read in a minute and a half.
ANSWER_CHARACTERS = 1_500
# Pages whose sections are compared; of a side of a comparison, whose own words are few, fewer.
PAGES = 5
SIDE_PAGES = 2
# Sections for a question, and for each side of a comparison.
SECTIONS = 4
# How much longer a comparison may be, shared by the whole question and its sides.
COMPARISON = 2
# A section follows while its log odds are not further than this below those of the best.
CLEARLY_WORSE = 3.0


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive paragraphs under one path of headings."""

    title: str
    path: tuple[str, ...]
    paragraphs: tuple[Paragraph, ...]
    is_short_answer: bool = False

    @property
    def document(self) -> str:
        return self.paragraphs[0].passage.document

    @property
    def heading(self) -> str:
        return self.path[-1] if self.path else self.title

    @property
    def passages(self) -> set[int]:
        """The numbers of the passages that it stands in."""
        return {paragraph.passage.number for paragraph in self.paragraphs}

    @property
    def key(self) -> tuple[str, int, int]:
        """Where it begins: tells sections of one heading apart."""
        first = self.paragraphs[0]
        return self.document, first.passage.start, first.units[0].start

    @property
    def length(self) -> int:
        """In characters."""
        return sum(paragraph.length for paragraph in self.paragraphs)

    @property
    def texts(self) -> list[str]:
        return [text for paragraph in self.paragraphs for text in paragraph.texts]

    @property
    def brief(self) -> "Section":
        """A short answer without its points; another section whole."""
        return replace(self, paragraphs=tuple(p for p in self.paragraphs if p.path == self.path))

    @property
    def is_translation(self) -> bool:
        return self.paragraphs[0].passage.translated_into is not None

    def holds(self, kind: UnitKind) -> bool:
        return any(unit.kind is kind for paragraph in self.paragraphs for unit in paragraph.units)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted beside what the words say: a table of all that is `compared`; of a follow-up that only asks for
    another form, the part that its `intent` names of the page that its subject stands on, and where that is more, what
    was not `heard`."""

    compared: tuple[str, ...] = ()
    subject_page: str = ""
    intent: Intent | None = None
    heard: str = ""


NOTHING_ELSE = Wanted()


@dataclass(frozen=True, slots=True)
class SectionFeatures:
    """What tells the section that answers, and as weights, how much each counts: scores are log odds of being the
    one to open with. Fitted by `python -m rag.evaluation.answers.section_fit` (docs/results/sections.md).

    `likeness` is late interaction with the best of the candidates as 0, or `relevance` from 0 to 1 where there are no
    token vectors; `heading` and `text` are the shares of the question's terms, by rarity, in the heading and in both.
    """

    likeness: float
    relevance: float
    heading: float
    text: float
    first_page: float
    short_answer: float
    mistakes: float
    code_wanted: float
    code_unwanted: float
    formula_wanted: float
    translation: float
    question: float
    log_length: float
    comparing_table: float

    def row(self) -> NDArray[np.float64]:
        return np.asarray(astuple(self), np.float64)


# `relevance` and `comparing_table` were not fitted: the first stands in for token vectors, and tables that hold all
# sides of a comparison are rare.
WEIGHTS = SectionFeatures(
    likeness=44.5,
    relevance=3.0,
    heading=5.0,
    text=2.4,
    first_page=1.3,
    short_answer=1.4,
    mistakes=-2.0,
    code_wanted=3.8,
    code_unwanted=-2.4,
    formula_wanted=6.7,
    translation=-0.4,
    question=-1.1,
    log_length=0.4,
    comparing_table=2.0,
)


def sections_of(index: Index, evidence: Evidence, *, pages: int) -> list[Section]:
    """The sections of the best `pages` documents, best document first, each in its order."""
    found: list[Section] = []
    for document in list(dict.fromkeys(hit.passage.document for hit in evidence.hits))[:pages]:
        hits = [hit.passage for hit in evidence.hits if hit.passage.document == document]
        language = language_of(evidence.query)
        passages = sorted(
            (p for p in _around(index, document, hits) if p.translated_into in (None, language)),
            key=lambda passage: passage.start,
        )
        found += _sections(hits[0].title, [paragraph for passage in passages for paragraph in quotable(passage)])
    return found


def _sections(title: str, paragraphs: Sequence[Paragraph]) -> list[Section]:
    """Paragraphs by their headings; the points of a short answer stand with it. What opens a translation is its short
    answer."""
    found: list[Section] = []
    for path, members in groupby(paragraphs, key=lambda paragraph: paragraph.path):
        section = Section(title, path, tuple(members))
        before = found[-1] if found else None
        if before and before.is_short_answer and section.heading.lower() in POINTS_HEADINGS:
            found[-1] = replace(before, paragraphs=before.paragraphs + section.paragraphs)
            continue
        opens = section.is_translation and not (before and before.is_translation)
        found.append(replace(section, is_short_answer=opens or section.heading.lower() in SHORT_ANSWER_HEADINGS))
    return found


def _around(index: Index, document: str, hits: Sequence[Passage]) -> list[Passage]:
    """The passages of a document that are near a hit and under the question of one."""
    numbers = list(dict.fromkeys(index.storage.document_numbers(document)))
    places = {numbers.index(hit.number) for hit in hits if hit.number in numbers}
    near = [number for place, number in enumerate(numbers) if any(abs(place - hit) <= REACH for hit in places)]
    return [
        passage
        for passage in index.storage.passages(near)
        if passage.document == document and any(_same_question(passage, hit) for hit in hits)
    ]


def _same_question(passage: Passage, hit: Passage) -> bool:
    """Whether both stand under the same question: the page, or one of many questions of an article."""
    depth = next((place for place, name in enumerate(hit.section, start=1) if name.endswith(("?", "？"))), 1)
    return passage.section[:depth] == hit.section[:depth]


def score_sections(
    index: Index,
    embedder: Embedder,
    evidence: Evidence,
    sections: Sequence[Section],
    wanted: Wanted,
) -> NDArray[np.float64]:
    """How well each section answers, shape (len(sections),), higher is better, comparable within a call."""
    features = section_features(index, embedder, evidence, sections, wanted)
    return np.asarray([found.row() for found in features]) @ WEIGHTS.row()


def section_features(
    index: Index,
    embedder: Embedder,
    evidence: Evidence,
    sections: Sequence[Section],
    wanted: Wanted,
) -> list[SectionFeatures]:
    """The features of each of the sections that compete."""
    asked = terms(evidence.query)
    most = max(index.keywords.ceiling(asked), 1e-6)
    wants_code, wants_formula = (answered_by(form, evidence.query) for form in (Intent.CODE, Intent.FORMULA))
    likeness, relevances = _likeness(index, embedder, evidence, sections)

    def covered(held: set[str]) -> float:
        return sum(index.keywords.ceiling([term]) for term in set(asked) & held) / most

    def features(place: int, section: Section) -> SectionFeatures:
        heading = set(terms(section.title if section.is_short_answer else section.heading))
        return SectionFeatures(
            likeness=float(likeness[place]),
            relevance=float(relevances[place]),
            heading=covered(heading),
            text=covered(heading | set(terms(" ".join(section.texts)))),
            first_page=float(section.document == evidence.hits[0].passage.document),
            short_answer=float(section.is_short_answer),
            mistakes=float(section.heading.lower() in MISTAKES_HEADINGS),
            code_wanted=float(wants_code and section.holds(UnitKind.CODE)),
            code_unwanted=float(not wants_code and section.holds(UnitKind.CODE)),
            formula_wanted=float(wants_formula and section.holds(UnitKind.FORMULA)),
            translation=float(section.is_translation),
            question=float(section.heading.endswith(("?", "？"))),
            log_length=log1p(section.length),
            comparing_table=float(any(paragraph.compares(wanted.compared) for paragraph in section.paragraphs)),
        )

    return [features(place, section) for place, section in enumerate(sections)]


def _likeness(
    index: Index, embedder: Embedder, evidence: Evidence, sections: Sequence[Section]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Late interaction of each section below that of the best, and `relevance` where there are no token vectors; the
    other is 0, both of shape (len(sections),)."""
    nothing = np.zeros(len(sections))
    question = evidence.encoded
    if index.tokens is None or question is None or not len(question.tokens):
        answering = np.asarray([float(relevance(evidence.query, s.texts, topic=s.title).max()) for s in sections])
        return nothing, (answering - answering.min()) / max(float(np.ptp(answering)), 1e-6)
    passages = {p.passage.number: p.passage for section in sections for p in section.paragraphs}
    # The tokens of a passage are those of its text, after those of its headings. Folding keeps the length of a text.
    spans = dict(zip(passages, embedder.token_spans([simplified(p.text) for p in passages.values()]), strict=True))
    best = np.full(len(sections), -1.0)
    places: list[list[int]] = []
    parts: list[NDArray[np.bool_]] = []
    for number in passages:
        starts, ends = spans[number].T
        inside = {
            place: [p.units for p in section.paragraphs if p.passage.number == number]
            for place, section in enumerate(sections)
            if number in section.passages
        }
        places.append(list(inside))
        parts.append(
            np.asarray(
                [
                    np.logical_or.reduce([(starts < u[-1].end) & (ends > u[0].start) for u in units])
                    for units in inside.values()
                ]
            )
        )
    for held, scores in zip(places, index.tokens.part_scores(question, list(passages), parts), strict=True):
        best[held] = np.maximum(best[held], scores)
    return best - best.max(), nothing


def fitted(section: Section, question: str, room: int) -> Section:
    """The section whole where it fits into so many characters; else its paragraphs that answer best, in order, at least
    one."""
    if section.length <= room:
        return section
    scores = [float(relevance(question, p.texts, topic=section.title).max()) for p in section.paragraphs]
    kept: list[int] = []
    for place in sorted(range(len(scores)), key=lambda place: -scores[place]):
        length = section.paragraphs[place].length
        if length <= room or not kept:
            kept.append(place)
            room -= length
    return replace(section, paragraphs=tuple(section.paragraphs[place] for place in sorted(kept)))


def choose_paragraphs(
    index: Index,
    embedder: Embedder,
    evidence: Evidence,
    sides: Sequence[Evidence] = (),
    *,
    wanted: Wanted = NOTHING_ELSE,
    alone: bool = False,
    characters: int = ANSWER_CHARACTERS,
    cut: float = 1.0,
) -> list[Paragraph]:
    """What to quote: whole sections, best first, up to `characters`, until the next is clearly worse than the best.

    `sides` holds what was found for each side of a comparison: the best section of each is quoted too. With `alone`
    only the best page is looked at. A `cut` below 1 lets more sections follow.
    """
    chosen: dict[tuple[str, int, int], Section] = {}
    if sides:
        characters = characters * COMPARISON // (1 + len(sides))
    for part in (evidence, *sides):
        pages = 1 if alone else PAGES if part is evidence else SIDE_PAGES
        room = characters
        for section in _best(index, embedder, part, pages, wanted, cut):
            first = part is not evidence and room == characters
            if section.key in chosen or (section.length > room and chosen and not first):
                continue
            # Half of a block of code is worth nothing: what opens may be longer for it.
            kept = fitted(section, part.query, 2 * room if section.holds(UnitKind.CODE) and not chosen else room)
            chosen[section.key] = kept
            room -= kept.length
    return [paragraph for section in chosen.values() for paragraph in section.paragraphs]


def _best(
    index: Index, embedder: Embedder, evidence: Evidence, pages: int, wanted: Wanted, cut: float
) -> list[Section]:
    """The sections that answer, best first."""
    sections = sections_of(index, evidence, pages=pages) if evidence.hits else []
    if wanted.intent is not None:  # the words speak of the page before, not of what is wanted of it
        sections = [s for s in sections if s.document == wanted.subject_page] or sections
    if not sections:
        return []
    scores = score_sections(index, embedder, evidence, sections, wanted)
    order = sorted(range(len(sections)), key=lambda place: (-scores[place], place))
    least = scores.max() - CLEARLY_WORSE / cut
    best = [sections[place] for place in order if scores[place] >= least]
    # The short answer of another page answers another question.
    best = [s for s in best if not s.is_short_answer or s.document == best[0].document][:SECTIONS]
    part = _wanted_part([sections[place] for place in order], best, wanted)
    if part:
        return part
    short = [s.brief for s in sections if s.is_short_answer and s.document == best[0].document and s not in best]
    return [best[0], *short[:1], *best[1:]]


def _wanted_part(sections: Sequence[Section], best: Sequence[Section], wanted: Wanted) -> list[Section]:
    """The sections that an intent names, of all the best first; none where it names none, or there are none."""
    match wanted.intent:
        case Intent.CODE:
            return [section for section in sections if section.holds(UnitKind.CODE)][:1]
        case Intent.FORMULA:
            written = [section for section in sections if section.holds(UnitKind.FORMULA)]
            return (written or [section for section in sections if section.holds(UnitKind.CODE)])[:2]
        case Intent.MISTAKES:
            return [section for section in sections if section.heading.lower() in MISTAKES_HEADINGS]
        case Intent.MORE:
            more = (
                s for s in sections if s.texts[0] not in wanted.heard and s.heading.lower() not in MISTAKES_HEADINGS
            )
            return [section for section in more if not section.holds(UnitKind.CODE)][:SECTIONS]
        case Intent.SHORTER:
            return [best[0].brief]
        case Intent.SIMPLER:
            short = [section for section in sections if section.is_short_answer and section is not best[0]]
            return [best[0], *short]
    return []

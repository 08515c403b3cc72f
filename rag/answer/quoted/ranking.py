"""Which sections of the best pages answer a question, and in which order."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

from rag.answer.quoted.relevance import relevance
from rag.answer.quoted.sections import MISTAKES_HEADINGS, Section, sections_of
from rag.embedding import Embedder
from rag.index import Index
from rag.question.intents import Intent, answered_by
from rag.question.unheard import ASKING, named_in
from rag.search.retrieval import Evidence
from rag.text.sentences import UnitKind
from rag.text.terms import fold, simplified, terms

# Pages whose sections are compared; of a side of a comparison, whose own words are few, fewer.
PAGES = 5
SIDE_PAGES = 2
# What a pair of Chinese characters counts beside a name in Latin letters, since neighbouring pairs overlap: 加速推理 is
# two words, and three pairs.
OF_A_PAIR = 0.5


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

    `likeness` is late interaction, with a question that the section answers as a part of it, and the best of the
    candidates as 0, or `relevance` from 0 to 1 where there are no token vectors; `cosine` is the mean of those of the
    section's passages, that of the best as 0, and only computed where it has a weight; `heading` and `text` are the
    shares of the terms that the question names, by rarity, in the heading and in both. `known_as` marks the page whose
    title, tags and other ways to ask hold the largest such share.
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
    cosine: float
    known_as: float

    def row(self) -> NDArray[np.float64]:
        return np.asarray(astuple(self), np.float64)


# `relevance` and `comparing_table` were not fitted: the first stands in for token vectors, and tables that hold all
# sides of a comparison are rare.
WEIGHTS = SectionFeatures(
    likeness=33.0,
    relevance=3.0,
    heading=3.1,
    text=1.9,
    first_page=0.9,
    short_answer=1.4,
    mistakes=-1.9,
    code_wanted=3.0,
    code_unwanted=-2.0,
    formula_wanted=5.7,
    translation=-1.4,
    question=-1.7,
    log_length=0.3,
    comparing_table=2.0,
    cosine=33.4,
    known_as=1.1,
)
# Of an embedder whose text vectors tell more than those of its tokens, as for `rag.search.fusion.RANKINGS`.
WEIGHTS_OF = {
    "embeddinggemma-300m": SectionFeatures(
        likeness=4.3,
        relevance=3.0,
        heading=3.0,
        text=3.3,
        first_page=0.5,
        short_answer=1.1,
        mistakes=-1.9,
        code_wanted=3.1,
        code_unwanted=-1.9,
        formula_wanted=4.9,
        translation=-0.8,
        question=-1.2,
        log_length=0.5,
        comparing_table=2.0,
        cosine=18.2,
        known_as=0.0,
    )
}


def weights_for(index: Index) -> SectionFeatures:
    """The weights for the embedder of an index."""
    return WEIGHTS_OF.get(index.manifest.embedder_name, WEIGHTS)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The sections of the best pages, best first. `scores` are log odds of being the one to open with, comparable
    within a ranking."""

    query: str = ""
    sections: tuple[Section, ...] = ()
    scores: tuple[float, ...] = ()


def rank(
    index: Index, embedder: Embedder, evidence: Evidence, *, pages: int = PAGES, wanted: Wanted = NOTHING_ELSE
) -> Ranking:
    """The sections of the best `pages` documents by how well they score."""
    sections = sections_of(index, evidence, pages=pages) if evidence.hits else []
    if wanted.intent is not None:  # the words speak of the page before, not of what is wanted of it
        sections = [s for s in sections if s.document == wanted.subject_page] or sections
    if not sections:
        return Ranking(evidence.query)
    weights = weights_for(index)
    features = section_features(index, embedder, evidence, sections, wanted, with_cosines=bool(weights.cosine))
    scores = np.asarray([found.row() for found in features]) @ weights.row()
    # Whoever asks in words reads their language, however well either was matched; bare names are of every language.
    said_twice = _said_twice(sections) if ASKING.search(fold(evidence.query)) else {}
    for place, translation in said_twice.items():
        scores[translation] = max(scores[place], scores[translation])
    places = [place for place in range(len(sections)) if place not in said_twice]
    order = sorted(places, key=lambda place: (-scores[place], place))
    return Ranking(
        evidence.query,
        tuple(sections[place] for place in order),
        tuple(float(scores[place]) for place in order),
    )


def _said_twice(sections: Sequence[Section]) -> dict[int, int]:
    """The places of short answers that their page also gives in the reader's language, and where it does."""
    short = {place: section for place, section in enumerate(sections) if section.is_short_answer}
    translated = {section.document: place for place, section in short.items() if section.is_translation}
    return {
        place: translated[section.document]
        for place, section in short.items()
        if not section.is_translation and section.document in translated
    }


def section_features(
    index: Index,
    embedder: Embedder,
    evidence: Evidence,
    sections: Sequence[Section],
    wanted: Wanted,
    *,
    with_cosines: bool = True,
) -> list[SectionFeatures]:
    """The features of each of the sections that compete."""
    asked = named_in(evidence.query)
    rarity = {term: index.keywords.ceiling([term]) * (1.0 if term.isascii() else OF_A_PAIR) for term in asked}
    most = max(sum(rarity.values()), 1e-6)
    wants_code, wants_formula = (answered_by(form, evidence.query) for form in (Intent.CODE, Intent.FORMULA))
    likeness, relevances = _likeness(index, embedder, evidence, sections)
    cosines = _cosines(index, evidence, sections) if with_cosines else np.zeros(len(sections))

    def covered(held: set[str]) -> float:
        return sum(rarity[term] for term in rarity.keys() & held) / most

    # How code reads says little of what it is for: its page says it.
    of_page: dict[str, float] = {}
    for section, like in zip(sections, likeness.tolist(), strict=True):
        of_page[section.document] = max(like, of_page.get(section.document, -np.inf))

    names = {section.document: index.storage.known_as(section.document) for section in sections}
    known = {document: covered(set(terms("\n".join(names)))) for document, names in names.items()}
    best_known = max(known.values())

    def features(place: int, section: Section) -> SectionFeatures:
        is_wanted_code = wants_code and section.holds(UnitKind.CODE)
        heading = set(terms(section.title if section.is_short_answer else section.heading))
        return SectionFeatures(
            likeness=of_page[section.document] if is_wanted_code else float(likeness[place]),
            relevance=float(relevances[place]),
            heading=covered(heading),
            text=covered(heading | set(terms(" ".join(section.texts)))),
            first_page=float(section.document == evidence.hits[0].passage.document),
            short_answer=float(section.is_short_answer),
            mistakes=float(section.heading.lower() in MISTAKES_HEADINGS),
            code_wanted=float(is_wanted_code),
            code_unwanted=float(not wants_code and section.holds(UnitKind.CODE)),
            formula_wanted=float(wants_formula and section.holds(UnitKind.FORMULA)),
            translation=float(section.is_translation),
            question=float(section.is_asked),
            log_length=log1p(section.length),
            comparing_table=float(any(paragraph.compares(wanted.compared) for paragraph in section.paragraphs)),
            cosine=float(cosines[place]),
            known_as=float(known[section.document] == best_known > 0),
        )

    return [features(place, section) for place, section in enumerate(sections)]


def _cosines(index: Index, evidence: Evidence, sections: Sequence[Section]) -> NDArray[np.float64]:
    """Of each section the mean cosine of its passages with the question, below that of the best; shape
    (len(sections),)."""
    if evidence.encoded is None:
        return np.zeros(len(sections))
    numbers = sorted({number for section in sections for number in section.passages})
    near = dict(zip(numbers, index.vectors.rows(numbers) @ evidence.encoded.vector, strict=True))
    means = np.asarray([np.mean([near[number] for number in section.passages]) for section in sections])
    return np.asarray(means - means.max(), np.float64)


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
    headed: list[NDArray[np.bool_]] = []
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
        # What stands before these is the question that they answer, and how else that is asked.
        headed.append(np.asarray([sections[place].is_short_answer or sections[place].is_asked for place in inside]))
    found = index.tokens.part_scores(question, list(passages), parts, headed)
    for held, scores in zip(places, found, strict=True):
        best[held] = np.maximum(best[held], scores)
    return best - best.max(), nothing

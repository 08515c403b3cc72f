"""Which sections of the best pages answer a question, and in which order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from heapq import nlargest
from itertools import islice
from math import log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from rag.answer.quoted.likeness import by_unit
from rag.answer.quoted.sections import Section, sections_named, sections_of
from rag.answer.quoted.written_for import key_of, read_written_for
from rag.embedding import Embedder
from rag.index import Index
from rag.index.asked import SectionName
from rag.language.asking import ONLY_ASKS, asked_in
from rag.language.intents import Intent, answered_by
from rag.language.language import Language, language_of
from rag.language.terms import fold, terms
from rag.question.unheard import hardly_heard, named_in
from rag.question.what_it_is import asks_what_it_is
from rag.search.retrieval import Evidence
from rag.text.roles import WHOLE_ANSWERS, SectionRole
from rag.text.sentences import UnitKind

# Pages whose sections are compared; of a side of a comparison, whose own words are few, fewer.
PAGES = 5
SIDE_PAGES = 2
# Questions that a section is written down to answer, the nearest to what is asked, whose mean tells of it.
NEAREST_ASKED = 3
# Sections that compete because a question they are written down to answer names most of what is asked, whether or not
# a search proposed them. For 80 of 1,233 development questions the best section is such a one; with eight of them no
# more come first than with two (docs/results/best_places.md).
ASKED_BEST = 3
# What a section's score for the whole of a question counts beside that for one of several things that it asks. Of 267
# such things in 157 development questions the section that comes first is the best for .69, by the whole alone for .55
# and without it for .67; between .25 and .75 nothing changes (docs/results/best_places.md).
OF_WHOLE = 0.5
# Below this score, over pages with written questions, nothing answers one of several things: of the 14 of these 316
# whose best section scores less it holds the answer for one, of the others for .84.
LEAST_OF_AN_ASK = 9.0
# What a pair of Chinese characters counts beside a name in Latin letters, since neighbouring pairs overlap: 加速推理 is
# two words, and three pairs.
OF_A_PAIR = 0.5


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted beside what the words say: a table of all that is `compared`; of a follow-up that only asks for
    another form, the part that its `intent` names of the page that its subject stands on; of any follow-up, what was
    not `heard`; and the `language` of whoever asks, which a name that is searched by itself does not tell."""

    compared: tuple[str, ...] = ()
    subject_page: str = ""
    intent: Intent | None = None
    heard: str = ""
    language: Language | None = None


NOTHING_ELSE = Wanted()


@dataclass(frozen=True, slots=True)
class SectionFeatures:
    """What tells the section that answers, and as weights, how much each counts: scores are log odds of being the
    one to open with. Fitted by `python -m tools.fit.sections` (docs/results/best_places.md).

    `sentence` is the late interaction of the sentence most like the question, with the best of the candidates as 0, or
    `relevance` from 0 to 1 where there are no token vectors; `found` the score of the section's best passage in the
    search, below that of the best. Of what the question names, by how few sections are asked for with it: `asked` is
    the share in the heading or in one question that the section is written down to answer, `asked_of_page` the largest
    share of a section of its page; `asked_nearly` is the mean F1 of the three that say most nearly the same, since a
    question that says more is a narrower one. `written_for` is how like it is to these questions by meaning
    (`rag.answer.quoted.written_for`). By rarity in the passages: `text` is the share in the section and its
    heading, of what answers the whole page the title; `named`, of that, how nearly one name of its page says the same,
    for whoever asks that asks for the page as a whole, unless code is wanted. `defined`, of a definition in the
    language of whoever asks, is the geometric mean of `asked` and of how likely the question only asks what something
    is. `said` marks what an answer of the talk has begun to quote already.
    """

    sentence: float
    relevance: float
    found: float
    asked: float
    asked_nearly: float
    asked_of_page: float
    written_for: float
    named: float
    defined: float
    text: float
    first_page: float
    short_answer: float
    spoken: float
    points: float
    mistakes: float
    definition: float
    question: float
    code_wanted: float
    code_unwanted: float
    formula_wanted: float
    comparing_table: float
    said: float

    def row(self) -> NDArray[np.float64]:
        return np.asarray([getattr(self, name) for name in NAMES], np.float64)


NAMES = tuple(field.name for field in fields(SectionFeatures))
ALL = SectionFeatures(*[1.0] * len(NAMES))

# Not fitted: `relevance` stands in for token vectors, tables that hold all sides of a comparison are rare, and `said`
# was chosen with 93 development follow-ups, `defined` and `definition` with 1,377 development questions and one written
# for each of 271 definitions, `written_for` and `asked_nearly` beside the others with the same questions.
WEIGHTS = SectionFeatures(
    sentence=12.1,
    relevance=3.0,
    found=24.7,
    asked=2.0,
    asked_nearly=3.0,
    asked_of_page=3.3,
    written_for=8.0,
    named=3.6,
    defined=5.0,
    text=0.0,
    first_page=0.5,
    short_answer=-1.1,
    spoken=-0.3,
    points=0.1,
    mistakes=-0.9,
    definition=-2.5,
    question=-0.3,
    code_wanted=1.2,
    code_unwanted=-1.4,
    formula_wanted=1.7,
    comparing_table=0.5,
    said=-2.0,
)
# Of an embedder whose text vectors tell more than those of its tokens, as for `rag.search.fusion.RANKINGS`.
# Fitted over 42 pages, to 422 questions, before pages had spoken answers, which count as short ones do, and when tags
# were names of pages.
WEIGHTS_OF = {
    "embeddinggemma-300m": SectionFeatures(
        sentence=4.8,
        relevance=3.0,
        found=18.5,
        asked=0.0,
        asked_nearly=0.0,
        asked_of_page=0.0,
        written_for=0.0,
        named=1.5,
        defined=0.0,
        text=1.6,
        first_page=0.8,
        short_answer=-0.4,
        spoken=-0.4,
        points=-0.4,
        mistakes=-0.7,
        definition=0.0,
        question=-0.1,
        code_wanted=0.4,
        code_unwanted=-1.2,
        formula_wanted=0.7,
        comparing_table=2.0,
        said=-2.0,
    )
}


# How much more `asked_nearly` counts where nothing is known for `written_for`, beside which it was fitted anew.
BY_WORDS_ALONE = 2.0


def weights_for(index: Index) -> SectionFeatures:
    """The weights for the embedder of an index."""
    return WEIGHTS_OF.get(index.manifest.embedder_name, WEIGHTS)


@dataclass(frozen=True, slots=True)
class Ranking:
    """The sections of the best pages, best first. `scores` are log odds of being the one to open with, comparable
    within a ranking. `asks` are the rankings for each of several things that a question asks."""

    query: str = ""
    sections: tuple[Section, ...] = ()
    scores: tuple[float, ...] = ()
    asks: tuple["Ranking", ...] = ()


NO_RANKING = Ranking()


def rank(
    index: Index,
    embedder: Embedder,
    evidence: Evidence,
    *,
    pages: int = PAGES,
    wanted: Wanted = NOTHING_ELSE,
    whole: Ranking = NO_RANKING,
) -> Ranking:
    """The sections of the best `pages` documents by how well they score. For one of several things that a question
    asks, the sections ranked for the `whole` of it compete too, and how well they score there counts in part."""
    sections = competing(index, embedder, evidence, wanted, pages=pages, beside=whole.sections)
    if not sections:
        return Ranking(evidence.query)
    weights = weights_for(index)
    features = section_features(index, evidence, sections, wanted, weights)
    if not any(of.written_for for of in features):
        weights = replace(weights, asked_nearly=weights.asked_nearly * BY_WORDS_ALONE)
    scores = np.asarray([of.row() for of in features]) @ weights.row()
    if whole.sections:
        of_whole = dict(zip((section.key for section in whole.sections), whole.scores, strict=True))
        scores += OF_WHOLE * np.asarray([of_whole.get(section.key, whole.scores[-1]) for section in sections])
        if any(of.written_for for of in features) and scores.max() < LEAST_OF_AN_ASK:
            return Ranking(evidence.query)
    # Whoever asks in words reads their language, however well either was matched; bare names are of every language.
    said_twice = _said_twice(sections) if ONLY_ASKS.search(fold(evidence.query)) else {}
    for place, translation in said_twice.items():
        scores[translation] = max(scores[place], scores[translation])
    places = [place for place in range(len(sections)) if place not in said_twice]
    if wanted.intent is not None:  # the words speak of the page before, not of what is wanted of it
        places = [place for place in places if sections[place].document == wanted.subject_page] or places
    order = sorted(places, key=lambda place: (-scores[place], place))
    return Ranking(
        evidence.query,
        tuple(sections[place] for place in order),
        tuple(float(scores[place]) for place in order),
    )


def _said_twice(sections: Sequence[Section]) -> dict[int, int]:
    """The places of answers of whole pages that these also give in the reader's language, and where they do."""
    whole = {place: section for place, section in enumerate(sections) if section.role in WHOLE_ANSWERS}
    translated = {(section.document, section.role): place for place, section in whole.items() if section.is_translation}
    return {
        place: translated[section.document, section.role]
        for place, section in whole.items()
        if not section.is_translation and (section.document, section.role) in translated
    }


def competing(
    index: Index,
    embedder: Embedder,
    evidence: Evidence,
    wanted: Wanted,
    *,
    pages: int,
    beside: Sequence[Section] = (),
) -> list[Section]:
    """The sections of the best `pages` documents that a search proposed, in their order, those of any document that are
    best asked for, and those `beside` them; each with how well its units answer. Where a form is wanted, such as code,
    all sections of the best documents compete: how code reads says little of what it is for."""
    sections = sections_of(index, evidence, pages=pages, language=wanted.language) if evidence.hits else []
    # The words of a follow-up say less than it asks.
    asked_for = best_asked(index, evidence.query) if _is_asked(index, evidence) and not wanted.heard else []
    is_form = wanted.intent is not None or any(
        answered_by(form, evidence.query) for form in (Intent.CODE, Intent.FORMULA)
    )
    if evidence.candidates is not None and not is_form:
        proposals = (evidence.candidates.dense, evidence.candidates.keyword)
        proposed = {number for of_search in proposals for number in of_search.numbers.tolist()}
        proposed.update(hit.passage.number for hit in evidence.hits)  # those of the sides of a comparison, too
        sections = [
            section
            for section in sections
            if not proposed.isdisjoint(section.passages) or (section.document, section.heading) in asked_for
        ]
    there = {section.document for section in sections}
    elsewhere = [name for name in asked_for if name[0] not in there]
    sections += sections_named(index, elsewhere, wanted.language or language_of(evidence.query))
    there_already = {section.key for section in sections}
    sections += [section for section in beside if section.key not in there_already]
    answering = by_unit(index, embedder, evidence, sections)
    return [replace(section, answering=of) for section, of in zip(sections, answering, strict=True)]


def _is_asked(index: Index, evidence: Evidence) -> bool:
    """Whether the best document is one whose sections are written down to answer questions. Where it is not, such as a
    reader's own notes, what others are asked for tells nothing."""
    return bool(evidence.hits) and bool(index.asked.of(evidence.hits[0].passage.document))


def rarity_in_passages(index: Index, term: str) -> float:
    """How much a term tells of which passage is asked for: by how few hold it."""
    return index.keywords.ceiling([term]) * (1.0 if term.isascii() else OF_A_PAIR)


def rarity_in_questions(index: Index, term: str) -> float:
    """How much a term tells of which section is asked for: by how few are asked for with it. What no question names
    counts as the rarest, unless the material hardly has it either."""
    count, sections = len(index.asked.sections), index.asked.frequency(term)
    if not sections and hardly_heard(index, term):
        return 0.0
    return log1p((count - sections + 0.5) / (sections + 0.5)) * (1.0 if term.isascii() else OF_A_PAIR)


def best_asked(index: Index, query: str) -> list[SectionName]:
    """The sections of the index that are best asked for with what a question names."""
    found = index.asked.best({term: rarity_in_questions(index, term) for term in set(named_in(query))})
    return list(islice((name for name in found if index.storage.document_numbers(name[0])), ASKED_BEST))


def section_features(
    index: Index, evidence: Evidence, sections: Sequence[Section], wanted: Wanted, weights: SectionFeatures = ALL
) -> list[SectionFeatures]:
    """The features of each of the sections that compete. `text` and `written_for` are 0 where `weights` count nothing
    for them, which saves their time."""
    named_terms = named_in(evidence.query)
    rarity = {term: rarity_in_passages(index, term) for term in named_terms}
    most = max(sum(rarity.values()), 1e-6)
    asked_rarity = cache(partial(rarity_in_questions if _is_asked(index, evidence) else rarity_in_passages, index))
    most_asked = max(sum(map(asked_rarity, rarity)), 1e-6)
    wants_code, wants_formula = (answered_by(form, evidence.query) for form in (Intent.CODE, Intent.FORMULA))
    has_tokens = index.tokens is not None and evidence.encoded is not None and len(evidence.encoded.tokens) > 0
    answering = np.asarray([max(section.best_of_each) for section in sections])
    below, above = answering - answering.max(initial=-np.inf), answering - answering.min(initial=np.inf)
    found = _found(evidence, sections)

    def covered(held: set[str]) -> float:
        return sum(rarity[term] for term in rarity.keys() & held) / most

    def asked_alike(written: Iterable[str]) -> tuple[float, float]:
        """The share of what is asked that a written question names, and how nearly it says the same (F1)."""
        named = set(written)
        both = sum(map(asked_rarity, rarity.keys() & named))
        return both / most_asked, 2 * both / (most_asked + sum(map(asked_rarity, named))) if both else 0.0

    asker = asked_in(evidence.query, wanted.language)
    names = {
        document: [set(named_in(name)) for name in index.storage.known_as(document)]
        for document in {section.document for section in sections}
    }

    questions = {document: index.asked.of(document) for document in names}

    def asked_of(section: Section) -> tuple[float, float]:
        """The best share, and the mean of the nearest."""
        written = questions[section.document].get(section.heading, ())
        # What answers the whole page is asked for by its title, where nothing else is known.
        heading = section.title if section.role in WHOLE_ANSWERS and not written else section.heading
        shares, alike = zip(*map(asked_alike, [terms(heading), *written]), strict=True)
        return max(shares), float(np.mean(nlargest(NEAREST_ASKED, alike)))

    asked = [asked_of(section) for section in sections]
    keys = [key_of(section.heading, questions[section.document].get(section.heading, ())) for section in sections]
    written_for = _written_for(index, evidence, keys) if weights.written_for else np.zeros(len(sections))
    like_of_page = _best_of_page(sections, below.tolist())
    asked_of_page = _best_of_page(sections, [share for share, _ in asked])

    def named(document: str) -> float:
        shares = (covered(name) * len(name & rarity.keys()) / len(name) for name in names[document] if name)
        return max(shares, default=0.0)

    def defined(place: int, section: Section) -> float:
        if not section.defines or language_of("".join(section.texts)) is not asker:
            return 0.0
        return sqrt(asked[place][0] * asks_what_it_is(evidence.query, named_in(section.heading)))

    def features(place: int, section: Section) -> SectionFeatures:
        is_wanted_code = wants_code and section.holds(UnitKind.CODE)
        heading = set(terms(section.title if section.role in WHOLE_ANSWERS else section.heading))
        return SectionFeatures(
            # How code reads says little of what it is for: its page says it.
            sentence=(like_of_page[section.document] if is_wanted_code else float(below[place])) * has_tokens,
            relevance=0.0 if has_tokens else float(above[place]) / max(float(above.max()), 1e-6),
            found=float(found[place]),
            asked=asked[place][0],
            asked_nearly=asked[place][1],
            asked_of_page=asked_of_page[section.document],
            written_for=float(written_for[place]),
            named=named(section.document) if section.role in WHOLE_ANSWERS and not wants_code else 0.0,
            defined=defined(place, section),
            text=covered(heading | set(terms(" ".join(section.texts)))) if weights.text else 0.0,
            first_page=float(section.document == evidence.hits[0].passage.document),
            short_answer=float(section.is_short_answer),
            spoken=float(section.role is SectionRole.SPOKEN),
            points=float(section.role is SectionRole.POINTS),
            mistakes=float(section.role is SectionRole.MISTAKES),
            definition=float(section.defines),
            question=float(section.is_asked),
            code_wanted=float(is_wanted_code),
            code_unwanted=float(not wants_code and section.holds(UnitKind.CODE)),
            formula_wanted=float(wants_formula and section.holds(UnitKind.FORMULA)),
            said=float(not wanted.intent and section.was_heard(wanted.heard)),
            comparing_table=float(any(paragraph.compares(wanted.compared) for paragraph in section.paragraphs)),
        )

    return [features(place, section) for place, section in enumerate(sections)]


def _written_for(index: Index, evidence: Evidence, keys: Sequence[bytes]) -> NDArray[np.float64]:
    """How like a question is to those that each section, by its key, is written down to answer, shape (len(keys),); 0
    where nothing is known of any."""
    learnt = read_written_for()
    if evidence.encoded is None or learnt.embedder != index.manifest.embedder or not _is_asked(index, evidence):
        return np.zeros(len(keys))
    return learnt.alike(evidence.encoded.vector, keys)


def _best_of_page(sections: Sequence[Section], values: Sequence[float]) -> dict[str, float]:
    best: dict[str, float] = {}
    for section, value in zip(sections, values, strict=True):
        best[section.document] = max(value, best.get(section.document, -np.inf))
    return best


def _found(evidence: Evidence, sections: Sequence[Section]) -> NDArray[np.float64]:
    """How well the search scored the best passage of each section, below the best of all; what it did not propose is
    as far below as the last that it did. Shape (len(sections),)."""
    candidates = evidence.candidates
    if candidates is None:
        return np.zeros(len(sections))
    scores = dict(zip(candidates.numbers.tolist(), candidates.fused.tolist(), strict=True))
    last = min(scores.values())
    best = np.asarray([max(scores.get(number, last) for number in section.passages) for section in sections])
    return np.asarray(best - best.max(initial=-np.inf), np.float64)

"""What tells the section that answers a question: its features, in numbers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from heapq import nlargest
from math import log1p, sqrt

import numpy as np
from numpy.typing import NDArray

from rag.answer.quoted.sections import Section
from rag.answer.quoted.written_for import key_of, read_written_for
from rag.index import Index
from rag.language.asking import asked_in
from rag.language.intents import Intent, answered_by
from rag.language.language import Language, language_of
from rag.language.terms import terms
from rag.question.unheard import hardly_heard, named_in
from rag.question.what_it_is import asks_what_it_is
from rag.search.retrieval import Evidence
from rag.text.roles import WHOLE_ANSWERS, SectionRole
from rag.text.sentences import UnitKind

# Questions that a section is written down to answer, the nearest to what is asked, whose mean tells of it.
NEAREST_ASKED = 3
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


def is_asked(index: Index, evidence: Evidence) -> bool:
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


def section_features(
    index: Index, evidence: Evidence, sections: Sequence[Section], wanted: Wanted, weights: SectionFeatures = ALL
) -> list[SectionFeatures]:
    """The features of each of the sections that compete. `text` and `written_for` are 0 where `weights` count nothing
    for them, which saves their time."""
    named_terms = named_in(evidence.query)
    rarity = {term: rarity_in_passages(index, term) for term in named_terms}
    most = max(sum(rarity.values()), 1e-6)
    asked_rarity = cache(partial(rarity_in_questions if is_asked(index, evidence) else rarity_in_passages, index))
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
    if evidence.encoded is None or learnt.embedder != index.manifest.embedder or not is_asked(index, evidence):
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

"""The features, in numbers, that tell which section answers a question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, partial
from heapq import nlargest
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from rag.answer.quoted.sections import Section
from rag.answer.quoted.written_for import key_of, read_written_for
from rag.index import Index
from rag.language.asking import asked_in
from rag.language.language import Language, language_of
from rag.language.messages import Intent, answered_by
from rag.language.terms import stem, terms
from rag.question.rare_terms import hardly_heard, named_in, rarity_in_passages
from rag.question.what_it_is import asks_what_it_is
from rag.search.retrieval import Evidence
from rag.text.roles import WHOLE_ANSWERS, SectionRole
from rag.text.sentences import UnitKind

# How many of a section's written questions, nearest to the question first, are averaged.
NEAREST_ASKED = 3


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question wants beyond its words: a table of the names `compared`; the form that its `intent` asks for, of
    `subject_page`, if a follow-up only asks for another form; text not yet `heard`, if it is a follow-up; and the
    `language` of the reader, which a bare name does not reveal."""

    compared: tuple[str, ...] = ()
    subject_page: str = ""
    intent: Intent | None = None
    heard: str = ""
    language: Language | None = None


NOTHING_ELSE = Wanted()


@dataclass(frozen=True, slots=True)
class SectionFeatures:
    """The features of a section, or, as weights, how much each counts: the weighted sum is the log odds of being the
    section to open with. Fitted by `python -m tools.fit.sections` (docs/results/best_places.md).

    `sentence` is the late interaction of the sentence most like the question, relative to the best candidate; without
    token vectors `relevance`, from 0 to 1, replaces it. `found` is the search score of the section's best passage,
    relative to the best of all. Terms weighted by rarity in the written questions: `asked` is the share of the
    question's terms in the heading, in a question that a table holds, or in one of the section's written questions,
    `asked_of_page` the largest such share on its page; `asked_nearly` is the mean F1 of the three that match best,
    since a question that says more is a narrower one. `written_for` is the similarity in meaning to these questions
    (`rag.answer.quoted.written_for`). Terms weighted by rarity in the passages: `text` is the share in the section and
    its heading (the title, if it answers the whole page); `named`, for such a section, is the best overlap with one
    name of the page, 0 if code is wanted. `defined`, for a definition in the reader's language, is the geometric mean
    of `asked` and the probability that the question only asks what something is. `said` marks a section that an earlier
    answer has begun to quote.
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
    """Whether the best document has written questions. If not (a reader's own notes), the written questions of other
    pages must not count."""
    return bool(evidence.hits) and bool(index.asked.of(evidence.hits[0].passage.document))


def rarity_in_questions(index: Index, term: str) -> float:
    """A term's weight by its rarity among the sections' written questions. A term in none of them counts as the rarest,
    unless the material hardly has it either."""
    return index.asked.rarity(stem(term)) if index.asked.frequency(stem(term)) or not hardly_heard(index, term) else 0.0


def section_features(
    index: Index, evidence: Evidence, sections: Sequence[Section], wanted: Wanted, weights: SectionFeatures = ALL
) -> list[SectionFeatures]:
    """The features of each competing section. `text` and `written_for` stay 0 if their `weights` are 0, which saves
    time."""
    named_terms = named_in(evidence.query)
    rarity = {term: rarity_in_passages(index, term) for term in named_terms}
    most = max(sum(rarity.values()), 1e-6)
    has_written = is_asked(index, evidence)
    asked_rarity = cache(partial(rarity_in_questions if has_written else rarity_in_passages, index))
    sought = {stem(term): asked_rarity(term) for term in rarity}
    most_asked = max(sum(sought.values()), 1e-6)
    sought_in_questions = index.asked.named(sought)
    wants_code, wants_formula = (answered_by(form, evidence.query) for form in (Intent.CODE, Intent.FORMULA))
    has_tokens = index.tokens is not None and evidence.encoded is not None and len(evidence.encoded.tokens) > 0
    answering = np.asarray([max(section.best_of_each) for section in sections])
    below, above = answering - answering.max(initial=-np.inf), answering - answering.min(initial=np.inf)
    found = _found(evidence, sections)

    def covered(held: set[str]) -> float:
        return sum(rarity[term] for term in rarity.keys() & held) / most

    def shared(written: Mapping[str, float]) -> tuple[float, float]:
        """Of a text by its stems: the rarity of those sought, and of all."""
        both = sum(rarity for term, rarity in sought.items() if term in written)
        return both, sum(sought.get(term, rarity) for term, rarity in written.items())

    asker = asked_in(evidence.query, wanted.language)
    names = {
        document: [set(named_in(name)) for name in index.storage.known_as(document)]
        for document in {section.document for section in sections}
    }

    questions = {document: index.asked.of(document) for document in names}

    def asked_of(section: Section) -> tuple[float, float]:
        """The best share of the question's terms in the heading, a question of a table or a written question, and the
        mean of the best F1 values; both by the rarity of terms."""
        written = questions[section.document].get(section.heading, ())
        # A section that answers the whole page is asked for by the title, unless it has written questions.
        heading = section.title if section.role in WHOLE_ANSWERS and not written else section.heading
        asking = (heading, *section.questions)
        overlaps = [shared({stem(term): asked_rarity(term) for term in terms(text)}) for text in asking]
        if has_written:
            own = index.asked.numbers((section.document, section.heading))
            overlaps += zip(sought_in_questions[own].tolist(), index.asked.weights[own].tolist(), strict=True)
        else:
            overlaps += (shared({term: asked_rarity(term) for term in question}) for question in written)
        alike = [2 * both / (most_asked + whole) if both else 0.0 for both, whole in overlaps]
        return max(both for both, _ in overlaps) / most_asked, float(np.mean(nlargest(NEAREST_ASKED, alike)))

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
            # Code itself reveals little about its purpose; its page does.
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
    """The question's similarity to each section's written questions, by section key, shape (len(keys),); all 0 if it
    cannot be computed."""
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
    """The search score of each section's best passage, relative to the best of all; passages that the search did not
    propose get the lowest score that it gave. Shape (len(sections),)."""
    candidates = evidence.candidates
    if candidates is None:
        return np.zeros(len(sections))
    scores = dict(zip(candidates.numbers.tolist(), candidates.fused.tolist(), strict=True))
    last = min(scores.values())
    best = np.asarray([max(scores.get(number, last) for number in section.passages) for section in sections])
    return np.asarray(best - best.max(initial=-np.inf), np.float64)

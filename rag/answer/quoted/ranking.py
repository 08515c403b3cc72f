"""Which sections of the best pages answer a question, and in which order."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np

from rag.answer.quoted.features import (
    NOTHING_ELSE,
    SectionFeatures,
    Wanted,
    is_asked,
    rarity_in_questions,
    section_features,
)  # fmt: skip
from rag.answer.quoted.likeness import by_unit
from rag.answer.quoted.sections import Section, sections_named, sections_of
from rag.embedding import Embedder
from rag.index import Index
from rag.index.written_questions import SectionName
from rag.language.asking import ONLY_ASKS
from rag.language.language import language_of
from rag.language.messages import Intent, answered_by
from rag.language.terms import fold
from rag.question.rare_terms import named_in
from rag.search.retrieval import Evidence
from rag.text.roles import WHOLE_ANSWERS

# Pages whose sections compete; fewer for a side of a comparison, which has few words of its own.
PAGES = 5
SIDE_PAGES = 2
# Sections that compete because one of their written questions names most of what is asked, even if no search proposed
# them. For 80 of 1,233 development questions the best section is one of these; with eight instead of two, no more come
# first (docs/results/best_places.md).
ASKED_BEST = 3
# Weight of a section's score for the whole question when ranking for one of its asks. Of 267 asks in 157 development
# questions the section that comes first is the best for .69, by the whole question alone for .55 and without it for
# .67; between .25 and .75 nothing changes (docs/results/best_places.md).
OF_WHOLE = 0.5
# Log odds that a translation gains, since only translations into the reader's language compete. Of 247 English
# development questions 158 begin with the best section, 154 without this, and 3 with Chinese text in place of 10;
# between 1.5 and 9 nothing changes.
OWN_LANGUAGE = 1.5
# An ask whose best section scores less than this, over pages with written questions, counts as unanswered: of 316 asks
# that section holds the answer for one of the 14 below, and for .84 of the others.
LEAST_OF_AN_ASK = 9.0
WEIGHTS_FILE = Path(__file__).with_name("section_weights.toml")
DEFAULT = "default"
# Factor of `asked_nearly` if `written_for` is unknown for all sections: its weight was fitted together with that.
BY_WORDS_ALONE = 2.0


@cache
def fitted_weights() -> dict[str, SectionFeatures]:
    """The weights by the name of the embedder that they were fitted to."""
    written = tomllib.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    return {name: SectionFeatures(**weights) for name, weights in written.items()}


def weights_for(index: Index) -> SectionFeatures:
    """The weights for the embedder of an index."""
    weights = fitted_weights()
    return weights.get(index.manifest.embedder_name, weights[DEFAULT])


@dataclass(frozen=True, slots=True)
class SectionRanking:
    """The sections of the best pages, best first. `scores` are log odds of being the one to open with, comparable
    within a ranking. `asks` are the rankings for each of several things that a question asks."""

    query: str = ""
    sections: tuple[Section, ...] = ()
    scores: tuple[float, ...] = ()
    asks: tuple["SectionRanking", ...] = ()


NO_RANKING = SectionRanking()


def rank(
    index: Index,
    embedder: Embedder,
    evidence: Evidence,
    *,
    pages: int = PAGES,
    wanted: Wanted = NOTHING_ELSE,
    whole: SectionRanking = NO_RANKING,
) -> SectionRanking:
    """The sections of the best `pages` documents, best first. For one of several asks, the sections ranked for the
    `whole` question compete too, and their scores there count in part."""
    sections = competing(index, embedder, evidence, wanted, pages=pages, beside=whole.sections)
    if not sections:
        return SectionRanking(evidence.query)
    weights = weights_for(index)
    features = section_features(index, evidence, sections, wanted, weights)
    if not any(of.written_for for of in features):
        weights = replace(weights, asked_nearly=weights.asked_nearly * BY_WORDS_ALONE)
    scores = np.asarray([of.row() for of in features]) @ weights.row()
    scores += OWN_LANGUAGE * np.asarray([section.is_translation for section in sections])
    if whole.sections:
        of_whole = dict(zip((section.key for section in whole.sections), whole.scores, strict=True))
        scores += OF_WHOLE * np.asarray([of_whole.get(section.key, whole.scores[-1]) for section in sections])
        if any(of.written_for for of in features) and scores.max() < LEAST_OF_AN_ASK:
            return SectionRanking(evidence.query)
    # A question in words is answered in its own language, whichever version matched better; bare names belong to every
    # language.
    said_twice = _said_twice(sections) if ONLY_ASKS.search(fold(evidence.query)) else {}
    for place, translation in said_twice.items():
        scores[translation] = max(scores[place], scores[translation])
    places = [place for place in range(len(sections)) if place not in said_twice]
    if wanted.intent is not None:  # the words are about the previous page, not about the form wanted
        places = [place for place in places if sections[place].document == wanted.subject_page] or places
    order = sorted(places, key=lambda place: (-scores[place], place))
    return SectionRanking(
        evidence.query,
        tuple(sections[place] for place in order),
        tuple(float(scores[place]) for place in order),
    )


def _said_twice(sections: Sequence[Section]) -> dict[int, int]:
    """For each whole-page answer that the page repeats in the reader's language: its place and that of the
    translation."""
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
    """The competing sections, each with the scores of its units: those of the best `pages` documents that a search
    proposed, in their order, those of any document whose written questions match best, and those `beside` them. If a
    form such as code is wanted, all sections of the best documents compete: code itself reveals little about its
    purpose."""
    sections = sections_of(index, evidence, pages=pages, language=wanted.language) if evidence.hits else []
    # The words of a follow-up say less than it asks.
    asked_for = best_asked(index, evidence.query) if is_asked(index, evidence) and not wanted.heard else []
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


def best_asked(index: Index, query: str) -> list[SectionName]:
    """The sections of the index whose written questions best match what a question names."""
    found = index.asked.best({term: rarity_in_questions(index, term) for term in set(named_in(query))})
    return list(islice((name for name in found if index.storage.document_numbers(name[0])), ASKED_BEST))

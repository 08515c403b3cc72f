"""The sections that compete for an answer, in the order in which they answer, and what the reader says of the first."""

from dataclasses import replace

from rag.answer.evidence import SearchResult, selection_evidence
from rag.answer.quoted.ranking import PAGES, SIDE_PAGES, Ranking, rank
from rag.answer.quoted.sections import Section
from rag.answer.quoted.writer import wanted_of
from rag.answer.trace import Resources
from rag.language.intents import Intent, answered_by
from rag.reader.reading import Reader, Text
from rag.search.retrieval import Evidence

# Sections that are read to tell whether one of them answers.
READ_FIRST = 3


def rank_sections(resources: Resources, result: SearchResult) -> tuple[Ranking, ...]:
    """The sections for the question and for each side of a comparison; where several things are asked, for each of
    these, so that what is asked first is answered first."""
    wanted = wanted_of(result, resources.choices.language)

    def ranking(evidence: Evidence, pages: int) -> Ranking:
        return rank(resources.index, resources.embedder, evidence, pages=1 if result.silent else pages, wanted=wanted)

    if result.plan.parts and result.sides:
        whole, *sides = result.sides
    else:
        whole, sides = selection_evidence(resources.embedder, result), list(result.sides)
    return (ranking(whole, PAGES), *(ranking(side, SIDE_PAGES) for side in sides))


def in_words(ranking: Ranking) -> Ranking:
    """The ranking without code, of a question that asks for none: what an example says in strings and comments tells
    neither that a page answers nor what it holds nearest."""
    if answered_by(Intent.CODE, ranking.query):
        return ranking
    places = [place for place, section in enumerate(ranking.sections) if not section.is_code]
    if not places:
        return ranking
    sections = tuple(ranking.sections[place] for place in places)
    return replace(ranking, sections=sections, scores=tuple(ranking.scores[place] for place in places))


def best_reading(reader: Reader, ranking: Ranking) -> float | None:
    """The log odds, by a reader, that one of the first sections answers; None where there is none."""
    sections = in_words(ranking).sections[:READ_FIRST]
    read = reader.read(ranking.query, [text_of(section) for section in sections])
    return max((reading.answers for reading in read), default=None)


def text_of(section: Section) -> Text:
    """The section as a reader is given it."""
    names = dict.fromkeys([section.heading, section.title])
    return Text(" · ".join(names), tuple(section.texts))

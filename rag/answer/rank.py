"""The sections that compete for an answer, best first, and the reader's judgement of the first ones."""

from collections.abc import Callable
from dataclasses import replace
from itertools import chain

from rag.answer.evidence import QuestionResults, ask_evidence, selection_evidence
from rag.answer.quoted.ranking import NO_RANKING, PAGES, SIDE_PAGES, SectionRanking, rank
from rag.answer.quoted.sections import Section
from rag.answer.quoted.writer import wanted_of
from rag.answer.trace import AnswerResources
from rag.embedding import Embedder
from rag.language.messages import Intent, answered_by
from rag.process import thread_count
from rag.reader.reading import Reader, Text
from rag.search.retrieval import Evidence
from rag.text.sentences import UnitKind
from rag.text.tables import rows_in_words

# Sections that the reader reads, best first, and the embedder's tokens of each. Whole sections were no better for 167
# doubtful development questions, and take twice as long to read (docs/results/refusals.md).
READ_FIRST, READ_TOKENS = 3, 160


def rank_sections(resources: AnswerResources, result: QuestionResults) -> tuple[SectionRanking, ...]:
    """The sections for the question, with those for each of several things that it asks, and for each side of a
    comparison."""
    wanted = wanted_of(result, resources.choices.language)

    def ranking(evidence: Evidence, pages: int, whole: SectionRanking = NO_RANKING) -> SectionRanking:
        pages = 1 if result.silent else pages
        return rank(resources.index, resources.embedder, evidence, pages=pages, wanted=wanted, whole=whole)

    searcher = resources.searcher
    whole = ranking(selection_evidence(searcher, result), PAGES)
    asks = [ranking(ask_evidence(searcher, ask), PAGES, whole) for ask in result.asks]
    sides = () if result.question.parts else result.sides
    return (replace(whole, asks=tuple(asks)), *(ranking(side, SIDE_PAGES) for side in sides))


def in_words(ranking: SectionRanking) -> SectionRanking:
    """The ranking without code, unless the question asks for code: strings and comments of an example show neither that
    a page answers nor which of its text is nearest."""
    if answered_by(Intent.CODE, ranking.query):
        return ranking
    ranking = replace(ranking, asks=tuple(map(in_words, ranking.asks)))
    places = [place for place, section in enumerate(ranking.sections) if not section.is_code]
    if not places:
        return ranking
    sections = tuple(ranking.sections[place] for place in places)
    return replace(ranking, sections=sections, scores=tuple(ranking.scores[place] for place in places))


def best_reading(
    reader: Reader,
    embedder: Embedder,
    ranking: SectionRanking,
    is_enough: Callable[[float], bool] = lambda _: False,
) -> float | None:
    """The reader's log odds that one of the first sections answers; None if there is none. It reads as many at a time
    as there are processors, and no more once the best reading `is_enough`."""
    best: float | None = None
    sections, at_once = in_words(ranking).sections[:READ_FIRST], thread_count()
    for start in range(0, len(sections), at_once):
        texts = [text_of(section, embedder) for section in sections[start : start + at_once]]
        read = [reading.answers for reading in reader.read(ranking.query, texts)]
        best = max(read if best is None else [best, *read])
        if is_enough(best):
            break
    return best


def text_of(section: Section, embedder: Embedder) -> Text:
    """The section as text for the reader: its best units, as many as fit, in their order. Of a table it reads every
    row: of the whole only the beginning, and hardly which name belongs to which value."""
    texts, answering = section.texts, [score for units in section.answering for score in units]
    kinds = [unit.kind for paragraph in section.paragraphs for unit in paragraph.units]
    sizes = embedder.count_tokens(texts)
    kept, filled = list[int](), 0
    for place in sorted(range(len(texts)), key=lambda place: -answering[place]):
        if not kept or filled + sizes[place] <= READ_TOKENS:
            kept.append(place)
            filled += sizes[place]
    names = dict.fromkeys([section.heading, section.title])
    read = (rows_in_words(texts[n]) if kinds[n] is UnitKind.TABLE else [texts[n]] for n in sorted(kept))
    return Text(" · ".join(names), tuple(chain.from_iterable(read)))

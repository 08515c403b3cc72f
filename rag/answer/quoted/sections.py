"""The sections of a page, each the whole text under one heading."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby

from rag.answer.quoted.paragraphs import Paragraph, quotable
from rag.index import Index
from rag.index.written_questions import SectionName
from rag.language.language import Language, language_of
from rag.search.retrieval import Evidence
from rag.text.page import PageSection
from rag.text.roles import SectionRole
from rag.text.sentences import UnitKind
from rag.text.tables import cells_of
from rag.types import Passage

# A section of more characters than this is quoted in parts.
LONG = 1_200
# Passages considered before and after a hit: more than a page of the corpus has, less than a book.
REACH = 40
# Pages whose sections are remembered, with their passages: those of a few answers. A page has some 50, of 8 kB each.
PAGES_KEPT = 16
QUESTION_MARKS = ("?", "？")
LEADS_ON = (*QUESTION_MARKS, ":", "：")


@dataclass(frozen=True, slots=True)
class Section:
    """Consecutive paragraphs of one section of a page. `answering` holds, for each unit of each paragraph, how well
    it answers the question of the ranking, higher is better; it is empty before that. `is_headed` means that a heading
    holds them together; the title of a document without other headings does not count."""

    title: str
    section: PageSection
    paragraphs: tuple[Paragraph, ...]
    is_short_answer: bool = False
    is_headed: bool = True
    answering: tuple[tuple[float, ...], ...] = ()

    @property
    def document(self) -> str:
        return self.paragraphs[0].passage.document

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above it, outermost first."""
        return self.section.path

    @property
    def heading(self) -> str:
        return self.section.heading or self.title

    @property
    def is_asked(self) -> bool:
        """Whether its heading is a question."""
        return self.heading.endswith(QUESTION_MARKS)

    @property
    def passages(self) -> set[int]:
        """The numbers of the passages that contain it."""
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
    def questions(self) -> list[str]:
        """The cells of its tables that ask something, as in a list of questions with their answers."""
        tables = (
            text
            for paragraph in self.paragraphs
            for text, unit in zip(paragraph.texts, paragraph.units, strict=True)
            if unit.kind is UnitKind.TABLE
        )
        cells = (cell for table in tables for row in table.split("\n") for cell in cells_of(row))
        return [cell for cell in cells if cell.endswith(QUESTION_MARKS)]

    @property
    def role(self) -> SectionRole | None:
        return SectionRole.SHORT_ANSWER if self.is_short_answer else self.section.role

    @property
    def defines(self) -> bool:
        """Whether it defines one term, under a heading of its own among the terms of its page; a list of many terms
        does not."""
        return SectionRole.TERMS in self.section.roles[:-1]

    @property
    def best_of_each(self) -> list[float]:
        """How well the best unit of each paragraph answers; all equal without a ranking."""
        return [max(units) for units in self.answering] or [0.0] * len(self.paragraphs)

    @property
    def best_first(self) -> list[int]:
        """The places of its paragraphs, best first; in their own order without a ranking."""
        answering = self.best_of_each
        return sorted(range(len(answering)), key=lambda place: -answering[place])

    def keeping(self, places: Sequence[int]) -> "Section":
        """The section with these of its paragraphs, in this order."""
        return replace(
            self,
            paragraphs=tuple(self.paragraphs[place] for place in places),
            answering=tuple(self.answering[place] for place in places) if self.answering else (),
        )

    @property
    def is_code(self) -> bool:
        return all(paragraph.passage.is_code for paragraph in self.paragraphs)

    @property
    def is_translation(self) -> bool:
        return self.section.language is not None

    def was_heard(self, heard: str) -> bool:
        """Whether an earlier answer quotes its first unit or, if no heading holds it together, any unit."""
        texts = self.texts[:1] if self.is_headed else self.texts
        return any(text in heard for text in texts)

    def holds(self, kind: UnitKind) -> bool:
        return any(unit.kind is kind for paragraph in self.paragraphs for unit in paragraph.units)


def sections_of(index: Index, evidence: Evidence, *, pages: int, language: Language | None = None) -> list[Section]:
    """The sections of the best `pages` documents, best document first, each in its order; of translations only those
    into `language`, by default the question's."""
    language = language or language_of(evidence.query)
    found: list[Section] = []
    for document in list(dict.fromkeys(hit.passage.document for hit in evidence.hits))[:pages]:
        hits = [hit.passage for hit in evidence.hits if hit.passage.document == document]
        found += _in_order(tuple(_around(index, document, hits)), language)
    return found


def sections_named(index: Index, names: Sequence[SectionName], language: Language) -> list[Section]:
    """The sections under these headings, in the order of their documents; of translations those into the language."""
    found: list[Section] = []
    for document in dict.fromkeys(document for document, _ in names):
        passages = index.storage.passages(list(dict.fromkeys(index.storage.document_numbers(document))))
        own = [passage for passage in passages if passage.document == document]
        found += [s for s in _in_order(tuple(own), language) if (document, s.heading) in names]
    return found


@lru_cache(PAGES_KEPT)
def _in_order(passages: tuple[Passage, ...], language: Language) -> tuple[Section, ...]:
    """The sections of passages of one document, remembered."""
    read = [passage for passage in passages if passage.translated_into in (None, language)]
    paragraphs = [p for passage in sorted(read, key=lambda one: one.start) for p in quotable(passage)]
    whole = in_sections(read[0].title, paragraphs) if read else []
    return tuple(part for section in whole for part in parts_of(section))


def in_sections(title: str, paragraphs: Sequence[Paragraph]) -> list[Section]:
    """Paragraphs grouped by their headings. The first section of a translation is its short answer."""
    found: list[Section] = []
    has_others = any(paragraph.section.path[:1] not in ((), (title,)) for paragraph in paragraphs)
    for own, members in groupby(paragraphs, key=lambda paragraph: paragraph.section):
        section = Section(title, own, tuple(members))
        opens = section.is_translation and not (found and found[-1].is_translation)
        found.append(
            replace(
                section,
                is_short_answer=opens or section.role is SectionRole.SHORT_ANSWER,
                is_headed=section.heading != title or section.is_asked or (bool(own.path) and has_others),
            )
        )
    return found


def parts_of(section: Section) -> list[Section]:
    """A section as it is quoted: whole, passage by passage if it is LONG, or paragraph by paragraph if no heading holds
    it together. A section with code stays whole below its heading: code may run over several passages."""
    if not section.is_headed:
        return [replace(section, paragraphs=members) for members in _apart(section.paragraphs)]
    if section.length <= LONG or section.holds(UnitKind.CODE):
        return [section]
    passages = groupby(section.paragraphs, key=lambda paragraph: paragraph.passage.number)
    return [replace(section, paragraphs=tuple(members)) for _, members in passages]


def _apart(paragraphs: Sequence[Paragraph]) -> Iterator[tuple[Paragraph, ...]]:
    """Each paragraph by itself, except that one that asks or announces something goes with the next, and code with
    what stands before it."""
    together: list[Paragraph] = []
    for paragraph in paragraphs:
        goes_on = paragraph.units[0].kind is UnitKind.CODE
        if together and not (goes_on or together[-1].texts[-1].endswith(LEADS_ON)):
            yield tuple(together)
            together = []
        together.append(paragraph)
    if together:
        yield tuple(together)


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
    depth = next((place for place, name in enumerate(hit.section, start=1) if name.endswith(QUESTION_MARKS)), 1)
    return passage.section[:depth] == hit.section[:depth]

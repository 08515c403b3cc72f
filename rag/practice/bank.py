"""The questions for practice: page titles, their follow-ups, and headings of other documents that ask.

A bank is read from one generation of the index and reflects that generation. Everything in it is a slice of a source
text: `source[start:end] == quote`.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from rag.errors import UsageError
from rag.index import Index
from rag.language.asking import HEADING
from rag.language.language import Language
from rag.language.numbering import without_numbering
from rag.language.terms import fold
from rag.practice.pages import Page, SectionText, page_of
from rag.text.roles import SectionRole
from rag.types import Citation

# Our pages have at least one of these.
OF_A_PAGE = (SectionRole.SHORT_ANSWER, SectionRole.POINTS, SectionRole.FOLLOW_UPS)


class QuestionKind(StrEnum):
    PAGE = "page"
    """The title of a page."""
    FOLLOW_UP = "follow_up"
    """A heading of its follow-ups."""
    SECTION = "section"
    """A heading of any other document."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its answer. `id` is the document's name, `#` and the heading.

    `topic` is the document's folder, `short` the short answer if there is one, `answer` all of it, as Markdown.
    `answer_sha256` reveals a reworded answer. `parent` is the id of the page's question, `follow_ups` are those of a
    page. `english` is the same question in English, if the page has it.
    """

    id: str
    kind: QuestionKind
    text: str
    topic: str
    tags: tuple[str, ...]
    document: str
    short: Citation | None
    answer: Citation
    answer_sha256: str
    parent: str | None = None
    follow_ups: tuple[str, ...] = ()
    english: str = ""


@dataclass(frozen=True, slots=True)
class Bank:
    """All questions by id, in order of documents, and their pages by name."""

    questions: Mapping[str, Question]
    pages: Mapping[str, Page]

    def find(self, question_id: str) -> Question:
        """The question with this id; a document's name alone means its title's question. Raises UsageError if the
        material does not, or no longer, ask it."""
        found = self.questions.get(question_id) or next(
            (question for question in self.questions.values() if question.document == question_id), None
        )
        if found is None:
            raise UsageError(
                f"the material has no question {question_id!r}",
                hint="its page may have been renamed or removed; list the questions with: python -m rag practice ask",
            )
        return found

    def topics(self) -> dict[str, int]:
        """The number of questions per topic, in order of name."""
        return dict(sorted(Counter(question.topic for question in self.questions.values()).items()))

    def select(
        self, *, topic: str | None = None, kind: QuestionKind | None = None, sought: str = ""
    ) -> tuple[Question, ...]:
        """The questions of a topic and kind whose text, tags or other wordings contain every word of `sought`. Raises
        UsageError for an unknown topic."""
        if topic is not None and topic not in self.topics():
            raise UsageError(f"there is no topic {topic!r}", hint=f"topics: {', '.join(self.topics()) or 'none'}")
        words = fold(sought).split()
        return tuple(
            question
            for question in self.questions.values()
            if (topic is None or question.topic == topic)
            and (kind is None or question.kind is kind)
            and all(word in self._named(question) for word in words)
        )

    def _named(self, question: Question) -> str:
        page = self.pages[question.document]
        asked_as = page.asked_as if question.kind is QuestionKind.PAGE else ()
        return fold(" ".join((question.text, question.english, *question.tags, *asked_as)))


def read_bank(index: Index) -> Bank:
    """The bank of a generation; 0.4 s for 160 pages. Keep it until the generation changes."""
    roots = {root.number: Path(root.path) for root in index.manifest.roots}
    stored = index.storage.documents(with_passages=True)
    pages = [page_of(document, roots.get(document.root)) for document in stored]
    questions = {question.id: question for page in pages for question in questions_of(page)}
    return Bank(questions, {page.document: page for page in pages})


def below(page: Page, *roles: SectionRole) -> list[SectionText]:
    """The sections with one of these roles, and their subsections."""
    return [text for text in page.sections if not {*roles}.isdisjoint(text.section.roles)]


def english_sections(page: Page) -> list[SectionText]:
    """A page's English sections: for its title, for each of its follow-ups, then for what only its parts answer."""
    return [
        text
        for text in page.sections
        if text.section.language is Language.EN and text.section.role is not SectionRole.SPOKEN
    ]


def questions_of(page: Page) -> list[Question]:
    """The questions that one page asks."""
    is_page = bool(below(page, *OF_A_PAGE)) and bool(HEADING.match(page.title))
    found = list(_of_page(page) if is_page else _of_sections(page))
    if is_page and len(english := english_sections(page)) >= len(found):
        found = [replace(q, english=section.heading) for q, section in zip(found, english, strict=False)]
    return _with_ids(found)


def _of_page(page: Page) -> Iterator[Question]:
    short = below(page, SectionRole.SHORT_ANSWER)
    aside = below(page, SectionRole.FOLLOW_UPS, SectionRole.MISTAKES)
    own = [text for text in page.sections if text not in aside and text.section.language is None]
    if own:
        yield replace(
            _question(page, QuestionKind.PAGE, page.title, own),
            short=page.slice(short[0].start, short[0].end, short[0].path) if short else None,
        )
    for text in below(page, SectionRole.FOLLOW_UPS):
        if HEADING.match(text.heading) and text.section.role is None:
            yield _question(page, QuestionKind.FOLLOW_UP, text.heading, [text])


def _of_sections(page: Page) -> Iterator[Question]:
    """Headings that ask, each with the text below it and below no deeper one."""
    asking: dict[tuple[str, ...], list[SectionText]] = {}
    for section in page.sections:
        depths = [depth for depth, name in enumerate(section.path, start=1) if HEADING.match(without_numbering(name))]
        if depths:
            asking.setdefault(section.path[: depths[-1]], []).append(section)
    for path, sections in asking.items():
        yield _question(page, QuestionKind.SECTION, without_numbering(path[-1]), sections)


def _question(page: Page, kind: QuestionKind, text: str, sections: Sequence[SectionText]) -> Question:
    answer = page.slice(sections[0].start, sections[-1].end, sections[0].path)
    digest = hashlib.sha256(" ".join(answer.quote.split()).encode()).hexdigest()
    topic = page.document.rpartition("/")[0]
    return Question(f"{page.document}#{text}", kind, text, topic, page.tags, page.document, None, answer, digest)


def _with_ids(questions: Sequence[Question]) -> list[Question]:
    """With ids unique within the page: a repeated heading gets the headings above it as a prefix. And with parent and
    follow-ups."""
    unique: dict[str, Question] = {}
    for question in questions:
        name = question.id
        if name in unique:
            name = f"{question.document}#{' > '.join((*question.answer.section[:-1], question.text))}"
        if name not in unique:
            unique[name] = replace(question, id=name)
    page = next((question for question in unique.values() if question.kind is QuestionKind.PAGE), None)
    if page is None:
        return list(unique.values())
    others = [replace(question, parent=page.id) for question in unique.values() if question is not page]
    return [replace(page, follow_ups=tuple(question.id for question in others)), *others]

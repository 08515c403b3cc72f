"""The questions that can be practised: the title of a page, its follow-ups, and headed questions of other documents.

A bank is read from one generation of the index and says what that generation says. Everything it holds is a slice of a
source text: `source[start:end] == quote`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from rag.index import Index
from rag.practice.pages import Page
from rag.types import Citation


class QuestionKind(StrEnum):
    PAGE = "page"
    """The title of a page."""
    FOLLOW_UP = "follow_up"
    """A heading of its follow-ups."""
    SECTION = "section"
    """A heading of any other document."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what answers it. `id` is the document's name, `#` and the heading.

    `topic` is the document's folder, `short` the short answer where there is one, `answer` all of it, as Markdown.
    `answer_sha256` tells that an answer was reworded. `parent` is the question of the page, `follow_ups` are those of
    a page, by id.
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


@dataclass(frozen=True, slots=True)
class Bank:
    """All questions by id, in order of documents, and the pages that they stand on by name."""

    questions: Mapping[str, Question]
    pages: Mapping[str, Page]

    def find(self, question_id: str) -> Question:
        """The question with this id; a document's name alone means the question of its title. Raises UsageError where
        the material no longer asks it."""
        raise NotImplementedError

    def topics(self) -> dict[str, int]:
        """How many questions each topic has, in order of name."""
        raise NotImplementedError

    def select(
        self, *, topic: str | None = None, kind: QuestionKind | None = None, sought: str = ""
    ) -> tuple[Question, ...]:
        """The questions of a topic and kind whose question, tags or other wordings hold every word of `sought`."""
        raise NotImplementedError


def read_bank(index: Index) -> Bank:
    """The bank of a generation; 0.3 s for 160 pages. Keep it until the generation changes."""
    raise NotImplementedError

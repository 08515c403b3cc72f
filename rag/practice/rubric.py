"""What an answer must say: points with weights, and the mistakes that the material warns of."""

from dataclasses import dataclass

from rag.practice.bank import Bank, Question
from rag.types import Citation


@dataclass(frozen=True, slots=True)
class Point:
    """A claim that an answer must make, word for word from the source; `english` says the same, where the page does."""

    citation: Citation
    weight: int
    english: Citation | None = None

    @property
    def text(self) -> str:
        return self.citation.quote


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong claim that the material corrects, and what is right."""

    wrong: Citation
    right: Citation


@dataclass(frozen=True, slots=True)
class Rubric:
    """The points of a question, those of most weight first, and the mistakes of its page. `question` is its text,
    `passages` are the numbers of its page in the index."""

    question_id: str
    question: str
    points: tuple[Point, ...]
    mistakes: tuple[Mistake, ...]
    passages: tuple[int, ...] = ()


def rubric_of(bank: Bank, question: Question) -> Rubric:
    """The rubric of a question: that of the page's front matter where it has one, else derived from its sections.
    Raises UsageError where the front matter names what the page does not say."""
    raise NotImplementedError

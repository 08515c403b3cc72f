"""An attempt and a rubric -> a grade: which points it makes, where, and which mistakes."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from rag.answer.assistant import Assistant
from rag.practice.rubric import Mistake, Point, Rubric


class Verdict(StrEnum):
    FOUND = "found"
    PARTLY = "partly"
    MISSING = "missing"
    CONTRADICTED = "contradicted"
    UNSURE = "unsure"


class Method(StrEnum):
    """Who grades."""

    OVERLAP = "overlap"
    EMBEDDER = "embedder"
    CHAT_MODEL = "chat_model"


class GradeNote(StrEnum):
    """What a reader must be told beside a grade."""

    EMPTY = "empty"
    CUT = "cut"
    """Only the first MOST_GRADED characters were graded."""
    OTHER_LANGUAGE = "other_language"
    """Neither Chinese nor English."""
    NO_SENTENCES = "no_sentences"
    """Terms without claims."""
    ORDERS = "orders"
    """Sentences that speak to the grader were left out."""
    FALLBACK = "fallback"
    """The chat model did not answer; the embedder graded."""


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class PointGrade:
    """`attempt` is the stretch of the attempt that makes or denies the point."""

    point: Point
    verdict: Verdict
    attempt: Span | None


@dataclass(frozen=True, slots=True)
class MistakeMade:
    mistake: Mistake
    attempt: Span


@dataclass(frozen=True, slots=True)
class Grade:
    """`score` is 0..1. `beyond` are the sentences that the material says nothing of; they cost nothing."""

    question_id: str
    attempt: str
    score: float
    points: tuple[PointGrade, ...]
    mistakes: tuple[MistakeMade, ...]
    beyond: tuple[Span, ...]
    graded_by: Method
    notes: tuple[GradeNote, ...] = ()


class Grader(Protocol):
    method: Method

    def grade(self, attempt: str, rubric: Rubric) -> Grade:
        """Raises UsageError only for an attempt longer than MOST_CHARACTERS."""


def open_grader(assistant: Assistant, method: Method | None = None) -> Grader:
    """A grader over what the assistant has open. None takes the best that is there without a chat model."""
    raise NotImplementedError


def overridden(grade: Grade, verdicts: dict[str, Verdict]) -> Grade:
    """The grade with the reader's own verdicts, by the text of the point, and the score that follows."""
    raise NotImplementedError


def score_of(points: tuple[PointGrade, ...], mistakes: int = 0) -> float:
    """The weighted share of the points made; a contradicted one counts against."""
    raise NotImplementedError

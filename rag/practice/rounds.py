"""A mock interview: questions of a topic, follow-ups chosen by what was missed, and a report. Rounds are values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from rag.practice.bank import Bank, Question
from rag.practice.grading import Grade
from rag.practice.schedule import Card
from rag.text.language import Language
from rag.types import Citation


class Level(StrEnum):
    """How far a round digs: questions of pages only, one follow-up to each, or as many as were missed."""

    BASIC = "basic"
    STANDARD = "standard"
    DEEP = "deep"


@dataclass(frozen=True, slots=True)
class PointMade:
    """A point of an answered question, as the report needs it. `verdict` is one of grading.Verdict."""

    text: str
    verdict: str
    citation: Citation


@dataclass(frozen=True, slots=True)
class Answered:
    """A question of a round with what was said; `mistakes` are the corrections."""

    question_id: str
    attempt: str
    score: float
    points: tuple[PointMade, ...]
    mistakes: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """`planned` are ids still to be asked, the next one first; `count` is how many the round asks in all."""

    id: str
    topic: str | None
    level: Level
    begun: datetime
    count: int
    planned: tuple[str, ...]
    answered: tuple[Answered, ...] = ()

    @property
    def is_finished(self) -> bool:
        return not self.planned or len(self.answered) >= self.count

    @property
    def current(self) -> str | None:
        """The id of the question to ask now."""
        return None if self.is_finished else self.planned[0]


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim to be judged right or wrong, and what is right."""

    question_id: str
    text: str
    is_right: bool
    correction: Citation


def begin_round(
    bank: Bank, *, topic: str | None, level: Level, count: int, now: datetime, cards: Mapping[str, Card], seed: int
) -> Round:
    """A round of 5 to 8 questions; due and new ones first. Raises UsageError for a topic without questions."""
    raise NotImplementedError


def answer(bank: Bank, round: Round, grade: Grade) -> Round:
    """The round after an answer; the follow-up that asks most about what was missed comes next."""
    raise NotImplementedError


def skip_vanished(bank: Bank, round: Round) -> Round:
    """The round without planned questions that left the material meanwhile."""
    raise NotImplementedError


def report(bank: Bank, round: Round, cards: Mapping[str, Card], language: Language) -> str:
    """The report as Markdown: points made and missed with sources, mistakes, what to read, when it comes back."""
    raise NotImplementedError


def statements(bank: Bank, *, topic: str | None, count: int, seed: int) -> tuple[Statement, ...]:
    """Claims to be judged right or wrong, made of the mistakes that pages correct."""
    raise NotImplementedError


def next_follow_up(bank: Bank, question: Question, grade: Grade, asked: Sequence[str]) -> Question | None:
    """The follow-up of a question that shares most with the points that were missed."""
    raise NotImplementedError

"""When a question is asked again: FSRS with its default parameters, over UTC; days are the reader's own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from enum import StrEnum

from rag.practice.bank import Bank, Question


class Rating(StrEnum):
    AGAIN = "again"
    HARD = "hard"
    GOOD = "good"
    EASY = "easy"


class Knowledge(StrEnum):
    NEW = "new"
    SHAKY = "shaky"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class Card:
    """What is known of a reader's memory of one question. Times are UTC; `answer_sha256` is the answer of the last
    review, so that a reworded one shows."""

    question_id: str
    due: datetime
    last_review: datetime
    state: int
    step: int | None
    stability: float
    difficulty: float
    reviews: int
    answer_sha256: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """One line of the log. `score` and `attempt` are None and empty where a card was only rated."""

    question_id: str
    at: datetime
    rating: Rating
    score: float | None = None
    attempt: str = ""
    answer_sha256: str = ""
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TopicProgress:
    topic: str
    new: int
    shaky: int
    known: int
    due: int


def rating_of(score: float) -> Rating:
    """The rating that a score stands for."""
    raise NotImplementedError


def reviewed(card: Card | None, review: Review) -> Card:
    """The card after a review. A clock that went back counts as no time."""
    raise NotImplementedError


def rebuilt(reviews: Iterable[Review]) -> dict[str, Card]:
    """The cards that a log of reviews leads to, by question."""
    raise NotImplementedError


def knowledge_of(card: Card | None) -> Knowledge:
    """New, shaky or known."""
    raise NotImplementedError


def is_reworded(card: Card, question: Question) -> bool:
    """Whether the answer says something else than when it was last reviewed."""
    raise NotImplementedError


def due_cards(bank: Bank, cards: Mapping[str, Card], now: datetime) -> list[Card]:
    """The cards that are due, the longest overdue first; questions that left the material are left out."""
    raise NotImplementedError


def forecast(cards: Iterable[Card], now: datetime, zone: tzinfo, days: int = 14) -> list[tuple[date, int]]:
    """How many cards fall due on each of the next days; what is overdue counts for today."""
    raise NotImplementedError


def progress(bank: Bank, cards: Mapping[str, Card], now: datetime) -> list[TopicProgress]:
    """New, shaky, known and due questions of each topic."""
    raise NotImplementedError


def streak(reviews: Sequence[Review], now: datetime, zone: tzinfo) -> int:
    """Days in a row with a review, up to today or yesterday, by the reader's local day."""
    raise NotImplementedError

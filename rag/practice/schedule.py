"""When to ask a question again: FSRS (Ye, 2022) with its default parameters, over UTC; days are the reader's own.

The log of reviews determines a card, so intervals are not varied at random: the same log gives the same card.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, tzinfo
from enum import StrEnum

from rag.practice.bank import Bank, Question
from rag.practice.grading import Grade, GradeNote

# Scores from which an answer was hard, good and easy; below the first it was not known.
HARD_FROM, GOOD_FROM, EASY_FROM = 0.4, 0.65, 0.92
# Days of the forecast.
AHEAD = 14
# An attempt graded again so soon is one review with another rating: the reader gave a verdict of their own.
SAME_REVIEW = timedelta(hours=1)


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
    """The state of a reader's memory of one question. Times are UTC; `answer_sha256` is the answer of the last review,
    to detect rewording."""

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
class CardReview:
    """One line of the log. `score` and `attempt` are None and empty if a card was only rated."""

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
    """The rating for a score."""
    if score >= GOOD_FROM:
        return Rating.EASY if score >= EASY_FROM else Rating.GOOD
    return Rating.HARD if score >= HARD_FROM else Rating.AGAIN


def review_of(question: Question, grade: Grade, at: datetime) -> CardReview | None:
    """The log entry for a graded attempt: None for an empty one."""
    if GradeNote.EMPTY in grade.notes:
        return None
    return CardReview(question.id, at, rating_of(grade.score), grade.score, grade.attempt, question.answer_sha256)


def reviewed(card: Card | None, review: CardReview) -> Card:
    """The card after a review. A clock that went back counts as no time."""
    import fsrs

    at = in_order(card, review.at)
    # An id is given: without one fsrs waits until the clock gives another.
    before = fsrs.Card(card_id=0, due=at)
    if card is not None:
        before = fsrs.Card(
            0, fsrs.State(card.state), card.step, card.stability, card.difficulty, card.due, card.last_review
        )
    scheduler = fsrs.Scheduler(enable_fuzzing=False)
    after, _ = scheduler.review_card(before, fsrs.Rating[review.rating.name.title()], at)
    assert after.stability is not None
    assert after.difficulty is not None
    return Card(
        review.question_id, after.due, at, int(after.state), after.step, after.stability, after.difficulty,
        (card.reviews if card else 0) + 1, review.answer_sha256,
    )  # fmt: skip


def in_order(card: Card | None, at: datetime) -> datetime:
    """The time of a review in UTC, never before the review before it."""
    at = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return at if card is None else max(at, card.last_review)


def rebuilt(reviews: Iterable[CardReview]) -> dict[str, Card]:
    """The cards from a log of reviews, by question."""
    cards: dict[str, Card] = {}
    for review in counting(reviews):
        cards[review.question_id] = reviewed(cards.get(review.question_id), review)
    return cards


def counting(reviews: Iterable[CardReview]) -> list[CardReview]:
    """The reviews of a log, in order, without those whose rating a later one replaced."""
    counted: list[CardReview | None] = []
    last: dict[str, int] = {}
    for review in reviews:
        before = counted[last[review.question_id]] if review.question_id in last else None
        if before and review.attempt and review.attempt == before.attempt and review.at - before.at < SAME_REVIEW:
            counted[last[review.question_id]] = None
        last[review.question_id] = len(counted)
        counted.append(review)
    return [review for review in counted if review is not None]


def knowledge_of(card: Card | None) -> Knowledge:
    """New before its first review, shaky while it is (re)learnt, then known."""
    if card is None:
        return Knowledge.NEW
    import fsrs

    return Knowledge.KNOWN if card.state == fsrs.State.Review else Knowledge.SHAKY


def is_reworded(card: Card, question: Question) -> bool:
    """Whether the answer has changed since its last review."""
    return card.answer_sha256 not in ("", question.answer_sha256)


def due_cards(bank: Bank, cards: Mapping[str, Card], now: datetime) -> list[Card]:
    """The due cards, the longest overdue first; without questions that left the material."""
    due = [card for card in cards.values() if card.due <= now and card.question_id in bank.questions]
    return sorted(due, key=lambda card: (card.due, card.question_id))


def forecast(cards: Iterable[Card], now: datetime, zone: tzinfo) -> list[tuple[date, int]]:
    """How many cards fall due on each of the next days; overdue ones count for today."""
    today = now.astimezone(zone).date()
    counts = Counter(max(today, card.due.astimezone(zone).date()) for card in cards)
    return [(day, counts[day]) for day in (today + timedelta(days=ahead) for ahead in range(AHEAD))]


def progress(bank: Bank, cards: Mapping[str, Card], now: datetime) -> list[TopicProgress]:
    """New, shaky, known and due questions of each topic, in order of name."""
    counts: dict[str, Counter[Knowledge]] = {topic: Counter() for topic in bank.topics()}
    due = Counter(bank.questions[card.question_id].topic for card in due_cards(bank, cards, now))
    for question in bank.questions.values():
        counts[question.topic][knowledge_of(cards.get(question.id))] += 1
    return [
        TopicProgress(topic, found[Knowledge.NEW], found[Knowledge.SHAKY], found[Knowledge.KNOWN], due[topic])
        for topic, found in counts.items()
    ]


def streak(reviews: Sequence[CardReview], now: datetime, zone: tzinfo) -> int:
    """Days in a row with a review, up to today or yesterday, by the reader's local day."""
    days = {review.at.astimezone(zone).date() for review in reviews}
    day = now.astimezone(zone).date()
    if day not in days:
        day -= timedelta(days=1)
    length = 0
    while day in days:
        length, day = length + 1, day - timedelta(days=1)
    return length

"""A mock interview: questions of a topic, follow-ups chosen by what was missed, and a report. Rounds are values."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from rag.errors import UsageError
from rag.language.terms import terms
from rag.practice.bank import Bank, Question, QuestionKind
from rag.practice.grading import MADE, Grade, Verdict
from rag.practice.rubric import mistakes_of
from rag.practice.schedule import Card
from rag.types import Citation

FEWEST, MOST = 5, 8


class Level(StrEnum):
    """The depth of a round: questions alone, one follow-up to each, or two if something was missed."""

    BASIC = "basic"
    STANDARD = "standard"
    DEEP = "deep"


@dataclass(frozen=True, slots=True)
class PointMade:
    """A point of an answered question, as the report needs it."""

    verdict: Verdict
    citation: Citation


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question of a round with its attempt; `mistakes` are the corrections of those it made."""

    question_id: str
    attempt: str
    score: float
    points: tuple[PointMade, ...]
    mistakes: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Round:
    """`planned` are ids still to ask, the next one first; `count` is the total number of questions."""

    id: str
    topic: str | None
    level: Level
    begun: datetime
    count: int
    planned: tuple[str, ...]
    answered: tuple[AnsweredQuestion, ...] = ()

    @property
    def is_finished(self) -> bool:
        return not self.planned or len(self.answered) >= self.count

    @property
    def current(self) -> str | None:
        """The id of the question to ask now."""
        return None if self.is_finished else self.planned[0]


@dataclass(frozen=True, slots=True)
class TrueFalseStatement:
    """A claim to judge as right or wrong, and the right one."""

    question_id: str
    text: str
    is_right: bool
    correction: Citation


FOLLOW_UPS = {Level.BASIC: 0, Level.STANDARD: 1, Level.DEEP: 2}


def begin_round(
    bank: Bank, *, topic: str | None, level: Level, count: int, now: datetime, cards: Mapping[str, Card], seed: int
) -> Round:
    """A round of 5 to 8 questions; due ones come first, then new ones. Raises UsageError for another count and for a
    topic without questions."""
    if not FEWEST <= count <= MOST:
        raise UsageError(f"a round has {FEWEST} to {MOST} questions, not {count}", hint="choose a number between")
    questions = [q for q in bank.select(topic=topic) if q.kind is not QuestionKind.FOLLOW_UP]
    if not questions:
        raise UsageError("there is nothing to ask", hint="ingest pages whose headings are questions")
    random.Random(seed).shuffle(questions)

    def urgency(question: Question) -> int:
        card = cards.get(question.id)
        return 1 if card is None else 0 if card.due <= now else 2

    planned = tuple(question.id for question in sorted(questions, key=urgency)[:count])
    return Round(f"{now.astimezone(UTC):%Y%m%dT%H%M%S}-{seed}", topic, level, now.astimezone(UTC), count, planned)


def answer(bank: Bank, round: Round, grade: Grade) -> Round:
    """The round after an answer to its current question. If the level has a follow-up left for the page, it comes next:
    the one that asks most about what was missed. Raises UsageError for a grade of another question."""
    if grade.question_id != round.current:
        raise UsageError(
            f"the round asks {round.current!r}, not {grade.question_id!r}", hint="grade its current question"
        )
    points = tuple(PointMade(graded.verdict, graded.point.citation) for graded in grade.points)
    corrections = tuple(made.mistake.right for made in grade.mistakes)
    answered = (*round.answered, AnsweredQuestion(grade.question_id, grade.attempt, grade.score, points, corrections))
    planned = round.planned[1:]
    question = bank.find(grade.question_id)
    page = bank.questions.get(question.parent or "", question)
    asked = [one.question_id for one in answered]
    missed = any(graded.verdict not in MADE for graded in grade.points)
    most = FOLLOW_UPS[round.level] if missed else min(1, FOLLOW_UPS[round.level])
    if sum(name in page.follow_ups for name in asked) < most:
        follow_up = next_follow_up(bank, page, grade, asked)
        planned = (follow_up.id, *planned) if follow_up else planned
    return replace(round, planned=planned[: round.count - len(answered)], answered=answered)


def skip_vanished(bank: Bank, round: Round) -> Round:
    """The round without planned questions that have left the material."""
    return replace(round, planned=tuple(name for name in round.planned if name in bank.questions))


def next_follow_up(bank: Bank, question: Question, grade: Grade, asked: Sequence[str]) -> Question | None:
    """The follow-up of a question that shares most with the missed points; None if all were asked."""
    missed = {term for graded in grade.points if graded.verdict not in MADE for term in terms(graded.point.text)}
    known = set(terms(question.text))
    left = [bank.questions[name] for name in question.follow_ups if name in bank.questions and name not in asked]

    def asks(follow_up: Question) -> float:
        wanted = set(terms(f"{follow_up.text} {follow_up.answer.quote}")) - known
        return len(wanted & missed) / max(len(wanted), 1)

    return max(left, key=asks, default=None)


def statements(bank: Bank, *, topic: str | None, count: int, seed: int) -> tuple[TrueFalseStatement, ...]:
    """Claims to judge as right or wrong, made of the mistakes that pages correct: half of them wrong, half right. The
    same seed gives the same claims."""
    chance = random.Random(seed)
    found = [
        (question, mistake)
        for question in bank.select(topic=topic, kind=QuestionKind.PAGE)
        for mistake in mistakes_of(bank.pages[question.document])
    ]
    chosen = chance.sample(found, min(count, len(found)))
    truths = [place % 2 == 0 for place in range(len(chosen))]
    chance.shuffle(truths)
    return tuple(
        TrueFalseStatement(question.id, (mistake.right if is_right else mistake.wrong).quote, is_right, mistake.right)
        for (question, mistake), is_right in zip(chosen, truths, strict=True)
    )

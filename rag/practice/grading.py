"""An attempt and a rubric -> a grade: which points it makes, where, and which mistakes.

The embedder's judgement is three logistic regressions on how a point and an attempt compare, fitted to attempts that
people labelled: `python -m tools.fit.grading`. Only claims can make a point: terms in a row and
sentences that speak to the grader are left out before anything is compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from rag.practice.attempt import Attempt, Span, read_attempt
from rag.practice.clashes import clash_with
from rag.practice.likeness import Compared, Comparer, Read
from rag.practice.rubric import ESSENTIAL, Mistake, Point, Rubric
from rag.text.terms import fold


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


@dataclass(frozen=True, slots=True)
class PointGrade:
    """`attempt` is the stretch of the attempt that makes or denies the point."""

    point: Point
    verdict: Verdict
    attempt: Span | None = None


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
        """Raises UsageError only for an attempt longer than `attempt.MOST_CHARACTERS`."""


@dataclass(frozen=True, slots=True)
class Regression:
    """Log odds: `offset` and a weight for each feature."""

    offset: float
    weights: tuple[float, ...]

    def odds(self, row: NDArray[np.float64]) -> float:
        return float(self.offset + row @ np.asarray(self.weights))


# Fitted; rows are PointFeatures, then ClashFeatures.
MADE = Regression(-5.08, (5.40, 3.10, 1.99, 3.02, -1.80, 0.08, 7.23, 1.66, 1.43, -2.17, 1.12, -1.17, 2.08, 0.95))
FULL = Regression(-2.95, (-0.13, 1.18, 4.25, 2.53, 2.62, -4.81, 4.67, 0.34, -0.55, 1.16, 0.49, 2.39, 1.42, 0.00))
WRONG = Regression(-3.70, (0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 2.50, 4.23, 1.20, -0.16))
# Log odds from which a verdict is given; a little below, the grader says that it is not sure.
MADE_FROM = 0.75
FULL_FROM = 0.0
WRONG_FROM = -1.9
UNSURE_FROM = 0.35
# What a verdict counts towards the score.
CREDIT = {
    Verdict.FOUND: 1.0, Verdict.PARTLY: 0.5, Verdict.UNSURE: 0.25, Verdict.MISSING: 0.0, Verdict.CONTRADICTED: -0.2,
}  # fmt: skip
# What further points can make up for, of what the essential ones lack.
FURTHER_COUNTS = 0.1
MISTAKE_COSTS = 0.05
# How near a sentence comes to a wrong claim that it makes, how much nearer than to the right one, and the share of its
# terms that the attempt has at least.
MISTAKEN = 0.62
MISTAKEN_TERMS = 0.25
MISTAKEN_MORE = 0.06
# How much nearer than to any point of the rubric: what makes a point is no mistake.
MISTAKEN_RATHER = 0.04
# The share of a sentence's terms that the page has, below which it goes beyond the material.
KNOWN = 0.35
# rapidfuzz's partial_token_ratio of folded texts, 0..100.
OVERLAP_FOUND, OVERLAP_PARTLY = 62.0, 48.0


def score_of(points: Sequence[PointGrade], mistakes: int = 0) -> float:
    """The weighted share of the essential points that were made, less a little for what was contradicted or mistaken;
    further points make up for a tenth."""
    essential, further = (
        _share([graded for graded in points if (graded.point.weight >= ESSENTIAL) is wanted])
        for wanted in (True, False)
    )
    score = essential + FURTHER_COUNTS * further * (1 - essential) * (essential > 0)
    return round(min(1.0, max(0.0, score - MISTAKE_COSTS * mistakes)), 3)


def overridden(grade: Grade, verdicts: Mapping[str, Verdict]) -> Grade:
    """The grade with the reader's own verdicts, by the text of the point, and the score that follows."""
    points = tuple(replace(graded, verdict=verdicts.get(graded.point.text, graded.verdict)) for graded in grade.points)
    return replace(grade, points=points, score=score_of(points, len(grade.mistakes)))


class EmbedderGrader:
    """Grades by token vectors, terms and polarity."""

    method = Method.EMBEDDER

    def __init__(self, comparer: Comparer) -> None:
        self.comparer = comparer

    def grade(self, attempt: str, rubric: Rubric) -> Grade:
        typed = read_attempt(attempt)
        if ungraded := _without_claims(typed, rubric, self.method):
            return ungraded
        read = self.comparer.read(typed)
        self.comparer.remember([rubric.question, *(text for point in rubric.points for text in wordings(point, typed))])
        points = tuple(self._judge(typed, read, point, rubric) for point in rubric.points)
        mistakes = tuple(self._mistakes(read, rubric))
        known = self.comparer.known_to(read, rubric.passages)
        made = [graded.attempt for graded in points if graded.attempt]
        beyond = tuple(
            (sentence.start, sentence.end)
            for sentence, share in zip(read.sentences, known, strict=True)
            if share < KNOWN and not any(low < sentence.end and sentence.start < high for low, high in made)
        )
        return Grade(
            rubric.question_id, attempt, score_of(points, len(mistakes)), points, mistakes, beyond, self.method,
            notes_on(typed),
        )  # fmt: skip

    def features(
        self, attempt: Attempt, read: Read, point: Point, question: str
    ) -> tuple[NDArray[np.float64], Compared] | None:
        """What the regressions see, and where the attempt comes nearest to the point: in the wording, Chinese or
        English, that it comes nearer to."""
        found = [
            (text, compared)
            for text in wordings(point, attempt)
            if (compared := self.comparer.compare(read, text, question))
        ]
        if not found:
            return None
        text, compared = max(found, key=lambda pair: pair[1].features.whole)
        clash = clash_with(read.sentences, text, self.comparer.weight)
        return np.concatenate([compared.features.row(), clash.features.row()]), compared

    def _judge(self, attempt: Attempt, read: Read, point: Point, rubric: Rubric) -> PointGrade:
        found = self.features(attempt, read, point, rubric.question)
        if found is None:
            return PointGrade(point, Verdict.UNSURE)
        row, compared = found
        verdict = verdict_of(row)
        return PointGrade(point, verdict, None if verdict is Verdict.MISSING else compared.span)

    def _mistakes(self, read: Read, rubric: Rubric) -> list[MistakeMade]:
        """The mistakes that a sentence makes: it is near to the wrong claim, nearer than to its correction and to any
        point."""
        made = []
        for mistake in rubric.mistakes:
            if self.comparer.shared_terms(read, mistake.wrong.quote) < MISTAKEN_TERMS:
                continue
            wrong = self.comparer.compare(read, mistake.wrong.quote, "")
            if wrong is None or wrong.features.best < MISTAKEN:
                continue
            sentence = read.sentences[wrong.sentence]
            alone = self.comparer.only(read, wrong.sentence)
            right = self.comparer.compare(alone, mistake.right.quote, "")
            clash = clash_with([sentence], mistake.wrong.quote, self.comparer.weight).features
            denies = max(clash.polarity, clash.numbers) > clash.agreed
            points = [self.comparer.compare(alone, point.text, "") for point in rubric.points]
            nearest = max((compared.features.best for compared in points if compared), default=0.0)
            if denies or wrong.features.best <= nearest + MISTAKEN_RATHER:
                continue
            if right is None or wrong.features.best > right.features.best + MISTAKEN_MORE:
                made.append(MistakeMade(mistake, (sentence.start, sentence.end)))
        return made


class OverlapGrader:
    """Grades by shared wording alone: what stands in where there are no token vectors, and the baseline."""

    method = Method.OVERLAP

    def grade(self, attempt: str, rubric: Rubric) -> Grade:
        typed = read_attempt(attempt)
        if ungraded := _without_claims(typed, rubric, self.method):
            return ungraded
        said = [(fold(sentence.text), sentence) for sentence in typed.claims]
        points = []
        for point in rubric.points:
            texts = [fold(point.text), *([fold(point.english.quote)] if point.english else [])]
            ratio, sentence = max(
                ((fuzz.partial_ratio(text, words), sentence) for text in texts for words, sentence in said),
                key=lambda pair: pair[0],
            )
            full, half = ratio >= OVERLAP_FOUND, ratio >= OVERLAP_PARTLY
            verdict = Verdict.FOUND if full else Verdict.PARTLY if half else Verdict.MISSING
            points.append(PointGrade(point, verdict, (sentence.start, sentence.end) if half else None))
        return Grade(rubric.question_id, attempt, score_of(points), tuple(points), (), (), self.method, notes_on(typed))


def wordings(point: Point, attempt: Attempt) -> list[str]:
    """What an attempt is compared with: an English one with the English wording too."""
    return [point.text, *([point.english.quote] if point.english and attempt.is_english else [])]


def verdict_of(row: NDArray[np.float64]) -> Verdict:
    """The verdict on a point; `row` holds PointFeatures, then ClashFeatures."""
    if WRONG.odds(row) >= WRONG_FROM:
        return Verdict.CONTRADICTED
    made = MADE.odds(row)
    if made < MADE_FROM:
        return Verdict.UNSURE if made >= UNSURE_FROM else Verdict.MISSING
    return Verdict.FOUND if FULL.odds(row) >= FULL_FROM else Verdict.PARTLY


def notes_on(attempt: Attempt) -> tuple[GradeNote, ...]:
    """What is to be told of an attempt, whoever grades it."""
    orders = any(sentence.orders for sentence in attempt.sentences)
    holds = {
        GradeNote.EMPTY: attempt.is_empty,
        GradeNote.CUT: attempt.is_cut,
        GradeNote.OTHER_LANGUAGE: attempt.is_foreign,
        GradeNote.NO_SENTENCES: not attempt.is_empty and not attempt.is_foreign and not attempt.claims,
        GradeNote.ORDERS: orders,
    }
    return tuple(note for note, is_so in holds.items() if is_so)


def _without_claims(attempt: Attempt, rubric: Rubric, method: Method) -> Grade | None:
    """The grade of an attempt in which nothing can be graded."""
    if attempt.claims and not attempt.is_empty and not attempt.is_foreign:
        return None
    verdict = Verdict.UNSURE if attempt.is_foreign else Verdict.MISSING
    points = tuple(PointGrade(point, verdict) for point in rubric.points)
    return Grade(rubric.question_id, attempt.typed, 0.0, points, (), (), method, notes_on(attempt))


def _share(points: Sequence[PointGrade]) -> float:
    weights = sum(graded.point.weight for graded in points)
    earned = sum(graded.point.weight * CREDIT[graded.verdict] for graded in points)
    return max(0.0, earned / weights) if weights else 0.0

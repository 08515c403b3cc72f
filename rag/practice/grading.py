"""An attempt and a rubric -> a grade: which points it makes, where, and which mistakes.

The embedder's judgement is three logistic regressions on how a point and an attempt compare, fitted to attempts that
people labelled: `python -m tools.fit.grading`. Only claims can make a point: terms in a row and
sentences that speak to the grader are left out before anything is compared.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields, replace
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from rag.practice.attempt import Attempt, Span, read_attempt
from rag.practice.clashes import clash_with
from rag.practice.judge import Judge, Odds
from rag.practice.likeness import Compared, Comparer, Read
from rag.practice.rubric import ESSENTIAL, Mistake, Point, Rubric
from rag.text.terms import fold


class Verdict(StrEnum):
    FOUND = "found"
    PARTLY = "partly"
    MENTIONED = "mentioned"
    """Named, and not shown to be said right."""
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
    """`coverage`, 0..1, is how much of the points was spoken of, `correctness`, 0..1, how much of that was right.
    `beyond` are the sentences that the material says nothing of; they cost nothing."""

    question_id: str
    attempt: str
    points: tuple[PointGrade, ...]
    mistakes: tuple[MistakeMade, ...]
    beyond: tuple[Span, ...]
    graded_by: Method
    notes: tuple[GradeNote, ...] = ()

    @property
    def coverage(self) -> float:
        return round(min(1.0, _share(self.points, SPOKEN_OF)), 3)

    @property
    def correctness(self) -> float:
        """1 where nothing was said that could be wrong."""
        right = _sum(self.points, RIGHT)
        wrong = _sum(self.points, WRONG_SHARE) + MISTAKE_COUNTS * len(self.mistakes)
        return round(right / (right + wrong), 3) if right + wrong else 1.0

    @property
    def score(self) -> float:
        return round(self.coverage * self.correctness, 3)


@dataclass(frozen=True, slots=True)
class JudgedFeatures:
    """Log odds, by the judge, that a sentence of the attempt says the point, and that one denies it: of the sentence
    for which each is greatest; `rather` is how much the first is above the second for the sentence that speaks of it
    most."""

    says: float
    denies: float
    rather: float

    @classmethod
    def of(cls, found: Sequence[Odds]) -> "JudgedFeatures":
        about = max(found, key=lambda odds: odds.says + odds.denies)
        return cls(
            max(_log_odds(odds.says) for odds in found), max(_log_odds(odds.denies) for odds in found),
            _log_odds(about.says) - _log_odds(about.denies),
        )  # fmt: skip

    def row(self) -> NDArray[np.float64]:
        return np.asarray(astuple(self), np.float64)

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))


def _log_odds(probability: float) -> float:
    """Within six, beyond which nothing more is told."""
    return min(6.0, max(-6.0, math.log(max(probability, 1e-9) / max(1 - probability, 1e-9))))


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


@dataclass(frozen=True, slots=True)
class Fitted:
    """Regressions on how a point and an attempt compare: that the attempt speaks of the point at all, makes it, makes
    all of it, each at even odds, and turns it wrong, from the log odds `wrong_from`: who is called wrong must be so."""

    touched: Regression
    made: Regression
    full: Regression
    wrong: Regression
    wrong_from: float

    def verdict(self, row: NDArray[np.float64]) -> Verdict:
        """`row` holds PointFeatures, ClashFeatures and, where there is a judge, JudgedFeatures."""
        if self.wrong.odds(row) >= self.wrong_from:
            return Verdict.CONTRADICTED
        if self.made.odds(row) > 0:
            return Verdict.FOUND if self.full.odds(row) > 0 else Verdict.PARTLY
        return Verdict.MENTIONED if self.touched.odds(row) > 0 else Verdict.MISSING


# Fitted: of points that are touched, made, made in full, turned wrong; rows are PointFeatures, then ClashFeatures.
BY_LIKENESS = Fitted(
    Regression(-6.13, (10.69, 0.15, 0.89, 1.80, -0.33, -1.16, 3.97, 1.70, 1.59, -1.29, 0.41, -0.04, 0.89, 2.35)),
    Regression(-4.01, (6.56, -0.93, 2.13, 2.22, 0.65, -4.11, 0.05, 1.01, 1.02, -0.54, -0.70, -3.06, 1.03, 2.35)),
    Regression(-4.05, (-8.05, 3.62, 5.32, 1.71, 5.52, -2.18, 5.02, 0.85, 1.96, 0.69, 0.44, -2.54, 0.53, -0.12)),
    Regression(-2.34, (0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 0.00, 2.72, 3.65, 1.11, -0.13)),
    -0.71,
)
WITH_JUDGE = BY_LIKENESS
# What a verdict counts: as spoken of, as right and as wrong. Fitted to what two teachers gave 320 attempts beside their
# verdicts on each point (`rag/evaluation/data/strangers.jsonl`), rounded.
SPOKEN_OF = {
    Verdict.FOUND: 1.0,
    Verdict.PARTLY: 0.6,
    Verdict.MENTIONED: 0.25,
    Verdict.UNSURE: 0.25,
    Verdict.CONTRADICTED: 0.65,
}
RIGHT = {Verdict.FOUND: 1.0, Verdict.PARTLY: 0.6, Verdict.MENTIONED: 0.15, Verdict.UNSURE: 0.15}
WRONG_SHARE = {Verdict.CONTRADICTED: 1.0}
# A mistake of which the material warns counts as half an essential point that is contradicted.
MISTAKE_COUNTS = 1.0
# What further points can make up for, of what the essential ones lack.
FURTHER_COUNTS = 0.1
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


def overridden(grade: Grade, verdicts: Mapping[str, Verdict]) -> Grade:
    """The grade with the reader's own verdicts, by the text of the point."""
    points = tuple(replace(graded, verdict=verdicts.get(graded.point.text, graded.verdict)) for graded in grade.points)
    return replace(grade, points=points)


class EmbedderGrader:
    """Grades by token vectors, terms and polarity."""

    method = Method.EMBEDDER

    def __init__(self, comparer: Comparer, judge: Judge | None) -> None:
        self.comparer, self.judge = comparer, judge
        self.fitted = BY_LIKENESS if judge is None else WITH_JUDGE

    def grade(self, attempt: str, rubric: Rubric) -> Grade:
        typed = read_attempt(attempt)
        if ungraded := _without_claims(typed, rubric, self.method):
            return ungraded
        read = self.comparer.read(typed)
        self.comparer.remember([rubric.question, *(text for point in rubric.points for text in wordings(point, typed))])
        points = tuple(
            PointGrade(point, Verdict.UNSURE) if found is None else self._graded(point, *found)
            for point, found in zip(rubric.points, self.rows(typed, read, rubric), strict=True)
        )
        mistakes = tuple(self._mistakes(read, rubric))
        known = self.comparer.known_to(read, rubric.passages)
        made = [graded.attempt for graded in points if graded.attempt]
        beyond = tuple(
            (sentence.start, sentence.end)
            for sentence, share in zip(read.sentences, known, strict=True)
            if share < KNOWN and not any(low < sentence.end and sentence.start < high for low, high in made)
        )
        return Grade(rubric.question_id, attempt, points, mistakes, beyond, self.method, notes_on(typed))

    def _graded(self, point: Point, row: NDArray[np.float64], compared: Compared) -> PointGrade:
        verdict = self.fitted.verdict(row)
        return PointGrade(point, verdict, None if verdict is Verdict.MISSING else compared.span)

    def rows(self, attempt: Attempt, read: Read, rubric: Rubric) -> "list[tuple[NDArray[np.float64], Compared] | None]":
        """Of each point what the regressions see, and where the attempt comes nearest to it: in the wording, Chinese or
        English, that it comes nearer to. None where nothing can be compared."""
        nearest = [self._nearest(attempt, read, point, rubric.question) for point in rubric.points]
        judged = iter(self._judged(read, [found for found in nearest if found]))
        rows: list[tuple[NDArray[np.float64], Compared] | None] = []
        for found in nearest:
            if found is None:
                rows.append(None)
                continue
            text, compared = found
            clash = clash_with(read.sentences, text, self.comparer.weight)
            row = np.concatenate([compared.features.row(), clash.features.row()])
            rows.append((np.concatenate([row, next(judged).row()]) if self.judge else row, compared))
        return rows

    def _nearest(self, attempt: Attempt, read: Read, point: Point, question: str) -> tuple[str, Compared] | None:
        found = [
            (text, compared)
            for text in wordings(point, attempt)
            if (compared := self.comparer.compare(read, text, question))
        ]
        return max(found, key=lambda pair: pair[1].features.whole) if found else None

    def _judged(self, read: Read, found: Sequence[tuple[str, Compared]]) -> list[JudgedFeatures]:
        """What the judge makes of each point and the sentences nearest to it; all of them are read at once."""
        if self.judge is None:
            return []
        pairs = [(text, read.sentences[sentence].text) for text, compared in found for sentence in compared.nearest]
        odds = iter(self.judge.judge(pairs))
        return [JudgedFeatures.of([next(odds) for _ in compared.nearest]) for _, compared in found]

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
        return Grade(rubric.question_id, attempt, tuple(points), (), (), self.method, notes_on(typed))


def wordings(point: Point, attempt: Attempt) -> list[str]:
    """What an attempt is compared with: an English one with the English wording too."""
    return [point.text, *([point.english.quote] if point.english and attempt.is_english else [])]


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
    return Grade(rubric.question_id, attempt.typed, points, (), (), method, notes_on(attempt))


def _share(points: Sequence[PointGrade], counts: Mapping[Verdict, float]) -> float:
    """What the essential points count of what they could; further points make up for a tenth of what is lacking."""
    essential, further = (
        [graded for graded in points if (graded.point.weight >= ESSENTIAL) is wanted] for wanted in (True, False)
    )
    first, second = (_sum(part, counts) / max(1, sum(g.point.weight for g in part)) for part in (essential, further))
    return first + FURTHER_COUNTS * second * (1 - first) * (first > 0)


def _sum(points: Sequence[PointGrade], counts: Mapping[Verdict, float]) -> float:
    return sum(graded.point.weight * counts.get(graded.verdict, 0.0) for graded in points)

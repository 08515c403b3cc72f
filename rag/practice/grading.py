"""An attempt and a rubric -> a grade: which points it makes, where, and which mistakes.

The embedder's judgement is four logistic regressions on the comparison of a point and an attempt, fitted to attempts
that people labelled (`rag.practice.regressions`). Only claims can make a point: terms in a row and sentences that
address the grader are dropped first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from rag.language.terms import fold
from rag.practice.attempt import Attempt, Span, read_attempt
from rag.practice.clashes import clash_with
from rag.practice.judge import Judge, directions
from rag.practice.likeness import Comparer, EncodedAttempt, PointComparison
from rag.practice.regressions import Regressions, with_judge, with_judge_in_english, without_judge
from rag.practice.rubric import ESSENTIAL, Mistake, Point, Rubric


class Verdict(StrEnum):
    FOUND = "found"
    PARTLY = "partly"
    MENTIONED = "mentioned"
    """Named, and not shown to be said right."""
    MISSING = "missing"
    CONTRADICTED = "contradicted"
    UNSURE = "unsure"


MADE = (Verdict.FOUND, Verdict.PARTLY)


class Method(StrEnum):
    """Who grades."""

    OVERLAP = "overlap"
    EMBEDDER = "embedder"
    CHAT_MODEL = "chat_model"


class GradeNote(StrEnum):
    """Notes for a reader beside a grade."""

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
    """`attempt` is the span of the attempt that makes or denies the point."""

    point: Point
    verdict: Verdict
    attempt: Span | None = None


@dataclass(frozen=True, slots=True)
class MistakeMade:
    mistake: Mistake
    attempt: Span


@dataclass(frozen=True, slots=True)
class Grade:
    """`coverage`, 0..1, is the share of the points that were mentioned, `correctness`, 0..1, how much of that was
    right. `beyond` are the sentences beyond the material; they cost nothing."""

    question_id: str
    attempt: str
    points: tuple[PointGrade, ...]
    mistakes: tuple[MistakeMade, ...]
    beyond: tuple[Span, ...]
    graded_by: Method
    notes: tuple[GradeNote, ...] = ()

    @property
    def coverage(self) -> float:
        return round(_spoken(self.points), 3)

    @property
    def correctness(self) -> float:
        """1 if nothing said could be wrong."""
        counted = [(graded.point.weight, CREDITS[graded.verdict]) for graded in self.points]
        right = sum(weight * credit.right for weight, credit in counted)
        wrong = sum(weight * credit.wrong for weight, credit in counted) + MISTAKE_COUNTS * len(self.mistakes)
        return round(right / (right + wrong), 3) if right + wrong else 1.0

    @property
    def score(self) -> float:
        return round(self.coverage * self.correctness, 3)


class Grader(Protocol):
    method: Method

    def grade(self, attempt: str, rubric: Rubric) -> Grade:
        """Raises UsageError only for an attempt longer than `attempt.MOST_CHARACTERS`."""


@dataclass(frozen=True, slots=True)
class Credit:
    """A verdict's share of a point: as spoken of, as right and as wrong."""

    spoken: float = 0.0
    right: float = 0.0
    wrong: float = 0.0


# Near a teacher's marks for attempts and verdicts on their points: `python -m tools.fit.grading` prints the fit.
CREDITS = {
    Verdict.FOUND: Credit(spoken=1.0, right=1.0),
    Verdict.PARTLY: Credit(spoken=0.6, right=0.6),
    Verdict.MENTIONED: Credit(spoken=0.25, right=0.15),
    Verdict.UNSURE: Credit(spoken=0.25, right=0.15),
    Verdict.CONTRADICTED: Credit(spoken=0.65, wrong=1.0),
    Verdict.MISSING: Credit(),
}
# A mistake that the material warns of counts as half a contradicted essential point.
MISTAKE_COUNTS = 1.0
# The share of the missing essential points that further points can make up for.
FURTHER_COUNTS = 0.1
# The least similarity of a sentence to a wrong claim that it makes, the least share of the claim's terms in the
# attempt, and how much nearer it is than to the right claim.
MISTAKEN = 0.62
MISTAKEN_TERMS = 0.25
MISTAKEN_MORE = 0.06
# Its least similarity to the least said third of the wrong claim: the same subject alone is no mistake.
MISTAKEN_THROUGHOUT = 0.6
# How much nearer than to any point of the rubric: a sentence that makes a point is no mistake.
MISTAKEN_RATHER = 0.04
# Log odds that a point was mentioned, by likeness alone, from which the judge reads the sentences.
WORTH_READING = -2.0
# Below this share of terms in common with the page, a sentence goes beyond the material.
KNOWN = 0.35
# Texts encoded ahead together: other users of the embedder wait for no more.
AHEAD = 6
# rapidfuzz's partial_ratio of folded texts, 0..100.
OVERLAP_FOUND, OVERLAP_PARTLY = 62.0, 48.0


def overridden(grade: Grade, verdicts: Mapping[str, Verdict]) -> Grade:
    """The grade with the reader's own verdicts, by the text of the point."""
    points = tuple(replace(graded, verdict=verdicts.get(graded.point.text, graded.verdict)) for graded in grade.points)
    return replace(grade, points=points)


class EmbedderGrader:
    """Grades by token vectors, terms, polarity and a judge, if there is one."""

    method = Method.EMBEDDER

    def __init__(self, comparer: Comparer, judge: Judge | None = None) -> None:
        self.comparer, self.judge = comparer, judge

    def regressions_for(self, attempt: Attempt) -> Regressions:
        """The regressions that judge the points of an attempt."""
        if self.judge is None:
            return without_judge()
        return with_judge_in_english() if attempt.is_english else with_judge()

    def read_ahead(self, rubric: Rubric) -> None:
        """Encode a rubric before there is an attempt: grading the first one then takes half as long."""
        english = [point.english.quote for point in rubric.points if point.english]
        mistakes = [text.quote for mistake in rubric.mistakes for text in (mistake.wrong, mistake.right)]
        texts = [rubric.question, *(point.text for point in rubric.points), *english, *mistakes]
        for start in range(0, len(texts), AHEAD):
            self.comparer.remember(texts[start : start + AHEAD])

    def grade(self, attempt: str, rubric: Rubric) -> Grade:
        typed = read_attempt(attempt, rubric.text)
        if ungraded := _without_claims(typed, rubric, self.method):
            return ungraded
        claims = self.comparer.encode(typed)
        points = self._graded_points(typed, claims, rubric)
        mistakes = without_made(self._mistakes(claims, rubric), points)
        known = self.comparer.known_to(claims, rubric.passages)
        spoken_of = [graded.attempt for graded in points if graded.attempt]
        beyond = tuple(
            (sentence.start, sentence.end)
            for sentence, share in zip(claims.sentences, known, strict=True)
            if share < KNOWN and not _overlaps((sentence.start, sentence.end), spoken_of)
        )
        return Grade(rubric.question_id, attempt, points, mistakes, beyond, self.method, notes_on(typed))

    def features(
        self, attempt: Attempt, claims: EncodedAttempt, rubric: Rubric
    ) -> list[tuple[NDArray[np.float64], PointComparison] | None]:
        """The regressions' input for each point, and the attempt's nearest sentences: for the nearer wording, Chinese
        or English. None if nothing can be compared."""
        self.comparer.remember(
            [rubric.question, *(text for point in rubric.points for text in wordings(point, attempt))]
        )
        nearest = [self._nearest(attempt, claims, point, rubric.question) for point in rubric.points]
        alike = {place: (*pair, self._row(claims, *pair)) for place, pair in enumerate(nearest) if pair}
        said = [
            (text, [claims.sentences[place].text for place in compared.nearest] if _is_worth_reading(row) else [])
            for text, compared, row in alike.values()
        ]
        found = {
            place: (np.concatenate([row, direction.row()]), compared)
            for (place, (_, compared, row)), direction in zip(alike.items(), directions(self.judge, said), strict=True)
        }
        return [found.get(place) for place in range(len(nearest))]

    def _nearest(
        self, attempt: Attempt, claims: EncodedAttempt, point: Point, question: str
    ) -> tuple[str, PointComparison] | None:
        found = [
            (text, compared)
            for text in wordings(point, attempt)
            if (compared := self.comparer.compare(claims, text, question))
        ]
        return max(found, key=lambda pair: pair[1].features.whole, default=None)

    def _row(self, claims: EncodedAttempt, text: str, compared: PointComparison) -> NDArray[np.float64]:
        clash = clash_with(claims.sentences, text, self.comparer.weight)
        return np.concatenate([compared.features.row(), clash.row()])

    def _graded_points(self, attempt: Attempt, claims: EncodedAttempt, rubric: Rubric) -> tuple[PointGrade, ...]:
        graded = []
        regressions = self.regressions_for(attempt)
        for point, found in zip(rubric.points, self.features(attempt, claims, rubric), strict=True):
            if found is None:
                graded.append(PointGrade(point, Verdict.UNSURE))
                continue
            row, compared = found
            verdict = verdict_of(row, regressions)
            graded.append(PointGrade(point, verdict, None if verdict is Verdict.MISSING else compared.span))
        return tuple(graded)

    def _mistakes(self, claims: EncodedAttempt, rubric: Rubric) -> list[MistakeMade]:
        """The mistakes that a sentence makes: it is near the wrong claim, nearer than to its correction and to any
        point."""
        made = []
        likely = [
            mistake
            for mistake in rubric.mistakes
            if self.comparer.shared_terms(claims, mistake.wrong.quote) >= MISTAKEN_TERMS
        ]
        self.comparer.remember([mistake.wrong.quote for mistake in likely])
        for mistake in likely:
            wrong = self.comparer.compare(claims, mistake.wrong.quote, "")
            if wrong is None or wrong.features.best < MISTAKEN:
                continue
            sentence = claims.sentences[wrong.sentence]
            alone = self.comparer.only(claims, wrong.sentence)
            said = self.comparer.compare(alone, mistake.wrong.quote, "")
            if said is None or said.features.least < MISTAKEN_THROUGHOUT:
                continue
            clash = clash_with([sentence], mistake.wrong.quote, self.comparer.weight)
            denies = max(clash.polarity, clash.numbers) > clash.agreed
            points = [self.comparer.compare(alone, point.text, "") for point in rubric.points]
            nearest = max((compared.features.best for compared in points if compared), default=0.0)
            if denies or wrong.features.best <= nearest + MISTAKEN_RATHER:
                continue
            right = self.comparer.compare(alone, mistake.right.quote, "")
            if right is None or wrong.features.best > right.features.best + MISTAKEN_MORE:
                made.append(MistakeMade(mistake, (sentence.start, sentence.end)))
        return made


class OverlapGrader:
    """Grades by shared wording alone: the substitute without token vectors, and the baseline."""

    method = Method.OVERLAP

    def grade(self, attempt: str, rubric: Rubric) -> Grade:
        typed = read_attempt(attempt, rubric.text)
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
    """Wordings to compare with an attempt: in English, the English one too."""
    return [point.text, *([point.english.quote] if point.english and attempt.is_english else [])]


def _is_worth_reading(row: NDArray[np.float64]) -> bool:
    """Whether a point was perhaps mentioned: reading takes longest."""
    return without_judge().touched.odds(row) > WORTH_READING


def without_made(mistakes: Iterable[MistakeMade], points: Iterable[PointGrade]) -> tuple[MistakeMade, ...]:
    """The mistakes outside the spans that make points."""
    made = [graded.attempt for graded in points if graded.attempt and graded.verdict in MADE]
    return tuple(one for one in mistakes if not _overlaps(one.attempt, made))


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    return any(low < span[1] and span[0] < high for low, high in others)


def verdict_of(row: NDArray[np.float64], by: Regressions) -> Verdict:
    """The verdict on a point."""
    is_touched = by.touched.odds(row) > 0
    if is_touched and by.wrong.odds(row) >= by.wrong_from:
        return Verdict.CONTRADICTED
    if by.made.odds(row) > 0:
        return Verdict.FOUND if by.full.odds(row) > 0 else Verdict.PARTLY
    return Verdict.MENTIONED if is_touched else Verdict.MISSING


def notes_on(attempt: Attempt) -> tuple[GradeNote, ...]:
    """The notes on an attempt, whoever grades it."""
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
    """The grade of an attempt that contains nothing to grade."""
    if attempt.claims and not attempt.is_empty and not attempt.is_foreign:
        return None
    verdict = Verdict.UNSURE if attempt.is_foreign else Verdict.MISSING
    points = tuple(PointGrade(point, verdict) for point in rubric.points)
    return Grade(rubric.question_id, attempt.typed, points, (), (), method, notes_on(attempt))


def _spoken(points: Sequence[PointGrade]) -> float:
    """The mentioned share of the essential points; further points make up for a tenth of the rest."""
    essential, further = (
        [graded for graded in points if (graded.point.weight >= ESSENTIAL) is wanted] for wanted in (True, False)
    )
    first, second = (
        sum(CREDITS[graded.verdict].spoken * graded.point.weight for graded in part)
        / max(1, sum(graded.point.weight for graded in part))
        for part in (essential, further)
    )
    return first + FURTHER_COUNTS * second * (1 - first) * (first > 0)

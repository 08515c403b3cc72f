"""A grade: the attempt beside the material, point by point."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rag.language.language import Language
from rag.practice.attempt import Span, read_attempt
from rag.practice.bank import Question
from rag.practice.clashes import is_reversed
from rag.practice.grading import Grade, GradeNote, PointGrade, Verdict, wordings
from rag.practice.rubric import ESSENTIAL
from rag.types import Citation
from rag.ui.practice.bank_view import wording
from rag.ui.practice.elements import percent
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/grade_view.html")
# The verdicts that a reader can give; only the grader says "unsure".
GIVEN = (Verdict.FOUND, Verdict.PARTLY, Verdict.MENTIONED, Verdict.MISSING, Verdict.CONTRADICTED)


@dataclass(frozen=True, slots=True)
class Graded:
    """A grade that includes the reader's own verdicts. `own` holds these by the point's text; `due` says when the
    question comes back. `number` distinguishes successive grades; `names` maps headings to the reader's language."""

    grade: Grade
    own: Mapping[str, Verdict]
    due: str
    follow_ups: Sequence[Question]
    has_next: bool
    number: int = 0
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of an attempt, its kind, and the number of its point (0: none)."""

    span: Span
    kind: str
    number: int = 0


@dataclass(frozen=True, slots=True)
class PointShown:
    """`stretch` is the part of the attempt that makes the point; None if there is none."""

    verdict: Verdict
    label: str
    is_essential: bool
    is_own: bool
    verdicts: Sequence[Verdict]
    stretch: str | None
    quote: Citation


def grade_part(graded: Graded, texts: Texts, language: Language) -> str:
    grade = graded.grade
    notice = " · ".join(filter(None, (graded_by(grade, texts), graded.due)))
    return HTML(
        "part",
        graded=graded,
        heading=_heading(grade, texts),
        notice=notice,
        stretches=marked(grade),
        points=[_point(point, graded, texts, language) for point in grade.points],
        mistakes=[(grade.attempt[slice(*made.attempt)], made.mistake.right) for made in grade.mistakes],
        beyond=[grade.attempt[slice(*span)] for span in grade.beyond],
        follow_ups=[(question.id, wording(question, language)) for question in graded.follow_ups],
        texts=texts,
    )


def graded_by(grade: Grade, texts: Texts) -> str:
    return texts.graded_by.format(name=getattr(texts, f"method_{grade.graded_by}"))


def _heading(grade: Grade, texts: Texts) -> str:
    """The score with coverage and correctness; an empty attempt has none."""
    if GradeNote.EMPTY in grade.notes:
        return texts.no_score
    parts = texts.score_parts.format(coverage=percent(grade.coverage), correctness=percent(grade.correctness))
    return f"{texts.score.format(score=percent(grade.score))} · {parts}"


def marked(grade: Grade) -> list[tuple[str, str, str]]:
    """The attempt in pieces: the text, its kind (empty if it is not marked), and the numbers of its points."""
    pieces = []
    for text, covering in cut(grade.attempt, _stretches(grade)):
        kind = covering[0].kind if covering else ""
        pieces.append((text, kind, " ".join(str(one.number) for one in covering if one.kind == kind and one.number)))
    return pieces


def cut(attempt: str, stretches: Sequence[Stretch]) -> Iterator[tuple[str, list[Stretch]]]:
    """The attempt in pieces, each with the stretches that cover it, in the order of `stretches`."""
    borders = sorted({0, len(attempt), *(border for stretch in stretches for border in stretch.span)})
    for low, high in pairwise(border for border in borders if 0 <= border <= len(attempt)):
        yield attempt[low:high], [one for one in stretches if one.span[0] <= low and high <= one.span[1]]


def _stretches(grade: Grade) -> list[Stretch]:
    """The stretches of an attempt, mistakes first: where stretches overlap, the first one is shown, with the numbers of
    all points of its kind."""
    found = [Stretch(made.attempt, "mistake") for made in grade.mistakes]
    for verdict in (Verdict.CONTRADICTED, Verdict.FOUND, Verdict.PARTLY, Verdict.MENTIONED, Verdict.UNSURE):
        found += [
            Stretch(point.attempt, str(verdict), number)
            for number, point in enumerate(grade.points, start=1)
            if point.verdict is verdict and point.attempt is not None
        ]
    return found + [Stretch(span, "beyond") for span in grade.beyond]


def _point(point: PointGrade, graded: Graded, texts: Texts, language: Language) -> PointShown:
    attempt, verdict = graded.grade.attempt, point.verdict
    english = point.point.english if language is Language.EN else None
    return PointShown(
        verdict,
        verdict_name(point, attempt, texts),
        point.point.weight >= ESSENTIAL,
        point.point.text in graded.own,
        GIVEN if verdict in GIVEN else (verdict, *GIVEN),
        attempt[slice(*point.attempt)] if point.attempt else None,
        english or point.point.citation,
    )


def verdict_name(graded: PointGrade, attempt: str, texts: Texts) -> str:
    """The name of a verdict. Only a statement of the point the wrong way round is called reversed; a wrong number or
    name, or any other contradiction, is against the material."""
    if graded.verdict is Verdict.CONTRADICTED and graded.attempt is not None:
        said = attempt[slice(*graded.attempt)]
        if any(is_reversed(said, text) for text in wordings(graded.point, read_attempt(said))):
            return str(texts.verdict_reversed)
    return str(getattr(texts, f"verdict_{graded.verdict}"))

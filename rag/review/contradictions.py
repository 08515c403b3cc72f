"""Pairs of statements that cannot both stand: another figure for the same quantity, or the opposite of the same.

Precision comes before recall: a pair is reported where both statements name the same things, measure the same and state
no different condition. What was measured is in docs/results/review.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rag.review.comparison import Comparison, Disagreement
from rag.review.neighbours import Progress
from rag.review.opposites import opposite
from rag.review.quantities import other_figure, other_translation
from rag.review.readings import Reading
from rag.review.statements import Statement
from rag.text.language import Language

AT_ONCE = 4_096


class Kind(StrEnum):
    """How two statements disagree: another figure, another one in the translation on the same page, or the opposite."""

    FIGURE = "figure"
    TRANSLATION = "translation"
    OPPOSITE = "opposite"


# From this score on a pair is reported.
THRESHOLDS = {Kind.FIGURE: 0.45, Kind.TRANSLATION: 0.3, Kind.OPPOSITE: 0.45}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """`one` stands before `other` in the order of documents. `differing` is what each of them says, without markup;
    `shared` are the rarest words of both. `score`, 0..1, says how surely both speak of the same."""

    kind: Kind
    one: Statement
    other: Statement
    differing: tuple[str, str]
    shared: tuple[str, ...]
    score: float


def contradictions_of(
    readings: Sequence[Reading],
    pairs: Mapping[tuple[int, int], float],
    progress: Progress,
    *,
    thresholds: Mapping[Kind, float] = THRESHOLDS,
) -> list[Contradiction]:
    """The surest first. `pairs` are rows of `readings` that may speak of the same, with their likeness."""
    comparison = Comparison.over(readings)
    parts = [comparison.parts(reading) for reading in readings]
    found: list[Contradiction] = []
    for done, ((row, other), likeness) in enumerate(pairs.items(), start=1):
        one, two = readings[row], readings[other]
        disagreements: list[tuple[Kind, Disagreement | None]] = []
        if one.statement.language is two.statement.language:
            if one.is_example or two.is_example:
                continue
            if one.kinds & two.kinds:
                disagreements.append((Kind.FIGURE, other_figure(comparison, one, parts[row], two, parts[other])))
            if one.negates or two.negates:
                disagreements.append((Kind.OPPOSITE, opposite(comparison, one, parts[row], two, parts[other])))
        elif one.statement.document == two.statement.document and one.kinds & two.kinds:
            disagreements.append((Kind.TRANSLATION, _translation(comparison, one, two, likeness)))
        found += [_contradiction(kind, one, two, each) for kind, each in disagreements if each is not None]
        if done % AT_ONCE == 0 or done == len(pairs):
            progress("pairs", done, len(pairs))
    found.sort(key=lambda each: (-each.score, each.one.document, each.one.start, each.other.document, each.other.start))
    return _once([each for each in found if each.score >= thresholds[each.kind]])


def _translation(comparison: Comparison, one: Reading, other: Reading, likeness: float) -> Disagreement | None:
    if one.statement.language is Language.ZH:
        return other_translation(comparison, one, other, likeness)
    result = other_translation(comparison, other, one, likeness)
    return None if result is None else result.swapped()


def _contradiction(kind: Kind, one: Reading, other: Reading, found: Disagreement) -> Contradiction:
    return Contradiction(kind, one.statement, other.statement, found.differing, found.shared, round(found.score, 3))


def _once(found: Sequence[Contradiction]) -> list[Contradiction]:
    """Of pairs that say the same (a page repeats its points) the surest: the same texts between the same documents."""
    kept: dict[tuple[str, str, tuple[str, str]], Contradiction] = {}
    for each in found:
        kept.setdefault((each.one.document, each.other.document, each.differing), each)
    return list(kept.values())

"""Which way an attempt states a point: the judge's reading of the sentences nearest to it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rag.practice.judge import Judge, Probabilities
from rag.practice.regressions import Features

# Sentences read for each point, nearest first.
READ = 2
# Probabilities count as at least this, so that log odds stay finite.
LEAST = 1e-4


@dataclass(frozen=True, slots=True)
class DirectionFeatures(Features):
    """`turned` are the log odds that the nearest sentence denies the point rather than says it, `most_turned` their
    maximum over the sentences read; `says` and `denies` are the maximum probabilities of either. `overall` is the mean
    of `turned` over the points with readings, this one included: whoever reverses one thing likely reverses others. All
    are 0 without a reading."""

    turned: float = 0.0
    most_turned: float = 0.0
    says: float = 0.0
    denies: float = 0.0
    overall: float = 0.0


def directions(judge: Judge | None, said: Sequence[tuple[str, Sequence[str]]]) -> list[DirectionFeatures]:
    """Features of each point of an attempt, given with its nearest sentences; 0 for points without sentences, and
    without a judge."""
    pairs = [(point, sentence) for point, sentences in said for sentence in sentences[:READ]]
    if judge is None or not pairs:
        return [DirectionFeatures() for _ in said]
    odds = iter(judge.judge(pairs))
    read = [[next(odds) for _ in sentences[:READ]] for _, sentences in said]
    overall = float(np.mean([_turned(of_point[0]) for of_point in read if of_point]))
    return [
        DirectionFeatures(
            turned=_turned(of_point[0]),
            most_turned=max(map(_turned, of_point)),
            says=max(one.says for one in of_point),
            denies=max(one.denies for one in of_point),
            overall=overall,
        )
        if of_point
        else DirectionFeatures()
        for of_point in read
    ]


def _turned(odds: Probabilities) -> float:
    return float(np.log(max(odds.denies, LEAST) / max(odds.says, LEAST)))

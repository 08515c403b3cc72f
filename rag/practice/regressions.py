"""The regressions behind the verdict on a point, from regressions.toml as written by `python -m tools.fit.grading`, and
the common base of their features."""

import tomllib
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Features:
    """Numbers by name, in a regression's column order."""

    def row(self) -> NDArray[np.float64]:
        return np.asarray(astuple(self), np.float64)

    @classmethod
    def columns(cls) -> tuple[str, ...]:
        return tuple(field.name for field in fields(cls))


@dataclass(frozen=True, slots=True)
class Regression:
    """Log odds: `offset` and a weight for each of the first features."""

    offset: float
    weights: tuple[float, ...]

    @classmethod
    def of(cls, numbers: Sequence[float]) -> "Regression":
        """The offset, then the weights."""
        return cls(numbers[0], tuple(numbers[1:]))

    def odds(self, row: NDArray[np.float64]) -> float:
        return float(self.offset + row[: len(self.weights)] @ np.asarray(self.weights))


@dataclass(frozen=True, slots=True)
class Regressions:
    """Regressions for whether an attempt mentions a point, makes it, makes all of it if it makes it (each at even
    odds), and reverses what it mentions (from odds at which few correct ones are called wrong). Rows are PointFeatures,
    ClashFeatures and, with a judge, DirectionFeatures."""

    touched: Regression
    made: Regression
    full: Regression
    wrong: Regression
    wrong_from: float


@cache
def with_judge() -> Regressions:
    """With a judge's reading of direction, for an attempt in Chinese."""
    return _read("with_judge")


@cache
def with_judge_in_english() -> Regressions:
    """For an attempt in English, whose direction the judge cannot tell: it reads right and wrong ones alike as denials
    (docs/judge.md)."""
    alike = without_judge()
    return replace(with_judge(), wrong=alike.wrong, wrong_from=alike.wrong_from)


@cache
def without_judge() -> Regressions:
    """By likeness alone."""
    return _read("without_judge")


def _read(name: str) -> Regressions:
    numbers = tomllib.loads(FILE.read_text(encoding="utf-8"))[name]
    parts = {part: Regression.of(numbers[part]) for part in ("touched", "made", "full", "wrong")}
    return Regressions(**parts, wrong_from=numbers["wrong_from"])

"""Confidence in a mean over queries: the percentile bootstrap (Efron & Tibshirani 1993), with 2,000 resamples.

Queries are drawn with replacement; the same draws serve every column, so differences between systems are paired. The
draws are fixed, so the same values give the same intervals.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.evaluation.extra import evaluation_extra

RESAMPLES = 2_000
SEED = 20
# Resamples drawn at once; bounds the memory of large sets.
_AT_ONCE = 100

Values = NDArray[np.float64]


def resampled_means(values: Values) -> Values:
    """Means over resampled rows, shape (RESAMPLES, columns), of `values` of shape (queries, columns)."""
    return _resampled(values.T, lambda *columns, axis: np.stack([column.mean(axis=axis) for column in columns])).T


def _resampled(columns: Values, statistic: Callable[..., Values]) -> Values:
    """The statistic of resampled columns, drawn together; resamples are the last axis."""
    with evaluation_extra():
        from scipy.stats import bootstrap
    if columns.shape[1] == 1:  # SciPy refuses it: every resample is the one query
        return np.repeat(statistic(*columns, axis=-1)[..., np.newaxis], RESAMPLES, axis=-1)
    drawn = bootstrap(
        tuple(columns), statistic, n_resamples=RESAMPLES, batch=_AT_ONCE, vectorized=True, paired=True, axis=-1,
        method="percentile", rng=np.random.default_rng(SEED),
    )  # fmt: skip
    return np.asarray(drawn.bootstrap_distribution)


def interval(means: Values) -> tuple[float, float]:
    """The middle 95% of resampled means."""
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def two_sided_p(differences: Values) -> float:
    """Probability that chance alone gives a mean difference at least this far on its side of 0.

    Twice the smaller share of resampled differences on either side; counts are raised by one, since a sample never
    proves a share to be 0 (Davison & Hinkley 1997).
    """
    tails = [(np.count_nonzero(side) + 1) / (len(differences) + 1) for side in (differences <= 0, differences >= 0)]
    return float(min(1.0, 2 * min(tails)))


def summary(value: float, means: Values) -> dict[str, Any]:
    low, high = interval(means)
    return {"value": round(value, 6), "low": round(low, 6), "high": round(high, 6)}


def share(count: int, total: int) -> dict[str, Any]:
    """A share of questions with its 95% Wilson interval; `of` is the total. Empty without any."""
    if not total:
        return {}
    with evaluation_extra():
        from scipy.stats import binomtest
    low, high = binomtest(count, total).proportion_ci(confidence_level=0.95, method="wilson")
    return {"value": round(count / total, 6), "low": round(float(low), 6), "high": round(float(high), 6), "of": total}


def ratio(parts: Sequence[float], wholes: Sequence[float]) -> dict[str, Any]:
    """The sum of `parts` by that of `wholes`, one of each per question, with its interval over resampled questions;
    `of` is the sum of wholes. Empty if that is 0.

    If every part is 0, or every part its whole, the interval is Wilson's over the questions.
    """
    total = sum(wholes)
    if not total:
        return {}
    alike = {part / whole for part, whole in zip(parts, wholes, strict=True) if whole}
    if alike in ({0.0}, {1.0}):
        questions = sum(whole > 0 for whole in wholes)
        return share(questions if alike == {1.0} else 0, questions) | {"of": round(total, 6)}
    means = resampled_means(np.asarray([parts, wholes], np.float64).T)
    means = means[means[:, 1] > 0]
    return summary(sum(parts) / total, means[:, 0] / means[:, 1]) | {"of": round(total, 6)}


def quantile(values: Sequence[float], at: float) -> dict[str, Any]:
    """A quantile, by linear interpolation, with its interval over resampled values. Empty without any."""
    if not values:
        return {}
    column = np.asarray(values, np.float64)
    drawn = _resampled(column[np.newaxis], lambda column, axis: np.quantile(column, at, axis=axis))
    return summary(float(np.quantile(column, at)), drawn) | {"of": len(values)}

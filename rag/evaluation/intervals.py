"""How sure a mean over queries is: the percentile bootstrap (Efron & Tibshirani 1993), with 2,000 resamples.

Queries are drawn with replacement; the same draws serve every column, so differences between systems are paired. The
draws are fixed, so that the same values give the same intervals.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
SEED = 20
# Resamples drawn at once; bounds the memory of large sets.
_AT_ONCE = 100

Values = NDArray[np.float64]


def resampled_means(values: Values) -> Values:
    """Means over resampled rows, shape (RESAMPLES, columns), of `values` of shape (queries, columns)."""
    queries = len(values)
    random = np.random.default_rng(SEED)
    # How often each query is drawn says all about a resample.
    return np.concatenate(
        [
            random.multinomial(queries, np.full(queries, 1 / queries), size=_AT_ONCE) @ values / queries
            for _ in range(RESAMPLES // _AT_ONCE)
        ]
    )


def interval(means: Values) -> tuple[float, float]:
    """The middle 95% of resampled means."""
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def two_sided_p(differences: Values) -> float:
    """How often chance alone gives a mean difference at least this far on its side of 0.

    Twice the smaller share of resampled differences on either side; one is added, since a share of a sample is never
    known to be 0 (Davison & Hinkley 1997).
    """
    tails = [(np.count_nonzero(side) + 1) / (len(differences) + 1) for side in (differences <= 0, differences >= 0)]
    return float(min(1.0, 2 * min(tails)))


def summary(value: float, means: Values) -> dict[str, Any]:
    low, high = interval(means)
    return {"value": round(value, 6), "low": round(low, 6), "high": round(high, 6)}

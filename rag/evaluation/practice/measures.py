"""Measures of agreement between scores and labels."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rag.evaluation.extra import evaluation_extra

# Scores are rounded to tenths, as labels are.
GRADES = 10


def quadratic_weighted_kappa(labels: Any, scores: Any) -> float:
    """Cohen's kappa with squared weights (Cohen, 1968) over tenths."""
    with evaluation_extra():
        from sklearn.metrics import cohen_kappa_score
    grades = [np.rint(np.asarray(values) * GRADES).astype(int) for values in (labels, scores)]
    return float(cohen_kappa_score(*grades, weights="quadratic", labels=list(range(GRADES + 1))))


def spearman(labels: Any, scores: Any) -> float:
    with evaluation_extra():
        from scipy.stats import spearmanr
    return float(spearmanr(labels, scores).statistic)


def agreement(labels: Any, scores: Any, measure: Callable[[Any, Any], float]) -> float | None:
    """The measure, rounded; None if all labels or all scores are equal, for which agreement is undefined."""
    if len(set(map(float, labels))) < 2 or len(set(map(float, scores))) < 2:
        return None
    return round(measure(labels, scores), 3)

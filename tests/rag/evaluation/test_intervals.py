"""Bootstrap intervals: known widths, pairing, and the same numbers each time."""

import numpy as np
import pytest

from rag.evaluation.intervals import RESAMPLES, interval, resampled_means, summary, two_sided_p


def column(*values: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.asarray(values, dtype=np.float64).reshape(-1, 1)


def test_a_constant_has_no_width() -> None:
    means = resampled_means(column(0.3, 0.3, 0.3))
    assert means.shape == (RESAMPLES, 1)
    assert interval(means) == pytest.approx((0.3, 0.3))


def test_the_width_is_that_of_the_normal_approximation() -> None:
    # 400 coin tosses, half heads: standard error sqrt(.25 / 400) = .025, so 95% is .5 +- 1.96 * .025 = .451 to .549.
    low, high = interval(resampled_means(column(*([0.0, 1.0] * 200))))
    assert low == pytest.approx(0.451, abs=0.005)
    assert high == pytest.approx(0.549, abs=0.005)


def test_against_drawing_the_queries_one_by_one() -> None:
    random = np.random.default_rng(1)
    values = random.random(60)
    plain = np.asarray([random.choice(values, size=60).mean() for _ in range(5_000)])
    assert interval(resampled_means(values.reshape(-1, 1))) == pytest.approx(interval(plain), abs=0.01)


def test_columns_are_paired() -> None:
    """Two systems that differ by the same on every query differ by that in every resample."""
    values = np.random.default_rng(2).random(50)
    means = resampled_means(np.stack([values, values - 0.1], axis=1))
    assert interval(means[:, 0] - means[:, 1]) == pytest.approx((0.1, 0.1))
    # Apart, with the draws of equal tables, they are paired as well.
    apart = resampled_means(values.reshape(-1, 1)) - resampled_means(values.reshape(-1, 1) - 0.1)
    assert interval(apart) == pytest.approx((0.1, 0.1))


def test_p_of_differences() -> None:
    # 30 of 1,999 at or below 0: 2 * 31 / 2000.
    assert two_sided_p(np.asarray([-1.0] * 30 + [1.0] * 1_969)) == pytest.approx(0.031)
    assert two_sided_p(np.asarray([1.0] * 1_969 + [-1.0] * 30)) == two_sided_p(np.asarray([-1.0] * 1_969 + [1.0] * 30))
    assert two_sided_p(np.zeros(1_999)) == 1.0
    assert two_sided_p(np.ones(1_999)) == pytest.approx(0.001)


def test_no_real_difference_is_seldom_called_one() -> None:
    random = np.random.default_rng(3)
    found = [two_sided_p(resampled_means(random.normal(size=(40, 1)))[:, 0]) for _ in range(60)]
    assert sum(p < 0.05 for p in found) <= 9  # 3 expected; 10 or more has a chance below 0.001
    real = [two_sided_p(resampled_means(random.normal(1.0, size=(40, 1)))[:, 0]) for _ in range(5)]
    assert max(real) < 0.01


def test_a_summary_is_rounded_and_the_same_each_time() -> None:
    values = column(0.0, 1.0, 1.0)
    first, second = (summary(2 / 3, resampled_means(values)[:, 0]) for _ in range(2))
    assert first == second
    assert first["value"] == 0.666667
    assert 0 <= first["low"] < first["value"] < first["high"] <= 1

"""What is fitted after the calibration: thresholds by shares of the answerable, by the rules of the program."""

from random import Random

import pytest

from rag.answer.decide import READ_WITHIN, SECOND_OPINION
from tools.fit.second_opinion import ANSWERABLE, NOT_ANSWERED, REFUSED, Told, after_reading, as_text, fit

SLACK = 0.02


@pytest.fixture(scope="module")
def rows() -> list[Told]:
    """Questions of which neither the log odds, nor the share, nor the reader alone tells which have an answer."""
    random = Random(7)

    def told(silent: bool) -> Told:
        return Told(
            "near-miss" if silent else ANSWERABLE,
            calibrated=random.gauss(0.5 if silent else -2.0, 1.5),
            unheard=False,
            unspoken=min(1.0, max(0.0, random.gauss(0.6 if silent else 0.2, 0.2))),
            reading=random.gauss(-1.5 if silent else 2.0, 2.0),
        )

    return [told(place % 2 == 0) for place in range(600)]


def test_shares_of_the_answerable_are_kept(rows: list[Told]) -> None:
    fitted = fit(rows)
    final = [fitted.final(row) for row in rows if row.kind == ANSWERABLE]
    assert sum(odds > 0 for odds in final) / len(final) <= REFUSED + SLACK
    assert abs(sum(odds > -fitted.second.doubtful for odds in final) / len(final) - NOT_ANSWERED) <= SLACK
    assert fitted.unspoken > 0 > fitted.second.reading


def test_what_tells_more_refuses_more_of_the_silent(rows: list[Told]) -> None:
    fitted = fit(rows)
    silent = [row for row in rows if row.kind != ANSWERABLE]
    by_calibration = sorted(row.calibrated for row in rows if row.kind == ANSWERABLE)
    threshold = by_calibration[int(len(by_calibration) * (1 - REFUSED))]
    refused = sum(fitted.final(row) > 0 for row in silent)
    assert refused > sum(row.calibrated > threshold for row in silent)


def test_only_what_is_near_is_read() -> None:
    assert after_reading(READ_WITHIN + 1, 12.0, SECOND_OPINION) == READ_WITHIN + 1
    assert after_reading(1.0, -2.0, SECOND_OPINION) == 1.0
    assert after_reading(1.0, 12.0, SECOND_OPINION) < 0


def test_every_kind_is_told(rows: list[Told]) -> None:
    told = as_text(rows)
    assert all(f"{kind}, 300" in told for kind in (ANSWERABLE, "near-miss"))
    assert "Constants(unspoken=" in told

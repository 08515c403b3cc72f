"""Which section comes first: the fit finds what made-up choices were made by."""

import tomllib

import numpy as np

from rag.answer.quoted.ranking import WEIGHTS_FILE
from tools.fit.sections import FITTED, Choice, cross_validated, fit, opened_right, with_weights


def made_up(count: int) -> list[Choice]:
    """Of eight sections the one with most of the first feature is best, less a little of the third."""
    random = np.random.default_rng(3)
    found = []
    for number in range(count):
        features = random.normal(size=(8, len(FITTED)))
        scores = 4 * features[:, 0] - 2 * features[:, 2]
        found.append(Choice(f"page {number % 20}", features, np.where(scores == scores.max(), 3, 0)))
    return found


def test_the_fit_finds_what_decides() -> None:
    chosen = made_up(200)
    weights = fit(chosen)
    others = np.delete(np.abs(weights), [0, 2])
    assert weights[0] > 0 > weights[2]
    assert min(weights[0], -weights[2]) > 3 * others.max()
    assert opened_right(weights, chosen) > 180
    assert cross_validated(chosen) > 170


def test_questions_whose_section_is_no_candidate_teach_nothing() -> None:
    chosen = made_up(60)
    lost = [Choice("lost", choice.features, np.zeros(8, np.int64)) for choice in chosen]  # of the same spread
    np.testing.assert_allclose(fit([*chosen, *lost]), fit(chosen), rtol=1e-3)


def test_only_the_default_weights_are_written() -> None:
    before = tomllib.loads(written := WEIGHTS_FILE.read_text(encoding="utf-8"))
    after = tomllib.loads(with_weights(written, {"found": 1.26, "text": -0.5}))
    assert after == before | {"default": before["default"] | {"found": 1.3, "text": -0.5}}

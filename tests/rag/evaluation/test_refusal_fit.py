"""Fitting what decides on refusals."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.answering.signs import Signs
from rag.assistant import Assistant
from rag.evaluation import refusal_fit
from rag.evaluation.refusal_fit import FALSE_REFUSALS, FOLDS, as_text, calibrate, fit, folds, scores, wilson
from rag.settings import Settings

SIGNS = len(Signs.__dataclass_fields__)


def made_up(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Questions of which every third has no answer; the first sign is lower then, the second says nothing."""
    unanswerable = np.arange(count) % 3 == 0
    rows = random.standard_normal((count, SIGNS))
    rows[:, 0] -= 3 * unanswerable
    return rows, unanswerable


def test_the_sign_that_tells_is_the_one_that_counts() -> None:
    rows, unanswerable = made_up(np.random.default_rng(1), 600)
    weights = fit(rows, unanswerable).weights.row()
    assert weights[0] < -1
    assert np.abs(weights[1:]).max() < 0.5


def test_the_fit_is_the_optimum() -> None:
    """No step in any direction has less loss: compared by finite differences."""
    rows, unanswerable = made_up(np.random.default_rng(2), 90)
    found = fit(rows, unanswerable)
    spread = rows.std(axis=0)
    weight = np.where(unanswerable, 0.5 / unanswerable.mean(), 0.5 / (1 - unanswerable.mean()))

    def loss(offset: float, weights: Any) -> float:
        signed = np.where(unanswerable, 1, -1) * (offset + rows @ weights)
        return float(weight @ np.log1p(np.exp(-signed)) + refusal_fit.RIDGE / 2 * np.sum((weights * spread) ** 2))

    best = loss(found.offset, found.weights.row())
    for place in range(SIGNS):
        for step in (-0.05, 0.05):
            moved = found.weights.row()
            moved[place] += step
            assert loss(found.offset, moved) > best
            assert loss(found.offset + step, found.weights.row()) > best


def test_the_threshold_keeps_false_refusals_down() -> None:
    rows, unanswerable = made_up(np.random.default_rng(3), 900)
    fitted = calibrate(rows, unanswerable)
    assert fitted.false_refusals[0] <= FALSE_REFUSALS
    assert fitted.recall[0] > 0.8
    assert (fitted.answerable, fitted.unanswerable) == (600, 300)
    refused = scores(fitted.calibration, rows) > 0
    assert refused[unanswerable].mean() > 0.8 > 0.1 > refused[~unanswerable].mean()


def test_signs_that_tell_nothing_promise_nothing() -> None:
    """Measured on questions that were not fitted to, noise cannot look like skill."""
    random = np.random.default_rng(4)
    fitted = calibrate(random.standard_normal((400, SIGNS)), np.arange(400) % 2 == 0)
    assert fitted.recall[0] < 0.15


def test_folds_are_runs_of_neighbours_of_each_kind() -> None:
    unanswerable = np.asarray([False, True] * 40)
    fold = folds(unanswerable)
    assert set(fold.tolist()) == set(range(FOLDS))
    for kind in (False, True):
        assert (np.diff(fold[unanswerable == kind]) >= 0).all()
        assert (np.bincount(fold[unanswerable == kind]) == 4).all()


def test_wilson_intervals() -> None:
    # Worked by hand for 5 of 10, and the well-known bound 3.84 / (n + 3.84) for none of n.
    assert wilson(5, 10) == pytest.approx((0.5, 0.2366, 0.7634), abs=1e-4)
    assert wilson(0, 100) == pytest.approx((0.0, 0.0, 3.8415 / 103.8415), abs=1e-4)
    assert wilson(100, 100)[2] == pytest.approx(1.0)


def test_the_text_holds_the_calibration() -> None:
    fitted = calibrate(*made_up(np.random.default_rng(5), 300))
    text = as_text(fitted, "some-embedder@1")
    assert f"Calibration({fitted.calibration.offset:.2f}, Signs(match={fitted.calibration.weights.match:.2f}, " in text
    assert "some-embedder@1" in text


def test_too_few_questions_are_an_error(
    tmp_path: Path, library: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = tmp_path / "gold.jsonl"
    evidence = [{"document": "lora.txt", "quote": "常用的秩是 8 到 64"}]
    rows = [
        {"id": f"q{number}", "question": "LoRA 的秩？", "split": "dev", "evidence": evidence} for number in range(3)
    ]
    gold.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    monkeypatch.setattr(refusal_fit, "read_all", lambda *_: (np.zeros((3, SIGNS)), np.zeros(3, bool)))
    monkeypatch.setattr(Assistant, "open", lambda _: None)
    assert refusal_fit.main([str(gold), "--index", str(library.index), "--json"]) == 2
    assert "3 development questions with an answer" in json.loads(capsys.readouterr().out)["error"]["message"]

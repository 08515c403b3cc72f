"""Fitting what decides on refusals."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.answer.answerability import AnswerabilityFeatures
from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.evaluation.datasets import load_dataset
from rag.evaluation.intervals import share
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tools.fit import refusals
from tools.fit.refusals import (
    FALSE_REFUSALS,
    FOLDS,
    HEAPS,
    Asked,
    as_text,
    ask_all,
    calibrate,
    fit,
    folds,
    heaps,
    scores,
    without_contrary,
)

SIGNS = len(AnswerabilityFeatures.__dataclass_fields__)


def made_up(random: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Questions of which every third has no answer; the first sign is lower then, the second says nothing."""
    unanswerable = np.arange(count) % 3 == 0
    rows = random.standard_normal((count, SIGNS))
    rows[:, 0] -= 3 * unanswerable
    return rows, unanswerable


def once(rows: Any, unanswerable: Any) -> Asked:
    """Each question asked of the whole index only."""
    count = len(rows)
    kinds = tuple("near-miss" if flag else "plain" for flag in unanswerable)
    return Asked(rows, unanswerable, np.arange(count), np.ones(count, bool), kinds)


def test_the_sign_that_tells_is_the_one_that_counts() -> None:
    rows, unanswerable = made_up(np.random.default_rng(1), 600)
    weights = fit(rows, unanswerable).weights.row()
    assert weights[0] < -1
    assert np.abs(weights[1:]).max() < 0.5


def test_a_feature_that_counts_against_what_it_means_is_left_out() -> None:
    """Here more of `lead` goes with silence, and of `uncovered` with answers; `chinese` may go either way."""
    rows, unanswerable = made_up(np.random.default_rng(6), 600)
    names = [field.name for field in fields(AnswerabilityFeatures)]
    for name, sign in (("lead", 1), ("uncovered", -1), ("chinese", -1)):
        rows[:, names.index(name)] = sign * unanswerable
    kept = without_contrary(rows, unanswerable)
    left_out = [name for place, name in enumerate(names) if not kept[:, place].any()]
    assert {"lead", "uncovered"} <= set(left_out)
    assert kept[:, names.index("match")].any()
    assert kept[:, names.index("chinese")].any()


def test_the_fit_is_the_optimum() -> None:
    """No step in any direction has less loss: compared by finite differences."""
    rows, unanswerable = made_up(np.random.default_rng(2), 90)
    found = fit(rows, unanswerable)
    spread = rows.std(axis=0)
    weight = np.where(unanswerable, 0.5 / unanswerable.mean(), 0.5 / (1 - unanswerable.mean()))

    def loss(offset: float, weights: Any) -> float:
        signed = np.where(unanswerable, 1, -1) * (offset + rows @ weights)
        return float(weight @ np.log1p(np.exp(-signed)) + refusals.RIDGE / 2 * np.sum((weights * spread) ** 2))

    best = loss(found.offset, found.weights.row())
    for place in range(SIGNS):
        for step in (-0.05, 0.05):
            moved = found.weights.row()
            moved[place] += step
            assert loss(found.offset, moved) > best
            assert loss(found.offset + step, found.weights.row()) > best


def test_the_threshold_keeps_false_refusals_down() -> None:
    rows, unanswerable = made_up(np.random.default_rng(3), 900)
    fitted = calibrate(once(rows, unanswerable))
    assert fitted.false_refusals["value"] <= FALSE_REFUSALS
    assert fitted.false_refusals_in_parts == {}
    assert fitted.by_kind == {"near-miss": fitted.recall, "plain": fitted.false_refusals}
    assert fitted.recall["value"] > 0.8
    assert (fitted.answerable, fitted.unanswerable) == (600, 300)
    refused = scores(fitted.calibration, rows) > 0
    assert refused[unanswerable].mean() > 0.8 > 0.1 > refused[~unanswerable].mean()


def test_signs_that_tell_nothing_promise_nothing() -> None:
    """Measured on questions that were not fitted to, noise cannot look like skill."""
    random = np.random.default_rng(4)
    fitted = calibrate(once(random.standard_normal((400, SIGNS)), np.arange(400) % 2 == 0))
    assert fitted.recall["value"] < 0.15


def test_a_question_asked_again_is_in_the_same_fold() -> None:
    """Noise that a question brings along wherever it is asked promises nothing either."""
    random = np.random.default_rng(6)
    rows, unanswerable = random.standard_normal((100, SIGNS)), np.arange(100) % 2 == 0
    again = Asked(
        np.concatenate([rows, *[rows] * 20]),
        np.concatenate([unanswerable, *[unanswerable] * 20]),
        np.tile(np.arange(100), 21),
        np.arange(2_100) < 100,
        ("plain",) * 100,
    )
    fitted = calibrate(again)
    assert fitted.recall["value"] < 0.2
    assert fitted.false_refusals_in_parts == pytest.approx(share(20, 1_000), abs=0.02)
    assert (fitted.answerable, fitted.unanswerable) == (50, 50)


def test_heaps_are_dealt_anew_and_hold_all() -> None:
    names = [f"{number}.md" for number in range(10)]
    dealt = list(heaps(names))
    assert [len(heap) for heap in dealt] == [3, 3, 2, 2, 5, 5]
    assert len(dealt) == sum(HEAPS)
    assert set().union(*dealt[:4]) == set().union(*dealt[4:]) == set(names)
    assert list(heaps(names)) == dealt


def gold_file(folder: Path, *documents: tuple[str, str, str]) -> Path:
    """A gold file of questions with the document and the quote that answer them, none where they are empty."""
    file = folder / "gold.jsonl"
    rows = [
        {
            "id": f"q{number}",
            "question": question,
            "split": "dev",
            "kind": "plain" if quote else "near-miss",
            "evidence": [{"document": document, "quote": quote}] if quote else [],
        }
        for number, (question, document, quote) in enumerate(documents)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def test_a_question_without_its_page_is_a_near_miss(
    tmp_path: Path, library: Settings, hash_embedder: HashEmbedder
) -> None:
    gold = gold_file(
        tmp_path,
        ("LoRA 的秩怎么选？", "lora.txt", "常用的秩是 8 到 64"),
        ("RoPE 怎么外推？", "rope.md", "低频维度在训练长度内没有转满一圈"),
        ("GRPO 的优势函数怎么估计？", "", ""),
    )
    assistant = Assistant(library, hash_embedder)
    asked = ask_all(assistant, load_dataset(gold))
    assert asked.kinds == ("plain", "plain", "near-miss")
    assert asked.question[asked.whole].tolist() == [0, 1, 2]
    assert asked.unanswerable[asked.whole].tolist() == [False, False, True]
    assert asked.unanswerable[asked.question == 2].tolist() == [True] * (1 + sum(HEAPS))
    # Each page is in one heap of every dealing; of the four questions that lost theirs, half count.
    for place in (0, 1):
        parts = ~asked.whole & (asked.question == place)
        assert (~asked.unanswerable[parts]).sum() == sum(HEAPS) - len(HEAPS)
    lost = ~asked.whole & asked.unanswerable & (asked.question < 2)
    assert lost.sum() == len(HEAPS)
    # Where its page is gone, so is the name.
    unknown_name = list(AnswerabilityFeatures.__dataclass_fields__).index("unknown_name")
    assert (asked.rows[lost, unknown_name] == 1).all()
    assert (asked.rows[~asked.unanswerable, unknown_name] == 0).all()


def test_evidence_that_is_not_in_the_index_is_an_error(
    tmp_path: Path, library: Settings, hash_embedder: HashEmbedder
) -> None:
    gold = gold_file(tmp_path, ("LoRA 的秩怎么选？", "elsewhere/lora.txt", "常用的秩是 8 到 64"))
    with pytest.raises(UsageError, match=r"elsewhere/lora\.txt, which is not in the index"):
        ask_all(Assistant(library, hash_embedder), load_dataset(gold))


def test_folds_are_runs_of_neighbours_of_each_kind() -> None:
    unanswerable = np.asarray([False, True] * 40)
    fold = folds(unanswerable)
    assert set(fold.tolist()) == set(range(FOLDS))
    for kind in (False, True):
        assert (np.diff(fold[unanswerable == kind]) >= 0).all()
        assert (np.bincount(fold[unanswerable == kind]) == 4).all()


def test_the_text_holds_the_calibration() -> None:
    fitted = calibrate(once(*made_up(np.random.default_rng(5), 300)))
    text = as_text(fitted, "some-embedder@1", None)
    offset, match = fitted.calibration.offset, fitted.calibration.weights.match
    assert f"Calibration({offset:.2f}, AnswerabilityFeatures(match={match:.2f}, " in text
    assert "some-embedder@1" in text
    assert "near-miss: {value:.3f} ({low:.3f}-{high:.3f})".format(**fitted.recall) in text


def test_too_few_questions_are_an_error(
    tmp_path: Path, library: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gold = gold_file(tmp_path, *[("LoRA 的秩？", "lora.txt", "常用的秩是 8 到 64")] * 3)
    monkeypatch.setattr(Assistant, "open", lambda _: None)
    assert refusals.main([str(gold), "--index", str(library.index), "--json"]) == 2
    assert "3 development questions with an answer" in json.loads(capsys.readouterr().out)["error"]["message"]

"""Labelled attempts, and the figures made of them, against numbers worked out by hand."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.evaluation.datasets import Split
from rag.evaluation.practice.attempts import AttemptRow, load_attempts
from rag.evaluation.practice.run import as_text, evaluate, figures, quadratic_weighted_kappa
from rag.practice.bank import read_bank
from rag.practice.grading import Grade, Method, PointGrade, Verdict
from rag.practice.regressions import Regression
from rag.practice.rubric import rubric_of
from tests.rag.library import library_settings
from tests.rag.practice.pages import CACHE_ID, bank_of
from tools.fit.grading import Examples, as_toml, examples, fit, fitted, left_out

np = pytest.importorskip("numpy")
ITEMS = (
    "KV cache 把每一层已经算过的 Key 和 Value 存下来，解码的每一步只需为新 token 做一次前向。",
    "KV cache 的大小随序列长度和并发数线性增长，Llama-2-7B 每个 token 占 512 KiB。",
    "缩小 KV cache 的办法有减少 KV 头、压成潜向量、降低位宽。",
)


def row(number: int, attempt: str, verdicts: tuple[str, ...], **more: Any) -> dict[str, Any]:
    points = [{"text": text, "verdict": verdict} for text, verdict in zip(ITEMS, verdicts, strict=True)]
    return {
        "id": f"a{number}", "question_id": CACHE_ID, "kind": "good", "split": "dev", "attempt": attempt,
        "points": points, "score": 0.5, **more,
    }  # fmt: skip


ROWS = [
    row(1, "".join(ITEMS), ("found", "found", "found"), score=1.0),
    row(2, ITEMS[0], ("found", "missing", "missing"), kind="partial", score=0.3),
    row(
        3,
        "KV cache 缓存 长度 位宽 GQA MLA 量化 显存 吞吐",
        ("missing", "missing", "missing"),
        kind="keyword-soup",
        score=0.0,
    ),
    row(
        4,
        ITEMS[1].replace("512", "64"),
        ("missing", "contradicted", "missing"),
        kind="wrong-one",
        flipped="a1",
        score=0,
    ),
    row(5, ITEMS[2], ("missing", "missing", "found"), split="test", score=0.3),
]


@pytest.fixture
def attempts(tmp_path: Path) -> Path:
    file = tmp_path / "attempts.jsonl"
    file.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in ROWS), encoding="utf-8")
    return file


@pytest.fixture
def assistant(tmp_path: Path, hash_embedder: Any) -> Assistant:
    bank_of(tmp_path)
    return Assistant(library_settings(tmp_path), hash_embedder)


def test_rows_are_read_by_split(attempts: Path) -> None:
    assert [one.id for one in load_attempts(attempts, Split.TEST)] == ["a5"]
    assert len(load_attempts(attempts)) == 5
    undecided = AttemptRow.model_validate({**ROWS[0], "split": None})
    assert undecided.half is AttemptRow.model_validate({**ROWS[1], "split": None}).half, "a page is in one half"


def test_a_row_that_is_wrong_is_named(tmp_path: Path) -> None:
    file = tmp_path / "wrong.jsonl"
    file.write_text(json.dumps({**ROWS[0], "score": 7}), encoding="utf-8")
    with pytest.raises(UsageError, match="line 1: score"):
        load_attempts(file)


def test_figures_by_hand(assistant: Assistant) -> None:
    """Of 12 labelled points (dev, without the flipped row) 4 are made; 3 are called made, 2 of them rightly; the one
    contradicted is caught."""
    bank = read_bank(assistant.index)
    rubric = rubric_of(bank, bank.find(CACHE_ID))
    wrong = {**ROWS[3], "id": "a6", "flipped": None}
    rows = [AttemptRow.model_validate(one) for one in (*ROWS[:4], wrong)]
    verdicts = [
        (Verdict.FOUND, Verdict.PARTLY, Verdict.MISSING),
        (Verdict.MISSING, Verdict.FOUND, Verdict.UNSURE),
        (Verdict.MENTIONED, Verdict.MISSING, Verdict.MISSING),
        (Verdict.MISSING, Verdict.CONTRADICTED, Verdict.MISSING),
        (Verdict.MISSING, Verdict.CONTRADICTED, Verdict.MISSING),
    ]
    grades = [
        Grade(
            CACHE_ID, one.attempt,
            tuple(PointGrade(p, v) for p, v in zip(rubric.points, (*found, Verdict.MISSING), strict=True)),
            (), (), Method.OVERLAP,
        )
        for one, found in zip(rows, verdicts, strict=True)
    ]  # fmt: skip
    found = figures(rows, {CACHE_ID: rubric}, grades)
    assert found["points"] == 12
    assert found["point_precision"]["value"] == pytest.approx(2 / 3, abs=0.001)
    assert found["point_recall"]["value"] == 0.5
    assert found["contradictions_caught"]["value"] == 1
    assert found["points_made_called_wrong"]["value"] == 0
    assert found["flipped_caught"]["value"] == 1
    assert found["worthless_score_max"] == grades[2].score > 0
    assert found["worthless_above_0.2"]["value"] == 0


def test_quadratic_weighted_kappa_by_hand() -> None:
    # Labels 0, 1 and scores 0, .5: observed squared distance 0 + 25, by chance (0 + 25 + 100 + 25) / 4 * 2 = 75.
    assert quadratic_weighted_kappa([0.0, 1.0], [0.0, 0.5]) == pytest.approx(1 - 25 / 75)
    assert quadratic_weighted_kappa([0.0, 0.5, 1.0], [0.0, 0.5, 1.0]) == 1


def test_methods_are_measured_side_by_side(assistant: Assistant, attempts: Path) -> None:
    found = evaluate(attempts, assistant, split=Split.ALL)
    assert list(found.result["methods"]) == ["overlap", "embedder"]
    assert len(found.rows) == 10
    assert found.result["methods"]["embedder"]["worthless_score_max"] <= 0.2
    assert "point_precision" in as_text(found.result)


def test_what_is_fitted_tells_apart(assistant: Assistant, attempts: Path) -> None:
    seen = examples(assistant, load_attempts(attempts, Split.DEV), None)
    assert seen.rows.shape == (6, 20), "two attempts have claims and repeat none, terms in a row have none"
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 14))
    verdicts = np.where(rows[:, 0] > 0, np.where(rows[:, 1] > 0, "found", "partly"), "missing").astype("U12")
    verdicts[::20], verdicts[1::20] = "contradicted", "right"
    pages = np.asarray([f"page {number % 12}" for number in range(200)])
    made_up = Examples(rows, verdicts, pages, np.arange(200) >= 180)
    assert int(np.argmax(np.abs(fit(rows, rows[:, 0] > 0).weights))) == 0
    odds = left_out(made_up, rows[:, 0] > 0, np.ones(200, bool))
    assert ((odds > 0) == (rows[:, 0] > 0)).mean() > 0.9
    regressions, told = fitted(made_up, ~made_up.in_english)
    assert "contradicted from made: AUC" in told
    assert regressions.wrong != fitted(made_up, np.ones(200, bool))[0].wrong
    written = tomllib.loads(as_toml({"with_judge": regressions}))["with_judge"]
    assert Regression.of(written["made"]).odds(rows[0]) == pytest.approx(regressions.made.odds(rows[0]), abs=0.1)
    assert written["wrong_from"] == pytest.approx(regressions.wrong_from, abs=0.01)

"""Answers beside reference answers: what is graded, and that the best reference counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag.__main__ import main
from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.evaluation.practice.references import as_text, evaluate_references, has_references, rubric_from
from rag.practice.grading import Method
from tests.rag.library import library_settings
from tests.rag.practice.pages import bank_of

QUESTION = "栈和队列有什么区别？"
REFERENCES = ["栈是后进先出的线性表，只在一端插入和删除。", "队列在一端插入，在另一端删除，先进入的元素先出来。"]
OFF_TOPIC = "快速排序平均需要线性对数时间。"


def answer(number: int, text: str, score: float, **more: Any) -> dict[str, Any]:
    return {
        "id": f"r{number}", "question": QUESTION, "references": REFERENCES, "answer": text, "score": score, "full": 10,
        **more,
    }  # fmt: skip


@pytest.fixture
def assistant(tmp_path: Path, hash_embedder: Any) -> Assistant:
    bank_of(tmp_path)
    return Assistant(library_settings(tmp_path), hash_embedder)


def written(file: Path, rows: list[dict[str, Any]]) -> Path:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return file


def test_the_best_reference_counts_and_agreement_is_told(tmp_path: Path, assistant: Assistant) -> None:
    rows = [answer(1, REFERENCES[0], 10), answer(2, REFERENCES[1], 10), answer(3, OFF_TOPIC, 0), answer(4, "", 0)]
    result, graded = evaluate_references(written(tmp_path / "a.jsonl", rows), assistant, (Method.OVERLAP,))
    assert [row["score"] for row in graded] == [1, 1, 0, 0]
    assert result["methods"]["overlap"] == {"qwk": 1.0, "spearman": 1.0, "mean_score": 0.5}
    assert (result["answers"], result["questions"], result["mean_label"]) == (4, 1, 0.5)
    assert "qwk 1.0" in as_text(result)


def test_points_are_the_sentences_of_a_reference() -> None:
    rubric = rubric_from("栈后进先出。队列先进先出；两者都是线性表。", QUESTION)
    assert [point.text for point in rubric.points] == ["栈后进先出。", "队列先进先出；", "两者都是线性表。"]


def test_the_kind_of_file_is_seen(tmp_path: Path) -> None:
    assert has_references(written(tmp_path / "a.jsonl", [answer(1, "x", 1)]))
    assert not has_references(written(tmp_path / "b.jsonl", [{"id": "a", "attempt": "x"}]))
    quoting = [{"id": "a", "attempt": 'it has "references"'}]
    assert not has_references(written(tmp_path / "c.jsonl", quoting))
    assert not has_references(tmp_path / "missing.jsonl")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [({"references": []}, "references"), ({"references": [" "]}, "references"), ({"score": 70}, "above the full one")],
)
def test_a_row_that_is_wrong_is_named(tmp_path: Path, assistant: Assistant, wrong: dict[str, Any], told: str) -> None:
    file = written(tmp_path / "a.jsonl", [answer(1, "x", 1), {**answer(2, "x", 1), **wrong}])
    with pytest.raises(UsageError, match=f"line 2: .*{told}"):
        evaluate_references(file, assistant)


def test_each_answer_is_held_against_its_own_references(tmp_path: Path, assistant: Assistant) -> None:
    rows = [answer(number, text, 10, references=[text]) for number, text in enumerate(REFERENCES)]
    _, graded = evaluate_references(written(tmp_path / "a.jsonl", rows), assistant, (Method.OVERLAP,))
    assert [row["score"] for row in graded] == [1, 1]


@pytest.mark.parametrize("option", [("--split", "test"), ("--llm", "local")])
def test_options_that_mean_nothing_here_are_refused(
    tmp_path: Path, assistant: Assistant, option: tuple[str, str], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(Assistant, "open", lambda settings: assistant)
    file = written(tmp_path / "a.jsonl", [answer(1, "x", 1)])
    assert main(["eval", "practice", str(file), *option]) == 2
    assert "leave out --split and --llm" in capsys.readouterr().err

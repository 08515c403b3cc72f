"""python -m rag practice …, with the JSON that README.md promises."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag.__main__ import main
from rag.commands.practice import FILE_TYPES, METHODS
from rag.practice.exports import ExportAs
from rag.practice.grading import Method
from rag.practice.store import PracticeStore
from tests.conftest import HashEmbedder
from tests.rag.practice.pages import CACHE_ID, GQA_ID, bank_of

ANSWER = "KV cache 把每一层已经算过的 Key 和 Value 存下来，解码的每一步只需为新 token 做一次前向。"


@pytest.fixture
def practice(
    tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Any:
    """Runs `practice …` over the pages, with the fast embedder; gives the exit code and stdout."""
    bank_of(tmp_path)
    (tmp_path / "answer.txt").write_text(ANSWER, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)

    def call(*arguments: str) -> tuple[int, str]:
        code = main(["practice", *arguments, "--index", "index", "--data", "user"])
        return code, capsys.readouterr().out

    return call


def test_grade_prints_the_contract_and_keeps_the_review(practice: Any, tmp_path: Path) -> None:
    code, out = practice("grade", "--question", CACHE_ID, "--answer", "answer.txt", "--json")
    assert code == 0
    grade = json.loads(out)
    assert list(grade)[:4] == ["id", "score", "points", "mistakes"]
    assert grade["graded_by"] == "embedder"
    assert grade["score"] == pytest.approx(grade["coverage"] * grade["correctness"], abs=0.001)
    first = grade["points"][0]
    assert list(first) == ["text", "verdict", "attempt", "citation"]
    assert first["verdict"] == "found"
    assert ANSWER[slice(*first["attempt"])] == ANSWER
    assert first["citation"]["quote"] == first["text"]
    store = PracticeStore(tmp_path / "user")
    assert [review.attempt for review in store.reviews("")] == [ANSWER]
    assert store.cards("")[CACHE_ID].answer_sha256
    store.close()


def test_an_empty_answer_is_graded_and_not_kept(practice: Any, tmp_path: Path) -> None:
    (tmp_path / "nothing.txt").write_text(" \n", encoding="utf-8")
    code, out = practice("grade", "--question", CACHE_ID, "--answer", str(tmp_path / "nothing.txt"))
    assert code == 0
    assert out.startswith("0%, graded by")
    assert "nothing is kept" in out
    assert not (tmp_path / "user" / "practice.sqlite").exists()


def test_grade_as_text_shows_both_sides(practice: Any) -> None:
    _, out = practice("grade", "--question", CACHE_ID, "--answer", "answer.txt")
    assert f"> {ANSWER}" in out
    assert "cache.md " in out
    assert "graded by embedder" in out


def test_a_batch_gives_a_line_for_each_row_and_keeps_nothing(practice: Any, tmp_path: Path) -> None:
    rows: list[object] = [
        {"id": "a", "question": CACHE_ID, "answer": ANSWER},
        {"id": "b", "question": "gone.md#问？", "answer": ANSWER},
        {"id": "c", "question": GQA_ID},
        "no row",
        {"id": "e", "question": GQA_ID, "answer": ""},
    ]
    file = tmp_path / "attempts.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    code, out = practice("grade", "--attempts", "attempts.jsonl")
    assert code == 1
    found = [json.loads(line) for line in out.splitlines()]
    assert [row["id"] for row in found] == ["a", "b", "c", None, "e"]
    assert found[0]["score"] > 0
    assert "gone.md" in found[1]["error"]["message"]
    assert found[4]["score"] == 0
    assert found[4]["notes"] == ["empty"]
    assert not (tmp_path / "user").exists()


def test_ask_gives_what_is_due_first(practice: Any) -> None:
    _, out = practice("ask", "--json")
    asked = json.loads(out)
    assert not asked["due"]
    practice("grade", "--question", asked["id"], "--answer", "answer.txt", "--json")
    _, out = practice("ask", "--json")
    assert json.loads(out)["id"] != asked["id"]
    code, out = practice("due", "--json")
    assert code == 0
    assert sum(day["cards"] for day in json.loads(out)["forecast"]) == 1


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (("ask", "--topic", "x"), 2, "there is no topic"),
        (("grade", "--question", "gone.md#q", "--answer", "answer.txt"), 2, "the material has no question"),
        (("grade", "--question", CACHE_ID, "--answer", "nowhere.txt"), 2, "cannot read nowhere.txt"),
        (("grade", "--question", CACHE_ID), 2, "give either"),
        (("grade", "--question", CACHE_ID, "--answer", "answer.txt", "--method", "chat_model"), 2, "no chat model"),
        (("export", "--as", "csv", "--out", "no/such/file"), 2, "cannot write"),
    ],
)
def test_errors_name_what_is_wrong(practice: Any, arguments: tuple[str, ...], code: int, word: str) -> None:
    found, out = practice(*arguments, "--json")
    assert found == code
    assert word in json.loads(out)["error"]["message"]


def test_exports_are_written(practice: Any, tmp_path: Path) -> None:
    for name in FILE_TYPES:
        assert practice("export", "--as", name, "--out", f"out.{name}")[0] == 0
        assert (tmp_path / f"out.{name}").stat().st_size > 500
    assert CACHE_ID in practice("export", "--as", "csv")[1]


def test_the_choices_are_those_there_are() -> None:
    assert tuple(Method) == METHODS
    assert tuple(ExportAs) == FILE_TYPES

"""Which questions find something else after an ingest."""

from pathlib import Path
from typing import Any

import pytest

from ingest.probe import Question, read_questions
from ingest.sync import sync
from rag.cli import json_lines
from rag.errors import UsageError
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, ingest, library_settings

QUESTIONS = [
    Question("lora", "LoRA 的秩怎么选？", (("lora.txt", "常用的秩是 8 到 64"),)),
    Question("zero", "ZeRO-2 和 ZeRO-3 差在哪？", (("zero.md", "ZeRO-3 还切分模型参数"),)),
]


def test_what_moved_is_told(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    ingest(tmp_path, hash_embedder)
    documents = tmp_path / "documents"

    def run(**more: Any) -> Any:
        return sync(
            library_settings(tmp_path), lambda: hash_embedder, [documents], identity="hash@1",
            questions=QUESTIONS, **more,
        ).as_dict()["probe"]  # fmt: skip

    assert run() == {"questions": 2, "compared": True, "moved": ()}
    (documents / "lora.txt").write_text(DOCUMENTS["lora.txt"].replace("8 到 64", "4 到 16"), encoding="utf-8")
    probe = run()
    (moved,) = probe["moved"]
    assert (moved["id"], moved["before"]["evidence"], moved["after"]["evidence"]) == ("lora", (1,), (None,))
    assert moved["before"]["document"] == moved["after"]["document"] == "lora.txt"
    (documents / "zero.md").rename(documents / "stages.md")
    (moved,) = run()["moved"]
    assert (moved["before"]["document"], moved["after"]["document"]) == ("zero.md", "stages.md")
    assert run(rebuild=True)["moved"] == ()


def test_there_may_be_nothing_to_compare_with(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "lora.txt").write_text(DOCUMENTS["lora.txt"], encoding="utf-8")
    report = sync(
        library_settings(tmp_path), lambda: hash_embedder, [tmp_path / "documents"], identity="hash@1",
        questions=QUESTIONS,
    )  # fmt: skip
    assert report.as_dict()["probe"] == {"questions": 2, "compared": False, "moved": ()}
    assert "no earlier generation" in report.as_text()


def test_questions_are_read(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": 1, "text": "a"}\n{"text": "b", "evidence": [{"document": "d", "quote": "q"}]}\n')
    assert read_questions(json_lines(str(file))) == [Question("1", "a"), Question("2", "b", (("d", "q"),))]


@pytest.mark.parametrize("row", ["x", "[]", "{}", '{"text": 1}', '{"text": " "}', '{"text": "a", "evidence": ["q"]}'])
def test_a_bad_row_is_told(row: str, tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text(row + "\n", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_questions(json_lines(str(file)))
    assert caught.value.hint

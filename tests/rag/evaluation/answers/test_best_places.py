"""The measures of questions with a best place, on answers whose measures can be told by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from rag.__main__ import main
from rag.answer.assistant import Assistant
from rag.evaluation.answers.best_places import PlacedReading, PlacedRow, ask, is_placed, measures, place_of, read
from rag.settings import Settings
from rag.types import Answer, Citation

SOURCE = f"# T\n\n## A\n\n第一句。第二句。\n\n## B\n\n第三句。\n\n## C\n\n{'长' * 400}。\n\n## D\n\n第一句。末句。\n"


def row(**changes: Any) -> PlacedRow:
    given = {
        "id": "q", "split": "dev", "style": "plain", "question": "LoRA 的秩怎么选？", "answerable": "yes",
        "best": ["t.md", "A"], "sentence": "第二句。", "grades": [["t.md", "A", 3], ["t.md", "B", 1]],
    }  # fmt: skip
    return PlacedRow.model_validate(given | changes)


def cite(text: str, marker: int) -> Citation:
    start = SOURCE.rindex(text)
    return Citation(marker, "t.md", "T", start, start + len(text), text)


class OneSource:
    def source(self, document: str) -> str:
        return SOURCE


ONE_SOURCE: Any = OneSource()


def reading(*paragraphs: str, of: PlacedRow | None = None) -> PlacedReading:
    """Of an answer of one-sentence paragraphs."""
    citations = tuple(cite(quote, place) for place, quote in enumerate(paragraphs, start=1))
    text = "\n\n".join(f"{quote} [{place}]" for place, quote in enumerate(paragraphs, start=1))
    return read(Answer("q", (), text, "extractive", citations=citations), of or row(), ONE_SOURCE)


def test_the_sentence_is_looked_for_under_its_heading() -> None:
    document, start, end = place_of(row(best=["t.md", "D"], sentence="第一句。"), ONE_SOURCE) or ("", 0, 0)
    assert (document, SOURCE[start:end], start) == ("t.md", "第一句。", SOURCE.rindex("第一句。"))
    assert place_of(row(sentence="没有这句。"), ONE_SOURCE) is None


def test_what_answers_opens() -> None:
    found = reading("第二句。", "第三句。")
    assert (found.first, found.in_two, found.sentence_first, found.on_screen, found.anywhere) == (True,) * 5
    assert (found.quoted, found.beside, found.sections, found.torn) == (8, 0, 2, 1)


def test_what_answers_comes_second() -> None:
    found = reading("第三句。", "第二句。")
    assert (found.first, found.in_two, found.sentence_first, found.on_screen) == (False, True, False, True)


def test_what_answers_comes_after_a_screen_of_something_else() -> None:
    found = reading("长" * 400, "第三句。", "第二句。")
    assert (found.in_two, found.on_screen, found.anywhere) == (False, False, True)
    assert found.beside == 400


def test_what_answers_is_missing() -> None:
    found = reading("第三句。")
    assert (found.first, found.anywhere, found.beside) == (False, False, 0)


def test_the_shares_count_what_was_refused(assistant: Assistant) -> None:
    nothing: dict[str, Any] = {"best": None, "sentence": "", "grades": []}
    rows = [
        row(best=["lora.txt", "2、LoRA 的秩怎么选？"], sentence="常用的秩是 8 到 64。"),
        row(id="n", question="GRPO 的优势函数？", answerable="no", **nothing),
        row(id="f", question="GRPO 的优势函数？", best=["lora.txt", "x"]),
        row(id="t", after="LoRA 为什么能省显存？", question="那它的秩怎么选", best=["lora.txt", "x"]),
    ]
    found = measures([ask(assistant, given) for given in rows])
    assert found["unanswerable_not_answered"]["value"] == 1
    assert found["false_refusals"]["value"] == pytest.approx(1 / 3, abs=1e-5)
    assert found["first"]["of"] == 3


def test_the_command(
    tmp_path: Path,
    library: Settings,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    assistant: Assistant,
) -> None:
    file, rows = tmp_path / "placed.jsonl", tmp_path / "rows.jsonl"
    file.write_text(row().model_dump_json() + "\n", encoding="utf-8")
    assert is_placed(file)
    monkeypatch.setattr(Assistant, "open", lambda _: assistant)
    command = ["eval", "answers", str(file), "--index", str(library.index), "--per-query", str(rows)]
    assert main([*command, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert {"first", "in_two", "sentence_first", "on_screen", "beside"} <= set(result["measures"])
    assert json.loads(rows.read_text(encoding="utf-8"))["id"] == "q"
    assert main([*command, "--split", "test"]) == 2
    assert "no question in its split test" in capsys.readouterr().err

"""The latency command: its memory is in bytes, and it runs."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.evaluation.answers.best_places import load_placed
from rag.evaluation.datasets import Split
from rag.paths import PROGRAM
from rag.settings import Settings
from rag.types import Answer, Turn
from tests.conftest import HashEmbedder
from tools.bench.latency import SPOKEN, main, peak_rss_bytes

PLACES = PROGRAM / "rag" / "evaluation" / "data" / "best_places.jsonl"


@pytest.fixture(autouse=True)
def small_embedder(hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)


def test_peak_memory_is_in_bytes() -> None:
    assert 2**24 < peak_rss_bytes() < 2**40


def test_it_prints_json(library: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "latency.json"
    assert main(["--index", str(library.index), "--questions", "4", "--out", str(out)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads(out.read_text(encoding="utf-8"))
    assert result["questions"] == 4
    assert 0 < result["ask_ms"]["p50"] <= result["ask_ms"]["p95"] <= result["ask_ms"]["max"]
    assert result["machine"]["cores"] >= 1


def test_it_asks_the_development_half_of_a_set_as_conversations(
    library: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, int]] = []
    ask = Assistant.ask

    def counted(assistant: Assistant, question: str, history: Sequence[Turn] = ()) -> Answer:
        asked.append((question, len(history)))
        return ask(assistant, question, history)

    monkeypatch.setattr(Assistant, "ask", counted)
    options = ["--index", str(library.index), "--set", str(PLACES), "--talk", "--questions", str(SPOKEN + 1)]
    assert main(options) == 0
    assert json.loads(capsys.readouterr().out)["set"] == PLACES.name
    dev = {row.question for row in load_placed(PLACES) if row.split is Split.DEV}
    assert {question for question, _ in asked} <= dev
    assert [said for _, said in asked] == [*range(0, 2 * SPOKEN, 2), 0]

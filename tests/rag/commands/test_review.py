"""python -m rag review: what it prints, and where."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag.__main__ import main
from tests.conftest import HashEmbedder
from tests.rag.library import ingest
from tests.rag.review.documents import CONTRADICTORY, FILLER, page

ONE, OTHER = CONTRADICTORY["bandwidth"]
DOCUMENTS = {"one.md": page("第一篇", ONE, "截至 2026 年仍然如此。"), "other.md": page("第二篇", OTHER), **FILLER}
Command = Callable[..., int]


@pytest.fixture
def command(tmp_path: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)
    ingest(tmp_path, hash_embedder, DOCUMENTS)
    return lambda *arguments: main(["review", *arguments, "--index", str(tmp_path / "index")])


def test_json(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--json") == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert len(report["ages"]) == len(DOCUMENTS)
    assert [pair["differing"] for pair in report["contradictions"]] == [["2.0 TB/s", "1.6 TB/s"]]
    assert "pairs" in printed.err


def test_text_for_people(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--limit", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Contradictions: 1"
    assert ONE in lines[2]
    assert OTHER in lines[3]
    assert lines[-3].startswith(f"Documents, oldest first: {len(DOCUMENTS)}, 0 of them without a date")
    assert lines[-1].split() == ["2026-01-02", "checked", "filler-1.md"]


def test_a_topic_and_a_limit(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--topic", "nothing", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ages"] == report["contradictions"] == report["time_bound"] == []
    assert command("--limit", "1", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["ages"]) == 1


def test_wrong_limits_are_refused(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--limit", "0", "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"

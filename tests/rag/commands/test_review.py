"""python -m rag review: what it prints, and where."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rag.__main__ import main
from tests.conftest import HashEmbedder
from tests.rag.library import ingest
from tests.rag.review.documents import BANDWIDTH, FILLER, page

SAID = "截至 2026 年仍然如此。"
DOCUMENTS = {"one.md": page("第一篇", BANDWIDTH, SAID), **FILLER}
Command = Callable[..., int]


@pytest.fixture
def command(tmp_path: Path, hash_embedder: HashEmbedder) -> Command:
    ingest(tmp_path, hash_embedder, DOCUMENTS)
    return lambda *arguments: main(["review", *arguments, "--index", str(tmp_path / "index")])


def test_json(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--json") == 0
    printed = capsys.readouterr()
    report = json.loads(printed.out)
    assert len(report["ages"]) == len(DOCUMENTS)
    assert [aged["words"] for aged in report["time_bound"]] == [["2026", "截至"]]


def test_text_for_people(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--limit", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Sentences that grow old: 1"
    assert SAID in lines[1]
    assert lines[-3].startswith(f"Documents, oldest first: {len(DOCUMENTS)}, 0 of them without a date")
    assert lines[-1].split() == ["2026-01-02", "checked", "filler-1.md"]


def test_a_topic_and_a_limit(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--topic", "nothing", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ages"] == report["time_bound"] == []
    assert command("--limit", "1", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["ages"]) == 1


def test_wrong_limits_are_refused(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--limit", "0", "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"

"""The latency command: its memory is in bytes, and it runs."""

import json
from pathlib import Path

import pytest

from rag.settings import Settings
from tests.conftest import HashEmbedder
from tools.bench.latency import main, peak_rss_bytes


def test_peak_memory_is_in_bytes() -> None:
    assert 2**24 < peak_rss_bytes() < 2**40


def test_it_prints_json(
    library: Settings,
    hash_embedder: HashEmbedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)
    out = tmp_path / "latency.json"
    assert main(["--index", str(library.index), "--questions", "4", "--out", str(out)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result == json.loads(out.read_text(encoding="utf-8"))
    assert result["questions"] == 4
    assert 0 < result["ask_ms"]["p50"] <= result["ask_ms"]["p95"] <= result["ask_ms"]["max"]
    assert result["machine"]["cores"] >= 1

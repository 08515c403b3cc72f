"""`python -m rag ask --agent` with an endpoint that calls tools, and `python -m rag eval agent`."""

import json
from pathlib import Path

import pytest

from rag.__main__ import main
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.answer.agent.tool_server import ToolServer, search

QUESTION = "LoRA 为什么能省显存？量化格式 W4A16 的激活用多少位？"


@pytest.fixture
def with_hashes(hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)


@pytest.mark.usefixtures("with_hashes")
def test_ask(
    library: Settings, server: ToolServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.turns, server.reply = [[search("W4A16 激活")], "激活仍用 16 位浮点数计算。"], "激活仍用 16 位浮点数计算。"
    monkeypatch.setenv("INTERVIEW_RAG_ENDPOINT_URL", server.url)
    monkeypatch.setenv("INTERVIEW_RAG_ENDPOINT_MODEL", "test")
    asked = ["ask", QUESTION, "--llm", "endpoint", "--index", str(library.index), "--json"]
    assert main([*asked, "--agent"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [step["kind"] for step in answer["steps"]] == ["search"]
    assert answer["kind"] == "answer"
    assert main(asked) == 0
    assert json.loads(capsys.readouterr().out)["steps"] == []


@pytest.mark.usefixtures("with_hashes")
def test_eval_agent(library: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold, out = tmp_path / "gold.jsonl", tmp_path / "out.json"
    evidence = [{"document": "lora.txt", "quote": "只训练两个低秩矩阵"}]
    row = {"id": "a", "question": QUESTION, "kind": "multi-hop", "split": "dev", "evidence": evidence}
    gold.write_text(json.dumps(row, ensure_ascii=False), encoding="utf-8")
    assert main(["eval", "agent", str(gold), "--index", str(library.index), "--out", str(out)]) == 0
    assert "planned by scripted-planner" in capsys.readouterr().out
    assert json.loads(out.read_text(encoding="utf-8"))["kinds"]["multi-hop"]["questions"] == 1

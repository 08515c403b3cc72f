"""`python -m rag mcp` in a process of its own, over stdio and streamable HTTP, with the real embedder."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from ingest.sync import sync
from rag.__main__ import main
from rag.embedding import Embedder
from rag.settings import Settings
from tests.paths import ROOT
from tests.rag.server.mcp.calling import read, text_of, values, with_client
from tests.rag.server.mcp.documents import ALL

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    """A folder with `documents/` and `index/`, made with the real embedder."""
    folder = tmp_path_factory.mktemp("real")
    for name, text in ALL.items():
        file = folder / "documents" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    sync(Settings(index=folder / "index"), lambda: embedder, [folder / "documents"], identity=embedder.identity)
    return folder


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def arguments(folder: Path, *more: str) -> list[str]:
    return ["-m", "rag", "mcp", "--index", str(folder / "index"), *more]


async def converse(client: Client) -> None:
    asked = values(await client.call_tool("ask", {"question": "LoRA 的秩怎么选？"}))
    assert asked["kind"] == "answer"
    assert "8 到 64" in asked["answer"]
    for one in asked["citations"]:
        source = ALL[one["document"]]
        assert await read(client, one["uri"]) == one["quote"] == source[one["start"] : one["end"]]
    found = values(await client.call_tool("search", {"query": "loss scaling", "k": 1}))
    assert found["results"][0]["document"] == "scaling.md"
    graded = values(await client.call_tool("grade_answer", {"question_id": "cache.md", "answer": "存下键和值"}))
    assert graded["graded_by"] == "embedder"
    wrong = await client.call_tool("read_source", {"document": "/etc/passwd"})
    assert wrong.is_error
    assert "no document" in text_of(wrong)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_stdio(real: Path, mode: str) -> None:
    server = StdioServerParameters(command=sys.executable, args=arguments(real), env=environment(), cwd=str(real))
    with_client(server, converse, mode)


def test_stdout_holds_the_protocol_and_nothing_else(real: Path) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    call = {"name": "ask", "arguments": {"question": "RoPE 为什么能外推？"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    process = subprocess.Popen(
        [sys.executable, *arguments(real)],
        cwd=real,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        lines = ["not json", "[" * 10_000, *map(json.dumps, messages)]
        process.stdin.write("".join(f"{line}\n" for line in lines))
        process.stdin.flush()
        rows: list[dict[str, Any]] = []
        while not any(row.get("id") == 2 for row in rows):
            rows.append(json.loads(process.stdout.readline()))
        process.stdin.close()
        rest = process.stdout.read()
        assert process.wait(timeout=60) == 0
    assert all(row["jsonrpc"] == "2.0" for row in rows)
    assert rest == ""
    assert rows[-1]["result"]["structuredContent"]["citations"]


@pytest.fixture(scope="module")
def address(real: Path) -> Iterator[str]:
    process = subprocess.Popen(
        [sys.executable, *arguments(real, "--http", "--port", "0")],
        cwd=real, env=environment(), stdout=subprocess.PIPE, encoding="utf-8",
    )  # fmt: skip
    assert process.stdout is not None
    with process:
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_streamable_http(address: str, mode: str) -> None:
    assert address.startswith("http://127.0.0.1:")
    with_client(address, converse, mode)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--host", "0.0.0.0"], "add --http"),
        (["--http", "--host", "0.0.0.0"], "--key-file"),
        (["--http", "--port", "70000"], "0 to 65535"),
    ],
)
def test_wrong_usage_is_told_before_anything_is_loaded(
    more: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("rag.server.mcp.library.Library", None)
    assert main(["mcp", *more]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err

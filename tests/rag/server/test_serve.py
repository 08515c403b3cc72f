"""`python -m rag serve` as a process with the real embedder, asked by curl, openai and LangChain."""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from langchain_openai import ChatOpenAI

from rag.__main__ import main
from rag.embedding import Embedder
from rag.settings import Settings
from tests.rag.library import DOCUMENTS, ingest
from tools.api_process import serve

KEY = "laptop-" + "k" * 30
STREAMS = 32
QUESTIONS = [
    "LoRA 的秩怎么选？",
    "ZeRO-3 切分什么？",
    "Why does mixed precision need loss scaling?",
    "W4A16 是什么意思？",
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("serve")
    ingest(folder, embedder, DOCUMENTS)
    return folder / "index"


@pytest.fixture(scope="module")
def address(index: Path, model_settings: Settings) -> Iterator[str]:
    with serve("--index", str(index)) as (address, _):
        yield address


def body(question: str, **more: Any) -> dict[str, Any]:
    return {"model": "interview-rag", "messages": [{"role": "user", "content": question}], **more}


@pytest.mark.slow
def test_openai_and_its_slices(address: str) -> None:
    with openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client:
        for question in QUESTIONS:
            message = client.chat.completions.create(**body(question)).choices[0].message.model_dump()
            assert message["annotations"], question
            for annotation in message["annotations"]:
                cited = annotation["url_citation"]
                assert f"[{cited['marker']}]" in message["content"][cited["start_index"] : cited["end_index"]]
                document = DOCUMENTS[cited["document"]]
                assert document[cited["start"] : cited["end"]] == cited["quote"]
                assert httpx.get(cited["url"], trust_env=False).text == cited["quote"]


@pytest.mark.slow
def test_langchain(address: str) -> None:
    model = ChatOpenAI(model="interview-rag", base_url=address, api_key="none", max_retries=0)
    whole = model.invoke(QUESTIONS[0]).content
    assert whole
    assert "".join(str(chunk.content) for chunk in model.stream(QUESTIONS[0])) == whole


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_curl(address: str) -> None:
    def curl(*arguments: str) -> str:
        return subprocess.run(
            ["curl", "-sS", "--noproxy", "*", *arguments], check=True, capture_output=True, text=True
        ).stdout

    post = ("-H", "Content-Type: application/json", "-d")
    said = json.loads(curl(f"{address}/chat/completions", *post, json.dumps(body(QUESTIONS[1]))))
    cited = said["choices"][0]["message"]["annotations"][0]["url_citation"]
    assert curl(cited["url"]) == cited["quote"]
    stream = curl("-N", f"{address}/chat/completions", *post, json.dumps(body(QUESTIONS[1], stream=True)))
    assert stream.rstrip().endswith("data: [DONE]")
    assert json.loads(curl(f"{address}/ask", *post, json.dumps({"question": QUESTIONS[1]})))["kind"] == "answer"
    assert json.loads(curl(f"{address}/search", *post, json.dumps({"query": QUESTIONS[1], "k": 2})))["results"]
    wrong = curl("-o", os.devnull, "-w", "%{http_code}", f"{address}/ask", "-d", "question=x")
    assert wrong == "400"


@pytest.mark.slow
def test_streams_at_once(address: str) -> None:
    async def one(client: openai.AsyncOpenAI, question: str) -> str:
        stream = await client.chat.completions.create(**body(question), stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    async def all_of_them() -> list[str]:
        async with openai.AsyncOpenAI(base_url=address, api_key="none", max_retries=0) as client:
            return await asyncio.gather(*(one(client, QUESTIONS[n % 4]) for n in range(STREAMS)))

    answers = asyncio.run(all_of_them())
    assert all(answers)
    assert len(set(answers)) == 4


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_keys_and_the_end(index: Path, model_settings: Settings, tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "keys"
    file.write_text(f"laptop:{KEY}\n", encoding="utf-8")
    file.chmod(0o600)
    with serve("--index", str(index), "--host", "0.0.0.0", "--key-file", str(file)) as (address, process):
        assert httpx.get(f"{address}/models", trust_env=False).status_code == 401
        headers = {"Authorization": f"Bearer {KEY}", "Host": "rag.example"}
        asked = httpx.post(
            f"{address}/ask", json={"question": QUESTIONS[0]}, headers=headers, trust_env=False, timeout=120
        )
        assert asked.status_code == 200
        assert asked.json()["citations"][0]["url"].startswith("http://rag.example/v1/documents/")
        process.send_signal(number)
        assert process.wait(30) == (0 if number is signal.SIGTERM else 130)


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, str]]:
    def refused(*arguments: str) -> dict[str, str]:
        assert main(["serve", "--json", *arguments]) in (1, 2)
        error: dict[str, str] = json.loads(capsys.readouterr().out)["error"]
        return error

    return refused


def test_what_it_refuses_to_do(tmp_path: Path, refused: Callable[..., dict[str, str]]) -> None:
    file = tmp_path / "keys"
    file.write_text(f"laptop:{KEY}\n", encoding="utf-8")
    file.chmod(0o644)
    open_to_all = refused("--host", "0.0.0.0")
    assert "everyone on the network" in open_to_all["message"]
    assert "--key-file" in open_to_all["hint"]
    assert refused("--key-file", str(file))["hint"] == f"chmod 600 {file}"
    assert "'often' is no limit" in refused("--limit", "often")["message"]
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "cannot listen" in refused("--port", str(taken.getsockname()[1]))["message"]
    assert refused("--port", "0", "--index", str(tmp_path))["code"] == "index_missing"

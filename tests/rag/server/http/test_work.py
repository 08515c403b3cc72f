"""Many at once, and clients that hang up: nothing goes on that nobody waits for."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import openai
import pytest

from rag.answer.assistant import Assistant
from rag.server.http.work import QUOTED_AT_ONCE, WRITTEN_AT_ONCE
from rag.settings import ChatModelName, Settings
from tests.conftest import HashEmbedder
from tests.rag.chat_models.chat_server import ChatServer
from tests.rag.server.http.serving import Served, serving

QUESTION = "ZeRO-3 切分什么？"
BODY = {"model": "interview-rag-endpoint", "messages": [{"role": "user", "content": QUESTION}]}
STREAMS = 32


@pytest.fixture
def endpoint() -> Iterator[ChatServer]:
    """Says half a sentence, then nothing for a long time."""
    with ChatServer(reply="ZeRO-3 还切分模型参数。", cut_after=6, pause=60).running() as server:
        yield server
        server.let_go.set()


@pytest.fixture
def waiting(endpoint: ChatServer, library: Settings, hash_embedder: HashEmbedder) -> Iterator[Served]:
    settings = library.model_copy(update={"endpoint_url": endpoint.url, "endpoint_model": "test"})
    with serving(Assistant(settings, hash_embedder)) as served:
        yield served


def until(what: str, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


def answer_threads() -> int:
    return sum(thread.name == "answer" for thread in threading.enumerate())


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/ask"])
@pytest.mark.parametrize("stream", [True, False])
def test_who_hangs_up_frees_the_work(waiting: Served, endpoint: ChatServer, path: str, stream: bool) -> None:
    work = waiting.service.work
    body = {**BODY, "stream": stream} if "chat" in path else {"question": QUESTION, "llm": "endpoint"}

    async def hang_up() -> None:
        async with httpx.AsyncClient(base_url=waiting.address, trust_env=False) as client:
            asked = asyncio.create_task(client.post(path, json=body, timeout=60))
            while not (endpoint.requests and work.running):
                await asyncio.sleep(0.02)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)

    assert work.running == 0
    asyncio.run(hang_up())
    until("the answer is still being worked on", lambda: work.running == 0 and answer_threads() == 0)
    assert endpoint.gone.wait(30), "the chat model was not told"
    with waiting.client() as client:
        assert "interview_rag_running 0.0" in client.get("/metrics").text


def test_who_writes_says_how_many_at_once(waiting: Served, endpoint: ChatServer) -> None:
    """The server quotes by default; a chat model, which is mostly waited for, has places of its own."""
    work = waiting.service.work

    async def crowd() -> None:
        async with httpx.AsyncClient(base_url=waiting.address, trust_env=False, timeout=60) as client:
            body = {**BODY, "stream": True}
            asked = [asyncio.create_task(client.post("/v1/chat/completions", json=body)) for _ in range(9)]
            async with asyncio.timeout(20):
                while work.running <= 2 * QUOTED_AT_ONCE:
                    await asyncio.sleep(0.02)
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    asyncio.run(crowd())


def test_those_who_waited_in_vain_leave_the_line(waiting: Served, endpoint: ChatServer) -> None:
    """More hang up than are answered at once: the next question does not wait for any of them."""
    work = waiting.service.work

    async def crowd() -> None:
        async with httpx.AsyncClient(base_url=waiting.address, trust_env=False, limits=httpx.Limits()) as client:
            asked = [
                asyncio.create_task(client.post("/v1/chat/completions", json={**BODY, "stream": True}, timeout=60))
                for _ in range(WRITTEN_AT_ONCE + 8)
            ]
            while not (endpoint.requests and work.running):
                await asyncio.sleep(0.02)
            for one in asked:
                one.cancel()
            await asyncio.gather(*asked, return_exceptions=True)

    asyncio.run(crowd())
    with waiting.client() as client:
        assert client.post("/v1/ask", json={"question": QUESTION}).status_code == 200
    until("answers are still being worked on", lambda: work.running == 0 and answer_threads() == 0)


def test_streams_at_once(served: Served) -> None:
    questions = ["LoRA 的秩怎么选？", "ZeRO-3 切分什么？", "Why loss scaling?", "W4A16 是什么意思？"]
    expected = {question: served.service.assistant.ask(question).text for question in questions}

    async def one(client: openai.AsyncOpenAI, question: str) -> tuple[str, str]:
        messages: Any = [{"role": "user", "content": question}]
        stream: Any = await client.chat.completions.create(model="interview-rag", messages=messages, stream=True)
        return question, "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    async def all_of_them() -> list[tuple[str, str]]:
        async with openai.AsyncOpenAI(base_url=f"{served.address}/v1", api_key="none", max_retries=0) as client:
            return await asyncio.gather(*(one(client, questions[n % 4]) for n in range(STREAMS)))

    answers = asyncio.run(all_of_them())
    assert len(answers) == STREAMS
    assert all(expected[question] == text for question, text in answers)


def test_what_fails_in_a_stream_is_told_in_it(library: Settings, hash_embedder: HashEmbedder) -> None:
    class Failing(Assistant):
        def stream(self, *_: object) -> Iterator[None]:  # type: ignore[override]
            raise RuntimeError("a secret of the server")
            yield

    with serving(Failing(library, hash_embedder)) as served, served.client() as client:
        body: Any = {"model": "interview-rag", "messages": [{"role": "user", "content": QUESTION}]}
        whole = client.post("/v1/chat/completions", json=body)
        assert whole.status_code == 500
        assert whole.json()["error"]["type"] == "server_error"
        streamed = client.post("/v1/chat/completions", json={**body, "stream": True}).text.split("\n\n")
        assert json.loads(streamed[-3].removeprefix("data: ")) == whole.json()
        assert "secret" not in whole.text + "".join(streamed)
        assert 'interview_rag_failures_total{code="unexpected"} 2.0' in client.get("/metrics").text
        with (
            openai.OpenAI(base_url=f"{served.address}/v1", api_key="none", max_retries=0) as gpt,
            pytest.raises(openai.APIError, match="the server failed"),
        ):
            list(gpt.chat.completions.create(**body, stream=True))


def test_the_chat_model_of_the_settings_answers(library: Settings, hash_embedder: HashEmbedder) -> None:
    with ChatServer(reply="ZeRO-3 还切分模型参数。\n").running() as server:
        update = {"endpoint_url": server.url, "endpoint_model": "test", "llm": ChatModelName.ENDPOINT}
        settings = library.model_copy(update=update)
        from rag.chat_models.select import open_chat_model

        assistant = Assistant(settings, hash_embedder, chat_model=open_chat_model(settings))
        with serving(assistant) as served, served.client() as client:
            said = client.post("/v1/chat/completions", json={**BODY, "model": "interview-rag"}).json()
            assert said["interview_rag"]["llm"] == "endpoint"
            assert said["choices"][0]["message"]["annotations"]

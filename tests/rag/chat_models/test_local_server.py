"""The local chat model: started at its first question, gone with the program, a crash is not ours. With the real server
and the smallest model, which is fetched (491 MB): `make test-llm`."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import rag.chat_models.local
from rag.answer.assistant import Assistant
from rag.answer.running import Run
from rag.answer.trace import EvidenceFound, Finished, ModelLoading, TextAdded
from rag.chat_models.local_server import MOST_DEATHS, LocalServer, LocalTransport, server_of
from rag.chat_models.select import open_chat_model
from rag.chat_models.stopping import CURRENT, Stop, Stopped
from rag.errors import ChatModelError
from rag.models import fetch
from rag.settings import ChatModelName, Settings
from tests.conftest import HashEmbedder
from tests.isolation import MODELS, the_machine
from tests.paths import ROOT as HOUSE
from tests.rag.answer.quoted.test_selection import check

SMALL = "qwen2.5-coder-0.5b-instruct"
QUESTION = "LoRA 的秩怎么选？"


def until(happens: Callable[[], bool], *, seconds: float = 20, every: float = 0.02) -> None:
    deadline = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(every)


def lives(process_id: int) -> bool:
    """Whether the process runs; one that ended and was not waited for does not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(process_id)], capture_output=True, text=True, check=False)
    return state.stdout.strip() not in ("",) and not state.stdout.startswith("Z")


def say(server: LocalServer, text: str, *, tokens: int = 8) -> dict[str, Any]:
    body = {"model": "m", "max_tokens": tokens, "temperature": 0, "messages": [{"role": "user", "content": text}]}
    with httpx.Client(transport=LocalTransport(server), timeout=120) as client:
        answer: dict[str, Any] = client.post("http://local-model/v1/chat/completions", json=body).json()
        return answer


@pytest.fixture(scope="session")
def model() -> Path:
    with the_machine():
        return fetch(SMALL, MODELS)


@pytest.fixture(scope="module")
def server(model: Path) -> Iterator[LocalServer]:
    server = LocalServer(model)
    yield server
    server.stop()


@pytest.fixture
def local(
    server: LocalServer, model: Path, library: Settings, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> Assistant:
    """Answers through the small model."""
    monkeypatch.setattr(rag.chat_models.local, "LOCAL_MODEL", SMALL)
    monkeypatch.setattr("rag.chat_models.local_server.server_of", lambda model: server)
    settings = library.model_copy(update={"llm": ChatModelName.LOCAL, "models": model.parent})
    return Assistant(settings, hash_embedder, chat_model=open_chat_model(settings))


@pytest.mark.llm
def test_the_first_question_loads_the_model_and_an_answer_is_checked(
    local: Assistant, server: LocalServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert server.process_id is None
    events = list(local.stream(QUESTION))
    assert [type(event) for event in events[:2]] == [EvidenceFound, ModelLoading]
    last = events[-1]
    assert isinstance(last, Finished)
    check(last.answer, local.index)
    assert last.answer.llm == "local"  # whatever the small model said, it was asked
    assert server.ready
    again = list(local.stream(QUESTION))
    assert ModelLoading not in map(type, again)
    key = server.connection()[1]
    assert len(key) > 30
    assert key not in caplog.text
    processes = subprocess.run(["ps", "axeww"], capture_output=True, text=True, check=True).stdout
    assert "rag.chat_models.llama_process" in processes
    assert key not in processes
    assert key not in repr(server._child)


@pytest.mark.llm
def test_only_who_has_the_key_is_answered_and_only_on_loopback(server: LocalServer, model: Path) -> None:
    address, key = server.connection()
    assert httpx.URL(address).host == "127.0.0.1"
    body = {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "a"}]}
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        for method, path in (("POST", "/v1/chat/completions"), ("GET", "/slots"), ("GET", "/props")):
            assert httpx.request(method, address + path, headers=headers, json=body).status_code == 401, path
    assert LocalServer(model).process_id is None
    allowed = httpx.post(
        f"{address}/v1/chat/completions", headers={"Authorization": f"Bearer {key}"}, json=body, timeout=60
    )
    assert allowed.status_code == 200


@pytest.mark.llm
def test_what_was_read_before_is_not_read_again(server: LocalServer) -> None:
    system = "You answer from the material only. " * 8
    first, second = (say(server, f"{system} {name}", tokens=1) for name in ("LoRA?", "RoPE?"))
    assert second["timings"]["cache_n"] >= 60
    assert second["timings"]["cache_n"] > first["timings"]["cache_n"]


@pytest.mark.llm
@pytest.mark.parametrize("when", ["reading", "writing"])
def test_stopping_frees_the_model(
    when: str, local: Assistant, server: LocalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, key = server.connection()

    def busy() -> bool:
        slots = httpx.get(f"{address}/slots", headers={"Authorization": f"Bearer {key}"}, timeout=60).json()
        return bool(slots[0]["is_processing"])

    completed = threading.Event()
    monkeypatch.setattr(server, "answered", completed.set)
    run = Run(local.stream("ZeRO-2 和 ZeRO-3 差在哪？请详细解释"))
    events = iter(run)
    assert isinstance(next(events), EvidenceFound)
    until(busy)
    if when == "writing":
        assert isinstance(next(events), TextAdded | Finished)
    had_completed = completed.is_set()
    run.stop()
    assert run.join(60)
    assert completed.is_set() == had_completed  # the thread ended in the middle of the reply
    # Asked more often, the server would never come to look whether its readers are still there.
    until(lambda: not busy(), seconds=15, every=3)
    assert server.process_id is not None


@pytest.mark.llm
def test_a_crash_is_answered_with_quotes_and_the_next_question_by_the_model(
    local: Assistant, server: LocalServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.connection()
    first = server.process_id
    assert first is not None
    events = local.stream(QUESTION)
    assert isinstance(next(events), EvidenceFound)
    os.kill(first, signal.SIGSTOP)  # so that the question is under way when the native code "crashes"
    run = Run(events)
    time.sleep(0.5)
    os.kill(first, signal.SIGSEGV)
    os.kill(first, signal.SIGCONT)
    *_, last = run
    assert isinstance(last, Finished)
    assert last.answer.llm == "extractive"
    assert not last.answer.refused
    assert "in the middle of its answer" in caplog.text or "did not answer" in caplog.text
    until(lambda: server.process_id is None)
    assert local.ask(QUESTION).llm == "local"
    assert server.process_id not in (None, first)


@pytest.mark.llm
def test_one_that_died_while_idle_is_started_again(server: LocalServer) -> None:
    server.connection()
    first = server.process_id
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: server.process_id is None)
    assert say(server, "你好", tokens=2)["choices"]
    assert server.process_id not in (None, first)
    server.stop()
    assert server.process_id is None


PROGRAM = """
import sys, threading, time
from pathlib import Path
from rag.chat_models.local_server import server_of
from tests.paths import ROOT as HOUSE
server = server_of(Path(sys.argv[1]))
def ask():
    server.connection()
    print(server.process_id, flush=True)
if sys.argv[2] == "loading":
    threading.Thread(target=ask, daemon=True).start()
    while server.process_id is None:
        time.sleep(0.01)
    print(server.process_id, flush=True)
else:
    thread = threading.Thread(target=ask)  # it ends, as that of a question does, and the server stays
    thread.start()
    thread.join()
    time.sleep(0.5)
print(server.ready, flush=True)
if sys.argv[3] == "stays":
    time.sleep(600)
if sys.argv[3] == "fails":
    raise SystemError
"""


@pytest.mark.llm
@pytest.mark.parametrize(
    ("state", "ending"),
    [("ready", "stays"), ("loading", "stays"), ("ready", "ends"), ("ready", "fails"), ("loading", "ends")],
)
def test_it_is_gone_with_the_program(state: str, ending: str, model: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(model), state, ending],
        cwd=HOUSE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as program:
        assert program.stdout is not None
        child = int(program.stdout.readline())
        assert program.stdout.readline().strip() == str(state == "ready")
        if ending == "stays":
            assert lives(child)
            program.send_signal(signal.SIGKILL)
        program.wait(30)
        until(lambda: not lives(child), seconds=10)


@pytest.mark.llm
def test_a_file_that_is_no_model_is_an_error_not_a_crash(tmp_path: Path) -> None:
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF" + bytes(1_000))
    server = LocalServer(file)
    for _ in range(MOST_DEATHS):
        with pytest.raises(ChatModelError, match=r"broken\.gguf cannot be loaded") as caught:
            server.connection()
        assert "models verify" in caught.value.hint
        until(lambda: server.process_id is None)
    with pytest.raises(ChatModelError, match=f"ended {MOST_DEATHS} times"):
        server.connection()


@pytest.mark.llm
def test_stopping_does_not_wait_for_the_loading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    server = LocalServer(tmp_path / "any.gguf")
    monkeypatch.setattr(
        server, "_start", lambda: subprocess.Popen(silent, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    )
    stop = Stop()
    token = CURRENT.set(stop)
    try:
        with stop.calling(lambda: None):
            stop.ask()
        with pytest.raises(Stopped):  # not that it was not loaded in time
            server.connection()
        assert server._child is not None
        assert not server._child.settled.is_set()
    finally:
        CURRENT.reset(token)
        server.stop()


def test_one_server_for_all_who_ask(tmp_path: Path) -> None:
    assert server_of(tmp_path / "a.gguf") is server_of(tmp_path / "a.gguf")
    assert server_of(tmp_path / "a.gguf") is not server_of(tmp_path / "b.gguf")

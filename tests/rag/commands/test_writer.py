"""Who writes: what was set up on the page counts for the commands too, and what they are told wins."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import rag.chat_models.ollama
from rag.__main__ import main
from rag.chat_models.stored_endpoint import keep
from rag.commands.writer import only_chosen, open_assistant
from rag.server.mcp.library import Library
from rag.settings import ChatModelName, Settings
from tests.conftest import HashEmbedder
from tests.rag.chat_models.chat_server import ChatServer

QUESTION = "ZeRO-3 切分什么？"
KEY = "sk-typed-once-and-never-shown"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(reply="ZeRO-3 还切分模型参数。\n").running() as server:
        yield server


@pytest.fixture
def settings(
    library: Settings, hash_embedder: HashEmbedder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: ChatServer
) -> Settings:
    """Of somebody who set up a chat model on the page, and nothing else."""
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)
    monkeypatch.setattr(rag.chat_models.ollama, "OLLAMA_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("INTERVIEW_RAG_INDEX", str(library.index))
    monkeypatch.setenv("INTERVIEW_RAG_DATA", str(tmp_path / "user"))
    monkeypatch.setenv("INTERVIEW_RAG_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("INTERVIEW_RAG_LLM", raising=False)
    keep(tmp_path / "user", server.url, "big", KEY)
    places = {"llm": ChatModelName.AUTO, "data": tmp_path / "user", "models": tmp_path / "models"}
    return library.model_copy(update=places)


Ask = Callable[..., tuple[str, str]]


@pytest.fixture
def ask(settings: Settings, capsys: pytest.CaptureFixture[str]) -> Ask:
    """`rag ask`: who wrote, and what stderr says."""

    def ask(*options: str) -> tuple[str, str]:
        assert main(["ask", QUESTION, "--json", *options]) == 0
        captured = capsys.readouterr()
        assert KEY not in captured.out + captured.err
        return str(json.loads(captured.out)["llm"]), captured.err

    return ask


def test_what_was_set_up_on_the_page_writes_and_is_told(ask: Ask, server: ChatServer) -> None:
    llm, told = ask()
    assert llm == "endpoint"
    assert "big writes the answers" in told
    assert "set up on the page" in told
    assert set(server.keys) == {f"Bearer {KEY}"}
    assert ask("--llm", "endpoint")[0] == "endpoint"


def test_what_the_command_or_the_settings_say_wins(
    ask: Ask, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ask("--llm", "extractive") == ("extractive", "")
    with ChatServer(reply="ZeRO-3 还切分模型参数。\n").running() as other:
        monkeypatch.setenv("INTERVIEW_RAG_ENDPOINT_URL", other.url)
        monkeypatch.setenv("INTERVIEW_RAG_ENDPOINT_MODEL", "theirs")
        llm, told = ask()
        assert KEY not in str(other.keys)
    assert llm == "endpoint"
    assert told.startswith("theirs writes the answers")
    assert "page" not in told
    assert server.keys == []


def test_one_whose_key_is_gone_is_told_and_quotes_answer(ask: Ask, settings: Settings) -> None:
    for file in settings.data.glob("*.key"):
        file.unlink()
    assert ask()[0] == "extractive"


def test_mcp_asks_it_and_nobody_who_was_not_chosen(settings: Settings, tmp_path: Path) -> None:
    assert Library(only_chosen(settings), open_assistant).assistant().ask(QUESTION).llm == "endpoint"
    elsewhere = settings.model_copy(update={"data": tmp_path / "nothing set up"})
    assert only_chosen(elsewhere).llm is ChatModelName.EXTRACTIVE
    local = settings.model_copy(update={"llm": ChatModelName.LOCAL})
    assert only_chosen(local) is local

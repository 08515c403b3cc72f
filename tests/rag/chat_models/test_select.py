"""Which chat model writes."""

from pathlib import Path

import pytest

from rag.chat_models.select import leaves_the_machine, open_chat_model, resolve, usable_answerers
from rag.errors import ChatModelError
from rag.settings import ChatModelName, Settings
from tests.rag.chat_models.conftest import EMBEDS, LLAMA, REMOTE, Ollama


@pytest.mark.usefixtures("installed")
def test_auto_takes_what_is_configured_then_ollama_then_the_local_model(
    ollama: Ollama, fetched: Path, tmp_path: Path
) -> None:
    auto = Settings(llm=ChatModelName.AUTO, models=fetched)
    configured = auto.model_copy(update={"endpoint_url": "http://localhost:1/v1"})
    ollama.holds(*EMBEDS, REMOTE, LLAMA)
    assert resolve(configured) is ChatModelName.ENDPOINT
    assert resolve(auto) is ChatModelName.OLLAMA
    ollama.holds(*EMBEDS, REMOTE)  # nothing that chats on this machine
    assert resolve(auto) is ChatModelName.LOCAL
    assert resolve(auto.model_copy(update={"models": tmp_path / "empty"})) is ChatModelName.EXTRACTIVE


@pytest.mark.usefixtures("no_ollama")
def test_auto_without_anything_is_extractive(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag.chat_models.local_server.is_installed", lambda: False)
    settings = Settings(llm=ChatModelName.AUTO, models=fetched)
    assert resolve(settings) is ChatModelName.EXTRACTIVE
    assert open_chat_model(settings) is None


@pytest.mark.parametrize("body", [b"", b"[]", b'{"models": [{}]}', b'{"models": null}', b"\xff", b"<html>"])
def test_whatever_else_listens_there_is_no_ollama(body: bytes, ollama: Ollama, tmp_path: Path) -> None:
    ollama.body = body
    settings = Settings(llm=ChatModelName.AUTO, models=tmp_path)
    assert resolve(settings) is ChatModelName.EXTRACTIVE
    with pytest.raises(ChatModelError):
        open_chat_model(settings.model_copy(update={"llm": ChatModelName.OLLAMA}))


def test_a_slow_ollama_keeps_nobody_waiting(ollama: Ollama, tmp_path: Path) -> None:
    ollama.holds(LLAMA)
    ollama.may_answer.clear()  # waited for, it would be chosen
    assert resolve(Settings(llm=ChatModelName.AUTO, models=tmp_path)) is ChatModelName.EXTRACTIVE


@pytest.mark.parametrize(
    ("url", "leaves"),
    [
        ("https://api.example/v1", True),
        ("http://localhost.example/v1", True),
        ("http://localhost:8000/v1", False),
        ("http://127.0.0.1:8000/v1", False),
        ("http://[::1]:8000/v1", False),
    ],
)
def test_what_leaves_the_machine(url: str, leaves: bool) -> None:
    settings = Settings(llm=ChatModelName.ENDPOINT, endpoint_url=url)
    assert leaves_the_machine(settings) is leaves
    assert not leaves_the_machine(settings.model_copy(update={"llm": ChatModelName.EXTRACTIVE}))


def test_everyone_who_could_answer(ollama: Ollama, fetched: Path, installed: None) -> None:
    settings = Settings(models=fetched, llm=ChatModelName.EXTRACTIVE)
    assert usable_answerers(settings) == (ChatModelName.EXTRACTIVE, ChatModelName.LOCAL)
    ollama.holds(LLAMA)
    configured = settings.model_copy(update={"endpoint_url": "http://127.0.0.1:9/v1", "endpoint_model": ""})
    assert usable_answerers(configured) == (ChatModelName.EXTRACTIVE, ChatModelName.OLLAMA, ChatModelName.LOCAL)
    named = configured.model_copy(update={"endpoint_model": LLAMA["name"]})
    assert ChatModelName.ENDPOINT in usable_answerers(named)

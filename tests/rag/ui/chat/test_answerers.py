"""Another answerer writes over the same index, and only one that can be used."""

import pytest

import rag.chat_models.ollama
from rag.answer.assistant import Assistant
from rag.chat_models.select import Answerers
from rag.settings import ChatModelName
from rag.ui.chat import exchange as chat
from rag.ui.chat.handlers import render_writer
from rag.ui.session.session import Session
from rag.ui.texts import TEXTS, Language
from tests.conftest import HashEmbedder
from tests.rag.chat_models.chat_server import ChatServer


def test_a_question_can_be_answered_by_another(
    assistant: Assistant, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rag.chat_models.ollama, "OLLAMA_URL", "http://127.0.0.1:9")
    with ChatServer(reply="ZeRO-3 还切分模型参数。\n").running() as server:
        settings = assistant.settings.model_copy(update={"endpoint_url": server.url, "endpoint_model": "test"})
        answerers = Answerers(lambda: settings)
        assert "endpoint" in answerers.usable()
        session = Session()
        asked = "ZeRO-3 切分什么？"
        named = answerers.named("endpoint")
        list(chat.answer_after(Assistant(settings, hash_embedder), session, asked, None, llm=named))
        (exchange,) = session.exchanges
        assert exchange.answer is not None
        assert exchange.answer.llm == "endpoint"
        assert server.requests


def test_who_is_unknown_or_not_there_is_the_usual_one(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rag.chat_models.ollama, "OLLAMA_URL", "http://127.0.0.1:9")
    answerers = Answerers(lambda: assistant.settings)
    assert [answerers.named(name) for name in ("", "endpoint", "ollama", "../x")] == [None] * 4
    session = Session()
    list(chat.answer_after(assistant, session, "ZeRO-3 切分什么？", None, llm=ChatModelName.ENDPOINT))
    answer = session.exchanges[0].answer
    assert answer is not None
    assert answer.llm == "extractive"


def test_the_menu_names_who_can_write_and_the_way_to_add_a_model(assistant: Assistant) -> None:
    texts = TEXTS[Language.EN]
    names = [("extractive", "Quotes"), ("endpoint", "<b> · host")]
    html = render_writer(assistant, names, texts, may_add=True)
    assert 'class="do-write-0-extractive" aria-pressed="true">Quotes<' in html
    assert 'class="do-write-0-endpoint" aria-pressed="false">&lt;b&gt; · host<' in html
    assert texts.add_model not in html  # one was added
    assert texts.add_model in render_writer(assistant, names[:1], texts, may_add=True)
    assert texts.add_model not in render_writer(assistant, names[:1], texts)


def test_other_settings_count_at_once(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rag.chat_models.ollama, "OLLAMA_URL", "http://127.0.0.1:9")
    answerers = Answerers(lambda: assistant.settings)
    assert answerers.named("endpoint") is None
    endpoint = {"endpoint_url": "http://127.0.0.1:9/v1", "endpoint_model": "m"}
    assistant.write_with(assistant.settings.model_copy(update=endpoint), None)
    assert answerers.named("endpoint") == "endpoint"

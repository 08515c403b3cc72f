"""The settings, without a browser: what is taken, what is told, and what runs where."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from pydantic import ValidationError

from rag.answer.assistant import Assistant
from rag.answer.choices import Caution, Choices, StyleName
from rag.chat_models.model import ChatModel
from rag.errors import ChatModelError
from rag.settings import ChatModelName, Settings
from rag.ui.preferences.handlers import PreferencesComponents, PreferencesHandlers, take
from rag.ui.preferences.models import Answerer, answerer, failure, places, problem_of, states_html, try_model
from rag.ui.preferences.stored import from_store, limits, to_store
from rag.ui.session.session import Session
from rag.ui.texts import PREFERENCES_TEXTS, Language
from tests.rag.ui.rooms import built, named


def test_a_reader_whose_model_is_gone_is_answered_by_the_usual_one(assistant: Assistant) -> None:
    """It was there when it was chosen, and somebody took it away."""
    session = Session(preferences=Choices(llm=ChatModelName.ENDPOINT))
    parts = named(PreferencesComponents)
    handlers = PreferencesHandlers(assistant, parts, may_change=False)
    for updates in (handlers.speak(session), handlers.choose(session, "endpoint", "deep", "bold", True, 10)):
        assert PREFERENCES_TEXTS[Language.ZH].answers_quotes in updates[parts.where]


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("may_change", [True, False])
def test_who_cannot_write_is_told_with_the_way_out(
    assistant: Assistant, language: Language, may_change: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts, usable = PREFERENCES_TEXTS[language], (ChatModelName.EXTRACTIVE, ChatModelName.OLLAMA)
    monkeypatch.setattr("rag.ui.preferences.models.is_installed", lambda: True)
    told = states_html(assistant.settings, usable, texts, may_change=may_change)
    assert 'data-unusable="local endpoint"' in told
    assert told.count('class="unusable"') == 2
    assert (texts.way_endpoint in told) == (texts.way_local in told) == may_change
    assert (texts.way_owner in told) != may_change
    monkeypatch.setattr("rag.ui.preferences.models.is_installed", lambda: False)
    told = states_html(assistant.settings, usable, texts, may_change=may_change)
    assert texts.way_package.format(command="make llm") in told


def test_choices_survive_the_browser() -> None:
    chosen = Choices(ChatModelName.LOCAL, StyleName.DEEP, Caution.BOLD, only_supported=True, top_k=7)
    stored = json.loads(json.dumps(to_store(chosen, Language.EN)))
    assert from_store(stored) == (chosen, Language.EN)
    assert from_store(to_store(Choices(), None)) == (Choices(), None)


@pytest.mark.parametrize(
    "stored",
    [None, "x", [], {}, {"llm": "evil", "style": 3, "caution": None, "top_k": 10_000, "language": "<b>"},
     {"top_k": True, "only_supported": "yes"}, {"top_k": "7"}, {"top_k": float("nan")}],
)  # fmt: skip
def test_what_is_no_choice_is_not_chosen(stored: object) -> None:
    assert from_store(stored) == (Choices(), None)


def test_every_value_of_a_setting_is_taken_by_its_control(assistant: Assistant) -> None:
    """Whatever the settings file may say, the page that opens with it works."""
    values = {"llm": list(ChatModelName), "top_k": range(limits("top_k")[0], limits("top_k")[1] + 1)}
    for first in (1, 100):
        settings = assistant.settings.model_copy(update={"top_k": first})
        blocks = built(Assistant(settings, assistant.embedder)).blocks.values()
        controls = {str(getattr(block, "elem_id", "")).replace("-", "_"): block for block in blocks}
        assert {name for name in Settings.model_fields if f"preferences_{name}" in controls} == set(values)
        assert controls["preferences_top_k"].value == first
        for name, allowed in values.items():
            for value in allowed:
                assert getattr(Settings.model_validate({name: value}), name) == value
                assert controls[f"preferences_{name}"].preprocess(value) == value
                assert name != "top_k" or from_store({name: value})[0].top_k == value


@pytest.mark.parametrize("setting", ["top_k", "passage_tokens", "port"])
def test_limits_are_those_of_the_setting(setting: str) -> None:
    least, greatest = limits(setting)
    for value in (least, greatest):
        assert getattr(Settings.model_validate({setting: value}), setting) == value
    for value in (least - 1, greatest + 1):
        with pytest.raises(ValidationError):
            Settings.model_validate({setting: value})


def test_a_model_that_cannot_be_used_says_why(assistant: Assistant) -> None:
    problem = problem_of(assistant, ChatModelName.ENDPOINT)
    assert problem is not None
    assert "endpoint_url" in problem.message
    assert problem.hint
    assert problem_of(assistant, None) is None
    assert problem_of(assistant, ChatModelName.EXTRACTIVE) is None
    session = Session()
    take(assistant, session, {"llm": "endpoint", "style": "deep"})
    assert session.preferences == Choices(style=StyleName.DEEP)


def test_what_runs_where(assistant: Assistant) -> None:
    texts = PREFERENCES_TEXTS[Language.EN]
    assert answerer(assistant) == Answerer("")
    assert (texts.part_answers, texts.answers_quotes) in places(assistant, texts)
    settings = assistant.settings.model_copy(
        update={"endpoint_url": "https://models.example/v1", "endpoint_model": "big", "llm": ChatModelName.ENDPOINT}
    )
    away = Assistant(settings, assistant.embedder).choosing(Choices(llm=ChatModelName.ENDPOINT))
    assert answerer(away) == Answerer("big", "models.example")
    assert any("models.example" in place for _, place in places(away, texts))


def model_of(assistant: Assistant) -> ChatModel:
    model = assistant.resources.chat_model
    assert model is not None
    return model


def test_the_endpoint_is_tried(assistant: Assistant) -> None:
    settings = assistant.settings.model_copy(
        update={"endpoint_url": "http://127.0.0.1:9/v1", "endpoint_model": "m", "endpoint_timeout": 5.0}
    )
    broken = Assistant(settings, assistant.embedder).choosing(Choices(llm=ChatModelName.ENDPOINT))
    with pytest.raises(ChatModelError, match="onnect") as raised:
        try_model(model_of(broken))
    for language in Language:
        texts = PREFERENCES_TEXTS[language]
        assert failure(raised.value, texts) == texts.test_connection


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, "key"),
        (403, "forbidden"),
        (404, "not_found"),
        (429, "busy"),
        (500, "broken"),
        (200, "other"),
        (302, "redirect"),
    ],
)
def test_why_an_endpoint_fails_is_told_in_words(assistant: Assistant, status: int, kind: str) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1"
        settings = assistant.settings.model_copy(update={"endpoint_url": address, "endpoint_model": "m"})
        with pytest.raises(ChatModelError) as raised:
            try_model(model_of(Assistant(settings, assistant.embedder).choosing(Choices(llm=ChatModelName.ENDPOINT))))
        server.shutdown()
    for language in Language:
        texts = PREFERENCES_TEXTS[language]
        assert failure(raised.value, texts) == getattr(texts, f"test_{kind}").format(code=status)

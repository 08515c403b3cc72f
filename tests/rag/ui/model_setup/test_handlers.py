"""Setting up a chat model without a browser: what is told, what is kept, who may, and that the key stays secret."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import rag.chat_models.ollama
from ingest.library import Library
from rag.answer.assistant import Assistant
from rag.chat_models.stored_endpoint import kept_key, open_kept, read_kept
from rag.models import ModelState
from rag.settings import ChatModelName, Settings
from rag.ui.app.page import Rooms
from rag.ui.model_setup import handlers as module
from rag.ui.model_setup.download import DownloadStatus
from rag.ui.model_setup.handlers import ModelSetupComponents, ModelSetupHandlers
from rag.ui.model_setup.setup import OTHER, PRESETS, ModelSetup, preset_of
from rag.ui.session.part import UNCHANGED
from rag.ui.session.session import Session
from rag.ui.texts import MODEL_SETUP_TEXTS, PREFERENCES_TEXTS, Language
from tests.conftest import HashEmbedder
from tests.rag.chat_models.chat_server import ChatServer
from tests.rag.ui.rooms import built, named

QUESTION = "ZeRO-3 切分什么？"
KEY = "sk-typed-once-and-never-shown"
PARTS = named(ModelSetupComponents)
ZH, PREFERENCES = MODEL_SETUP_TEXTS[Language.ZH], PREFERENCES_TEXTS[Language.ZH]


@pytest.fixture
def stated(library: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(rag.chat_models.ollama, "OLLAMA_URL", "http://127.0.0.1:9")
    places = {"data": tmp_path / "user", "models": tmp_path / "models", "library": tmp_path / "own"}
    return library.model_copy(update={"llm": ChatModelName.AUTO, **places})


@pytest.fixture
def setup(stated: Settings, hash_embedder: HashEmbedder) -> ModelSetup:
    return ModelSetup(Assistant(stated, hash_embedder), stated)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(reply="ZeRO-3 还切分模型参数。\n", models=("small", "big")).running() as server:
        yield server


def last(steps: Iterator[Any]) -> Any:
    return list(steps)[-1]


def test_from_the_address_to_an_answer(setup: ModelSetup, server: ChatServer) -> None:
    handlers, session = ModelSetupHandlers(setup, PARTS), Session()
    found = last(handlers.look(session, server.url, KEY))
    assert ZH.found.format(count=2) in found[PARTS.notice]
    assert (found[PARTS.model]["choices"], found[PARTS.model]["value"]) == (["big", "small"], None)
    assert ZH.works.format(model="big", seconds="0")[:8] in last(handlers.try_it(session, server.url, KEY, "big"))
    used = handlers.use(session, f"{server.url}/", KEY, "big")
    assert ZH.used.format(model="big") in used[PARTS.notice]
    assert ZH.with_key in used[PARTS.status]
    assert used[PARTS.key]["value"] == ""
    assert used[PARTS.storage]["llm"] == "auto"
    assert KEY not in json.dumps([used, handlers.speak(session), handlers.open(session, "")], default=str)
    assert setup.assistant.ask(QUESTION).llm == "endpoint"
    assert set(server.keys) == {f"Bearer {KEY}"}


def test_it_is_still_there_after_a_restart(
    setup: ModelSetup, stated: Settings, server: ChatServer, hash_embedder: HashEmbedder
) -> None:
    setup.use(server.url, "big", KEY)
    settings, chat_model = open_kept(stated)
    again = Assistant(settings, hash_embedder, chat_model=chat_model)
    assert again.ask(QUESTION).llm == "endpoint"
    opened = ModelSetupHandlers(ModelSetup(again, stated), PARTS).open(Session(), "")
    assert "big" in opened[PARTS.status]
    assert (opened[PARTS.preset], opened[PARTS.url]) == (OTHER, server.url)
    assert opened[PARTS.model]["value"] == "big"


def test_a_key_that_is_gone_keeps_nobody_from_the_page(
    setup: ModelSetup, stated: Settings, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    setup.use(server.url, "big", KEY)
    for file in stated.data.glob("*.key"):
        file.chmod(0o644)
    assert open_kept(stated) == (stated, None)
    assert "others may read" in caplog.text


def test_the_kept_key_is_for_its_own_host(setup: ModelSetup, server: ChatServer) -> None:
    handlers, session = ModelSetupHandlers(setup, PARTS), Session()
    setup.use(server.url, "big", KEY)
    with ChatServer(models=("stolen",)).running() as thief:
        last(handlers.look(session, thief.url, ""))
        last(handlers.try_it(session, thief.url, "", "big"))
        handlers.use(session, thief.url, "", "big")
        assert KEY not in str(thief.keys)
    assert kept_key(setup.stated) == ""
    setup.use(server.url, "big", KEY)
    server.keys.clear()
    last(handlers.look(session, server.url, ""))  # another path of the same host may have it
    handlers.use(session, server.url, "", "small")
    assert server.keys == [f"Bearer {KEY}"]
    assert kept_key(setup.stated) == KEY


def test_the_key_and_all_of_it_can_be_forgotten(setup: ModelSetup, server: ChatServer) -> None:
    handlers, session = ModelSetupHandlers(setup, PARTS), Session()
    setup.use(server.url, "big", KEY)
    updates = handlers.forget_key(session, server.url)
    assert ZH.key_forgotten in updates[PARTS.notice]
    assert ZH.without_key in updates[PARTS.status]
    assert updates[PARTS.key]["placeholder"] == ZH.key_needed
    assert setup.assistant.llm == "endpoint"
    updates = handlers.forget(session, server.url)
    assert ZH.forgotten in updates[PARTS.notice]
    assert ZH.nothing in updates[PARTS.status]
    assert setup.assistant.llm == "extractive"
    assert list(setup.stated.data.glob("*.key")) == []


@pytest.mark.parametrize(
    ("status", "trouble"),
    [(401, "key"), (403, "forbidden"), (404, "not_found"), (429, "busy"), (500, "broken"), (302, "redirect")],
)
def test_why_it_fails_is_told_in_words_without_the_key(
    setup: ModelSetup, server: ChatServer, status: int, trouble: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.status, server.echo_key = status, True
    handlers = ModelSetupHandlers(setup, PARTS)
    for language in Language:
        session = Session(language=language)
        why = getattr(PREFERENCES_TEXTS[language], f"test_{trouble}").format(code=status)
        looked = last(handlers.look(session, server.url, KEY))[PARTS.notice]
        tried = last(handlers.try_it(session, server.url, KEY, "big"))
        for told in (looked, tried):
            assert why in told
            assert KEY not in told
    assert KEY not in caplog.text


def test_what_does_not_answer_as_it_should_is_told_apart(setup: ModelSetup, server: ChatServer) -> None:
    handlers, session = ModelSetupHandlers(setup, PARTS), Session()
    tls = server.url.replace("http:", "https:")
    for url, why in (
        ("http://127.0.0.1:9/v1", PREFERENCES.test_connection),
        ("http://nothing.invalid/v1", PREFERENCES.test_host),
        (tls, PREFERENCES.test_tls),
    ):
        assert why in last(handlers.look(session, url, ""))[PARTS.notice]
        assert why in last(handlers.try_it(session, url, "", "big"))
    server.raw_list = b"<html>hello</html>"
    assert PREFERENCES.test_not_openai in last(handlers.look(session, server.url, ""))[PARTS.notice]


def test_a_slow_model_is_given_up(setup: ModelSetup, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_TRIAL", 0.5)
    server.wait = 1.5
    told = last(ModelSetupHandlers(setup, PARTS).try_it(Session(), server.url, "", "big"))
    assert PREFERENCES.test_timeout in told


@pytest.mark.parametrize(
    ("url", "key", "model", "why"),
    [
        ("file:///etc/passwd", "", "m", "address_first"), ("http://u:p@h/v1", "", "m", "address_first"),
        ("", "", "m", "address_first"), ("http://127.0.0.1:9/v1", "two words", "m", "key_bad"),
        ("http://127.0.0.1:9/v1", "", "", "model_first"), ("http://127.0.0.1:9/v1", "", None, "model_first"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_not_kept(setup: ModelSetup, url: str, key: str, model: str | None, why: str) -> None:
    handlers = ModelSetupHandlers(setup, PARTS)
    assert getattr(ZH, why) in handlers.use(Session(), url, key, model)[PARTS.notice]
    assert getattr(ZH, why) in last(handlers.try_it(Session(), url, key, model))
    assert read_kept(setup.stated.data) is None


def test_what_the_environment_says_wins_and_is_named(
    stated: Settings, hash_embedder: HashEmbedder, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INTERVIEW_RAG_ENDPOINT_URL", server.url)
    fixed = stated.model_copy(update={"endpoint_url": server.url, "endpoint_model": "stated"})
    setup = ModelSetup(Assistant(fixed, hash_embedder), fixed)
    handlers, session = ModelSetupHandlers(setup, PARTS), Session()
    assert "INTERVIEW_RAG_ENDPOINT_URL" in handlers.status(session)
    for updates in (handlers.use(session, "http://127.0.0.1:9/v1", KEY, "other"), handlers.forget(session, "")):
        assert "INTERVIEW_RAG_ENDPOINT_URL" in updates[PARTS.notice]
    assert read_kept(stated.data) is None


def test_who_writes_by_setting_stays_and_the_reader_who_set_one_up_gets_it(
    stated: Settings, hash_embedder: HashEmbedder, server: ChatServer
) -> None:
    fixed = stated.model_copy(update={"llm": ChatModelName.EXTRACTIVE})
    setup = ModelSetup(Assistant(fixed, hash_embedder), fixed)
    session = Session()
    used = ModelSetupHandlers(setup, PARTS).use(session, server.url, "", "big")
    assert re.search("(llm|INTERVIEW_RAG_LLM) = extractive", used[PARTS.status])
    assert used[PARTS.storage]["llm"] == "endpoint"
    assert setup.assistant.llm == "extractive"
    assert setup.assistant.choosing(session.preferences).ask(QUESTION).llm == "endpoint"


def test_an_ollama_that_is_set_and_does_not_answer_keeps_nothing_from_being_set_up(
    stated: Settings, hash_embedder: HashEmbedder, server: ChatServer
) -> None:
    fixed = stated.model_copy(update={"llm": ChatModelName.OLLAMA})
    setup = ModelSetup(Assistant(fixed, hash_embedder), fixed)
    session = Session()
    ModelSetupHandlers(setup, PARTS).use(session, server.url, "", "big")
    assert setup.assistant.choosing(session.preferences).model_name == "big"


@pytest.mark.parametrize("may_change", [True, False])
def test_only_who_may_change_documents_is_given_a_way_to_set_one_up(setup: ModelSetup, may_change: bool) -> None:
    library = Library(setup.stated, setup.assistant.embedder, may_change=may_change)
    page = built(setup.assistant, Rooms(library=library, setup=setup))
    ids = {str(block.elem_id) for block in page.blocks.values() if getattr(block, "elem_id", None)}
    assert ("model-key" in ids) == ("model-use" in ids) == ("model-download" in ids) == may_change
    assert "preferences-states" in ids
    called = {function.fn.__qualname__ for function in page.fns.values() if function.fn is not None}
    theirs = {name for name in called if name.startswith("ModelSetupHandlers.forget_key")}
    assert bool(theirs) == may_change


def test_presets_fill_in_addresses_that_are_none_of_ours(setup: ModelSetup) -> None:
    handlers = ModelSetupHandlers(setup, PARTS)
    for name, preset in PRESETS.items():
        before = PRESETS["vllm" if name != "vllm" else "qwen"].url
        chosen = handlers.choose_preset(Session(), name, before)
        assert (chosen[PARTS.url], chosen[PARTS.key]["value"]) == (preset.url, "")
        assert preset_of(chosen[PARTS.url]) == name
    assert handlers.choose_preset(Session(), "no such", PRESETS["qwen"].url)[PARTS.url] == ""


@pytest.mark.parametrize("entered", ["", "https://my.example/v1"])
def test_without_an_address_to_put_in_what_is_typed_stays(setup: ModelSetup, entered: str) -> None:
    assert ModelSetupHandlers(setup, PARTS).choose_preset(Session(), OTHER, entered) == UNCHANGED


def test_an_address_without_encryption_is_warned_of(setup: ModelSetup) -> None:
    assert ZH.plain_http in module._warning("http://192.168.1.2/v1", ZH)
    for url in ("https://api.example.com/v1", "http://localhost:8000/v1"):
        assert module._warning(url, ZH) == ""


class TestLocalModel:
    def test_size_and_licence_are_said_before_anything_is_fetched(
        self, setup: ModelSetup, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "is_installed", lambda: True)
        shown = ModelSetupHandlers(setup, PARTS).local(Session())
        assert "1,117 MB" in shown[PARTS.local]
        assert "Apache-2.0" in shown[PARTS.local]
        assert (shown[PARTS.download]["visible"], shown[PARTS.download]["interactive"]) == (True, True)
        assert (shown[PARTS.cancel]["visible"], shown[PARTS.arrived]) == (False, False)
        assert not shown[PARTS.clock].active

    def test_without_the_package_it_is_greyed_with_the_command(
        self, setup: ModelSetup, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "is_installed", lambda: False)
        handlers = ModelSetupHandlers(setup, PARTS)
        shown = handlers.start(Session())
        assert "make llm" in shown[PARTS.local]
        assert not shown[PARTS.download]["interactive"]
        assert not setup.download.status().under_way

    def test_without_room_on_the_disk_it_is_greyed_with_what_lacks(
        self, setup: ModelSetup, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "is_installed", lambda: True)
        monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 1_000_000})())
        shown = ModelSetupHandlers(setup, PARTS).local(Session())
        assert "1,340 MB" in shown[PARTS.local]
        assert not shown[PARTS.download]["interactive"]

    def test_how_far_it_is(self, setup: ModelSetup, monkeypatch: pytest.MonkeyPatch) -> None:
        status = DownloadStatus(ModelState.INTERRUPTED, under_way=True, done=500_000_000, total=1_000_000_000)
        monkeypatch.setattr(setup.download, "status", lambda: status)
        shown = ModelSetupHandlers(setup, PARTS).local(Session())
        assert ZH.local_running.format(done="500 MB", total="1,000 MB") in shown[PARTS.local]
        assert '<progress value="500000000" max="1000000000"' in shown[PARTS.local]
        assert (shown[PARTS.download]["visible"], shown[PARTS.cancel]["visible"]) == (False, True)
        assert shown[PARTS.clock].active

    def test_once_it_is_there_it_writes(
        self, setup: ModelSetup, stated: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stated.models.mkdir()
        (stated.models / f"{setup.download.name}.gguf").write_bytes(b"GGUF")
        monkeypatch.setattr("rag.chat_models.local_server.is_installed", lambda: True)
        setup.refresh()
        assert setup.assistant.llm == "local"
        shown = ModelSetupHandlers(setup, PARTS).local(Session())
        assert ZH.local_present in shown[PARTS.local]
        assert shown[PARTS.arrived]
        assert not shown[PARTS.download]["visible"]

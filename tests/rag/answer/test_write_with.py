"""Another chat model takes over while questions are answered, without a restart."""

import threading

import pytest

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices, StyleName
from rag.answer.trace import EvidenceFound, Finished
from rag.chat_models.select import open_chat_model
from rag.errors import SettingsError
from rag.settings import ChatModelName, Settings
from tests.rag.chat_models.chat_server import ChatServer

QUESTION = "ZeRO-3 切分什么？"
REPLY = "ZeRO-3 还切分模型参数。\n"


def set_up(settings: Settings, server: ChatServer, model: str = "m") -> Settings:
    return settings.model_copy(update={"llm": ChatModelName.AUTO, "endpoint_url": server.url, "endpoint_model": model})


def test_the_next_question_is_answered_by_the_new_model_whoever_asks(assistant: Assistant) -> None:
    chosen = assistant.choosing(Choices(style=StyleName.SHORT))
    stated = assistant.settings
    with ChatServer(reply=REPLY).running() as server:
        settings = set_up(stated, server)
        assistant.write_with(settings, open_chat_model(settings))
        assert assistant.ask(QUESTION).llm == "endpoint"
        assert assistant.choosing(Choices(style=StyleName.SHORT)).ask(QUESTION).llm == "endpoint"
        assert chosen.ask(QUESTION).llm == "extractive"  # it began before
        assistant.write_with(stated, None)
        assert assistant.ask(QUESTION).llm == "extractive"
        with pytest.raises(SettingsError):
            assistant.choosing(Choices(llm=ChatModelName.ENDPOINT))


def test_a_model_that_a_reader_chose_is_opened_anew(assistant: Assistant) -> None:
    with ChatServer(reply=REPLY).running() as server:
        for name in ("one", "two"):
            assistant.write_with(set_up(assistant.settings, server, name), None)
            assert assistant.llm == "extractive"
            assert assistant.choosing(Choices(llm=ChatModelName.ENDPOINT)).model_name == name


def test_an_answer_under_way_keeps_the_model_that_it_began_with(assistant: Assistant) -> None:
    with ChatServer(reply=REPLY).running() as server:
        settings = set_up(assistant.settings, server)
        events = assistant.stream(QUESTION)
        assert isinstance(next(events), EvidenceFound)
        assistant.write_with(settings, open_chat_model(settings))
        finished = [event.answer for event in events if isinstance(event, Finished)]
        assert [answer.llm for answer in finished] == ["extractive"]
        assert server.requests == []


def test_nobody_sees_half_of_a_switch(assistant: Assistant) -> None:
    """The model that is used is always the one that the settings beside it name."""
    with ChatServer().running() as server:
        sets = [set_up(assistant.settings, server, name) for name in ("one", "two")]
        pairs = [(settings, open_chat_model(settings)) for settings in sets]
        assistant.write_with(*pairs[0])
        end, wrong = threading.Event(), []

        def look() -> None:
            while not end.is_set():
                resources = assistant.resources
                chosen = assistant.choosing(Choices(style=StyleName.DEEP))
                for settings, model in (
                    (resources.settings, resources.chat_model),
                    (chosen.settings, chosen.resources.chat_model),
                ):
                    if model is None or settings.endpoint_model != model.model_name:
                        wrong.append(settings.endpoint_model)

        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        for number in range(300):
            assistant.write_with(*pairs[number % 2])
        end.set()
        for thread in threads:
            thread.join()
        assert wrong == []

"""Which model of a running Ollama is asked."""

import pytest

from rag.chat_models.select import open_chat_model
from rag.errors import ChatModelError
from rag.settings import ChatModelName, Settings
from tests.rag.chat_models.conftest import EMBEDS, LLAMA, REMOTE, Ollama


def test_ollama_takes_the_model_that_is_named_or_its_first(ollama: Ollama) -> None:
    ollama.holds(*EMBEDS, LLAMA, {"name": "qwen:7b", "details": {"family": "qwen2"}}, REMOTE)
    settings = Settings(llm=ChatModelName.OLLAMA)
    for named, asked in (("", "llama3:latest"), ("llama3", "llama3:latest"), ("qwen:7b", "qwen:7b")):
        model = open_chat_model(settings.model_copy(update={"endpoint_model": named}))
        assert model is not None
        assert model.model_name == asked
    for named in ("big:cloud", "nothing"):
        with pytest.raises(ChatModelError, match=f"no chat model '{named}' on this machine") as caught:
            open_chat_model(settings.model_copy(update={"endpoint_model": named}))
        assert "llama3:latest, qwen:7b" in caught.value.hint


@pytest.mark.usefixtures("no_ollama")
def test_an_ollama_that_does_not_run_says_how_to_start_it() -> None:
    with pytest.raises(ChatModelError, match="no Ollama answers") as caught:
        open_chat_model(Settings(llm=ChatModelName.OLLAMA))
    assert "ollama serve" in caught.value.hint


def test_a_model_of_an_endpoint_keeps_nobody_from_ollama(ollama: Ollama) -> None:
    """With both there, `endpoint_model` is the endpoint's, and a reader may choose Ollama all the same."""
    ollama.holds(LLAMA)
    both = Settings(llm=ChatModelName.OLLAMA, endpoint_url="https://api.example.com/v1", endpoint_model="deepseek-chat")
    model = open_chat_model(both)
    assert model is not None
    assert model.model_name == "llama3:latest"

"""An assistant whose answers a chat model of the tests writes, and what it is asked."""

from typing import Any

from rag.answer.assistant import Assistant
from rag.chat_models.select import open_chat_model
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.chat_models.chat_server import ChatServer

QUESTION = "LoRA 为什么能省显存？"


SUPPORTED = "LoRA 只训练两个低秩矩阵。"


UNSUPPORTED = "LoRA 由 OpenAI 在 2015 年提出。"


def connected(server: ChatServer, library: Settings, embedder: HashEmbedder, **more: Any) -> Assistant:
    settings = Settings.model_validate(
        library.model_dump()
        | {"llm": "endpoint", "endpoint_url": server.url, "endpoint_model": "test", "endpoint_key": "sk-test"}
        | more
    )
    return Assistant(settings, embedder, chat_model=open_chat_model(settings))

"""Fixtures of the tests of answers that a chat model writes."""

from collections.abc import Iterator

import pytest

from rag.answer.assistant import Assistant
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.answer.written.asked import connected
from tests.rag.chat_models.chat_server import ChatServer


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer().running() as server:
        yield server


@pytest.fixture
def chat(server: ChatServer, library: Settings, hash_embedder: HashEmbedder) -> Assistant:
    return connected(server, library, hash_embedder)

"""An assistant whose chat model calls tools, over a real server on a loopback port."""

from collections.abc import Iterator

import pytest

from rag.answer.assistant import Assistant
from rag.settings import AgentMode, Settings
from tests.conftest import HashEmbedder
from tests.rag.answer.agent.tool_server import ToolServer
from tests.rag.answer.written.asked import connected


@pytest.fixture
def server() -> Iterator[ToolServer]:
    server = ToolServer()
    with server.running():
        yield server


@pytest.fixture
def agent(server: ToolServer, library: Settings, hash_embedder: HashEmbedder) -> Assistant:
    return connected(server, library.model_copy(update={"agent": AgentMode.AUTO}), hash_embedder)

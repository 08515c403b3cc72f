"""An MCP server over small documents, with the fast embedder."""

from pathlib import Path

import pytest
from mcp.server import MCPServer

from ingest.sync import sync
from rag.server.mcp.library import Library
from rag.server.mcp.server import build_server
from tests.conftest import HashEmbedder
from tests.rag.library import library_settings
from tests.rag.server.mcp.documents import ALL


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory, hash_embedder: HashEmbedder) -> Path:
    """A folder with `documents/` and `index/`. Shared: tests only read it."""
    folder = tmp_path_factory.mktemp("served")
    for name, text in ALL.items():
        file = folder / "documents" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    sync(library_settings(folder), lambda: hash_embedder, [folder / "documents"], identity=hash_embedder.identity)
    return folder


@pytest.fixture
def library(served: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch) -> Library:
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)
    return Library(library_settings(served))


@pytest.fixture
def server(library: Library) -> MCPServer:
    return build_server(library)

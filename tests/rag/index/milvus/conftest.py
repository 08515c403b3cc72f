"""A milvus-lite server for all tests of this folder, and a library in it under a name of its own for each."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ingest.sync import Report, sync
from rag.index.generation import DiskIndex, open_index
from rag.index.milvus.connection import Connection
from rag.index.milvus.store import MilvusIndex, MilvusStore
from rag.settings import Settings, StoreName
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, library_settings
from tools.milvus_server import MilvusServer


@pytest.fixture(scope="session")
def milvus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MilvusServer]:
    pytest.importorskip("milvus_lite", reason="needs the extra `milvus` and milvus-lite")
    server = MilvusServer(tmp_path_factory.mktemp("milvus") / "data")
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def short_pauses(milvus: MilvusServer) -> Iterator[None]:
    """pymilvus waits half a second before it looks whether an index has been made; a library has ten of them, and
    milvus-lite makes them at once."""
    handler = import_module("pymilvus.client.grpc_handler")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(handler, "time", SimpleNamespace(time=time.time, sleep=lambda seconds: time.sleep(seconds / 50)))
        yield


@dataclass
class Place:
    """A folder of documents, the working copy of a writer, and the index in the store."""

    folder: Path
    settings: Settings
    embedder: HashEmbedder
    more: dict[str, Any] = field(default_factory=dict)

    def ingest(self, documents: Mapping[str, str] = DOCUMENTS, **more: Any) -> Report:
        source = self.folder / "documents"
        source.mkdir(parents=True, exist_ok=True)
        for file in source.iterdir():
            file.unlink()
        for name, text in documents.items():
            (source / name).write_text(text, encoding="utf-8")
        return self.sync(source, **more)

    def sync(self, *paths: Path, **more: Any) -> Report:
        more = {"identity": self.embedder.identity} | more
        return sync(self.settings, lambda: self.embedder, paths, **more)

    def store(self) -> MilvusStore:
        return MilvusStore(self.settings)

    def open(self) -> MilvusIndex:
        return self.store().open(embedder=self.embedder.identity)

    def on_disk(self) -> DiskIndex:
        return open_index(self.settings.index)

    def connection(self) -> Connection:
        return Connection(self.settings)

    def changed(self, **settings: Any) -> "Place":
        return Place(self.folder, self.settings.model_copy(update=settings), self.embedder)


@pytest.fixture
def place(
    milvus: MilvusServer,
    short_pauses: None,
    tmp_path: Path,
    hash_embedder: HashEmbedder,
    request: pytest.FixtureRequest,
) -> Place:
    milvus_settings = {
        "store": StoreName.MILVUS, "milvus_uri": milvus.uri, "milvus_prefix": f"test_{abs(hash(request.node.nodeid))}",
        "milvus_grace": 0.0,
    }  # fmt: skip
    return Place(tmp_path, library_settings(tmp_path).model_copy(update=milvus_settings), hash_embedder)

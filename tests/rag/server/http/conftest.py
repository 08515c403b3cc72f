"""The API over the library, without a chat model."""

from collections.abc import Iterator

import httpx
import pytest

from rag.answer.assistant import Assistant
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.server.http.serving import Served, serving


@pytest.fixture(scope="module")
def served(library: Settings, hash_embedder: HashEmbedder) -> Iterator[Served]:
    with serving(Assistant(library, hash_embedder)) as served:
        yield served


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as client:
        yield client

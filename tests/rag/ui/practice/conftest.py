"""The practice room over a few pages, fresh for every test."""

from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from tests.conftest import HashEmbedder
from tests.rag.ui.practice.room import Room, ingest_pages


@pytest.fixture
def pages(tmp_path: Path, hash_embedder: HashEmbedder) -> Assistant:
    return Assistant(ingest_pages(tmp_path, hash_embedder), hash_embedder)


@pytest.fixture
def room(pages: Assistant) -> Room:
    return Room(pages)

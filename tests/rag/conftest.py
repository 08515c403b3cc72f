"""Fixtures of the tests of rag: an index of small documents, open and on disk."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.index import DiskIndex, open_index
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.library import ingest, library_settings


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory, hash_embedder: HashEmbedder) -> Settings:
    """Settings of an index of `library.DOCUMENTS`. Shared: tests only read it."""
    folder = tmp_path_factory.mktemp("library")
    ingest(folder, hash_embedder)
    return library_settings(folder)


@pytest.fixture(scope="session")
def library_index(library: Settings) -> Iterator[DiskIndex]:
    index = open_index(library.index)
    yield index
    index.close()


@pytest.fixture
def assistant(library: Settings, hash_embedder: HashEmbedder) -> Assistant:
    """The extractive assistant over the library."""
    return Assistant(library, hash_embedder)


@pytest.fixture
def own_library(tmp_path: Path, hash_embedder: HashEmbedder) -> Path:
    """A folder with `documents/` and `index/` that the test may change."""
    ingest(tmp_path, hash_embedder)
    return tmp_path

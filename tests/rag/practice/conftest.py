"""A bank that tests only read."""

import pytest

from rag.answer.assistant import Assistant
from rag.practice.bank import Bank
from tests.conftest import HashEmbedder
from tests.rag.library import library_settings
from tests.rag.practice.pages import bank_of


@pytest.fixture(scope="session")
def practice_assistant(tmp_path_factory: pytest.TempPathFactory, hash_embedder: HashEmbedder) -> Assistant:
    folder = tmp_path_factory.mktemp("practice")
    bank_of(folder)
    return Assistant(library_settings(folder), hash_embedder)


@pytest.fixture(scope="session")
def bank(practice_assistant: Assistant) -> Bank:
    from rag.practice.bank import read_bank

    return read_bank(practice_assistant.index)

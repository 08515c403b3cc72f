"""Fixtures that several test files share."""

import pytest

from rag.embedding import Embedder, load_embedder
from rag.models import fetch
from rag.settings import Settings, load_settings


@pytest.fixture(scope="session")
def model_settings() -> Settings:
    """Defaults, but for the models folder, which the environment may name; the default embedder is there."""
    settings = Settings(models=load_settings().models)
    fetch(settings.embedder, settings.models)
    return settings


@pytest.fixture(scope="session")
def embedder(model_settings: Settings) -> Embedder:
    """The real default embedder. Tests that use it are marked `slow`."""
    return load_embedder(model_settings)

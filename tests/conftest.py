"""Fixtures that several test files share."""

import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest

from rag.embedding import Embedder, load_embedder
from rag.models import fetch
from rag.settings import Settings
from tests.isolation import MODELS, isolate, the_machine
from tests.paths import ROOT
from tools.hash_embedder import HashEmbedder

__all__ = ["HashEmbedder"]

HOME = pytest.StashKey[Path]()
# Markers of tests that run only when the command names them.
ASKED_FOR = ("llm", "full_milvus")


def pytest_configure(config: pytest.Config) -> None:
    """Isolate before any test module is imported. A process that only hands tests to workers stays as it is, or they
    could not tell what the machine's own environment is."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return
    config.stash[HOME] = Path(tempfile.mkdtemp(prefix="interview-rag-home-"))
    isolate(config.stash[HOME])
    if workers := getattr(config, "workerinput", {}).get("workercount"):
        # Each computes with its share of the processors; more threads would spin for them, in the children too.
        os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // workers))
    # A run in the background ignores Ctrl+C, and so would the programs that tests start in order to interrupt them.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_unconfigure(config: pytest.Config) -> None:
    if home := config.stash.get(HOME, None):
        shutil.rmtree(home, ignore_errors=True)  # a browser that is ending may still write


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that fetch a program run when they are asked for (`make test-llm`). Workers begin with long files."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: not _is_in_long_file(item))
    for marker in ASKED_FOR:
        if marker not in config.getoption("markexpr"):
            left_out = [item for item in items if item.get_closest_marker(marker)]
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if item not in left_out]


def _is_in_long_file(item: pytest.Item) -> bool:
    """With a browser, or of whole programs."""
    place = item.path.relative_to(ROOT / "tests")
    return bool(item.get_closest_marker("browser")) or place.parts[0] == "tools" or len(place.parts) == 1


def pytest_collection() -> None:
    """Nearly all that is made while tests are collected stays: looking for garbage takes a fifth of that time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What is there before the first test stays to the last: the collector need not look through it ever again."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def model_settings() -> Settings:
    """Defaults, but for the folder of the models; the default embedder is there, fetched by the first run."""
    settings = Settings(models=MODELS)
    with the_machine():
        fetch(settings.embedder, settings.models)
    return settings


@pytest.fixture(scope="session")
def embedder(model_settings: Settings) -> Embedder:
    """The real default embedder. Tests that use it are marked `slow`."""
    return load_embedder(model_settings)


@pytest.fixture(scope="session")
def hash_embedder() -> HashEmbedder:
    return HashEmbedder()

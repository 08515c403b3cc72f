"""Fixtures that several test files share."""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from rag.embedding import Embedder, load_embedder
from rag.models import fetch
from rag.settings import Settings
from rag.ui.app.lean_gradio import lighten_gradio
from tests.isolation import MODELS, isolate, the_machine
from tests.order import Clock, group, noted, place
from tests.suites import Suite, lately_changed, told, unchanged
from tools.hash_embedder import HashEmbedder

__all__ = ["HashEmbedder"]

HOME = pytest.StashKey[Path]()
LEFT_OUT = pytest.StashKey[list[Suite]]()
# Markers of tests that run only when the command names them.
ASKED_FOR = ("llm", "full_milvus")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all-suites", action="store_true", help="leave no suite out (tests/suites.toml)")
    parser.addoption("--note-seconds", action="store_true", help="note what each file takes (tests/order.py)")


def pytest_configure(config: pytest.Config) -> None:
    """Isolate before any test module is imported. A process that only hands tests to workers stays as it is, or they
    could not tell what the machine's own environment is."""
    config.stash[LEFT_OUT] = suites_left_out(config)
    if config.getoption("note_seconds") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Clock())
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return
    config.stash[HOME] = Path(tempfile.mkdtemp(prefix="interview-rag-home-"))
    isolate(config.stash[HOME])
    hypothesis.settings.register_profile("suite", deadline=None)
    hypothesis.settings.load_profile("suite")
    lighten_gradio()
    if workers := getattr(config, "workerinput", {}).get("workercount"):
        # Each computes with its share of the processors; more threads would spin for them, in the children too.
        os.environ["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // workers))
    os.environ["OMP_WAIT_POLICY"] = "passive"  # threads that wait leave the processor to whoever has something to do
    # A run in the background ignores Ctrl+C, and so would the programs that tests start in order to interrupt them.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def suites_left_out(config: pytest.Config) -> list[Suite]:
    """A run that names tests, or asks for all, leaves none out. Workers do what the process that starts them says."""
    suites = Suite.read()
    if hasattr(config, "workerinput"):
        return [suite for suite in suites if suite.name in config.workerinput["left_out"]]
    named = config.args_source is not config.ArgsSource.TESTPATHS or config.option.markexpr or config.option.keyword
    return [] if named or config.getoption("all_suites") else unchanged(suites, lately_changed())


def looked_at(config: pytest.Config, suite: str) -> Callable[[str], bool]:
    """Which pages, by their paths, a test looks at that a suite keeps: where the run leaves the suite out, those that
    changed lately."""
    if all(left_out.name != suite for left_out in config.stash[LEFT_OUT]):
        return lambda path: True
    return (lately_changed() or set()).__contains__


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["left_out"] = [suite.name for suite in node.config.stash[LEFT_OUT]]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if suites := config.stash[LEFT_OUT]:
        terminalreporter.write_line(told(suites))


def pytest_unconfigure(config: pytest.Config) -> None:
    if home := config.stash.get(HOME, None):
        shutil.rmtree(home, ignore_errors=True)  # a browser that is ending may still write


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that fetch a program run when they are asked for (`make test-llm`). Workers begin with what takes long."""
    if hasattr(config, "workerinput"):
        seconds = noted()
        items.sort(key=lambda item: place(item.nodeid, seconds))
    unasked = [marker for marker in ASKED_FOR if marker not in config.getoption("markexpr")]
    left_out = {
        item
        for item in items
        if any(map(item.get_closest_marker, unasked))
        or any(suite.leaves_out(item.nodeid) for suite in config.stash[LEFT_OUT])
    }
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """By file, and by what belongs together."""
    from xdist.scheduler import LoadFileScheduling

    scheduler = LoadFileScheduling(config, log)
    scheduler._split_scope = group
    return scheduler


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

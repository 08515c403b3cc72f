"""One Chromium, and one house that it visits, for all browser tests that a worker does in a row."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from rag.embedding import Embedder
from rag.settings import Settings
from tests.rag.ui.browser import open_browser
from tests.rag.ui.house import House, open_house

HERE = Path(__file__).parent
# What is open. Not a fixture of the session: while Chromium runs, no other test of its worker can run an event loop.
_open = ExitStack()
_browsers: list[Browser] = []
_houses: list[House] = []


@pytest.fixture(scope="module")
def browser() -> Browser:
    if not _browsers:
        _browsers.append(_open.enter_context(open_browser()))
    return _browsers[0]


@pytest.fixture(scope="module")
def house(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, model_settings: Settings, embedder: Embedder
) -> House:
    """The house, without a trace of the tests of other files."""
    if not _houses:
        _houses.append(_open.enter_context(open_house(tmp_path_factory.mktemp("house"), model_settings, embedder)))
    _houses[0].empty()
    return _houses[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    yield
    if nextitem is None or nextitem.path.parent != HERE or not nextitem.get_closest_marker("browser"):
        _browsers.clear()
        _houses.clear()
        _open.close()

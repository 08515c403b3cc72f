"""One Chromium, and one house that it visits, for all browser tests that a worker does in a row; one page for the tests
of a file, since a page that loads costs as much as two questions."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from rag.embedding import Embedder
from rag.settings import Settings
from tests.rag.ui.browser import open_browser
from tests.rag.ui.house import House, open_house
from tests.rag.ui.visit import Visit

HERE = Path(__file__).parent
# What is open. Not a fixture of the session: while Chromium runs, no other test of its worker can run an event loop.
_open = ExitStack()
_browsers: list[Browser] = []
_houses: list[House] = []
FAILED = pytest.StashKey[bool]()


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


@pytest.fixture(scope="module")
def address(house: House) -> str:
    """Where the tests of a file go; some have a server of their own."""
    return house.address


@pytest.fixture(scope="module")
def before() -> str:
    """A script that runs before those of the page."""
    return ""


@pytest.fixture(scope="module")
def visit(browser: Browser, address: str, before: str) -> Iterator[Visit]:
    visit = Visit(browser, address, before)
    yield visit
    visit.end()


@pytest.fixture
def page(visit: Visit, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The page of a Chinese reader, where nothing has been asked yet. No test may make it throw, complain, or ask
    another host for anything."""
    if "house" in request.fixturenames:
        request.getfixturevalue("house").empty()
    yield visit.begin()
    trouble = visit.told()
    if trouble or FAILED in request.node.stash:
        visit.end()  # whatever state it was left in
    assert trouble == []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    if call.excinfo:
        item.stash[FAILED] = True
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Iterator[None]:
    yield
    if nextitem is None or nextitem.path.parent != HERE or not nextitem.get_closest_marker("browser"):
        _browsers.clear()
        _houses.clear()
        _open.close()

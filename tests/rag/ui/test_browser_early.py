"""What is asked as soon as the page shows its box, before the server has greeted: it knows neither reader nor choices
yet, and what its greeting brings is the page as it was."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from tests.rag.ui.browser import ask, settle
from tests.rag.ui.house import House

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
OTHER = "LoRA 为什么能省显存？"
BOX = "#question textarea"


class Greeting:
    """Keeps back what a page asks the server first, and counts the questions that reach the server."""

    def __init__(self, page: Page) -> None:
        self.held: Route | None = None
        self.asked = 0
        page.route("**/run/predict*", self._hold)
        page.on("request", self._count)

    def _hold(self, route: Route) -> None:
        if self.held is None:
            self.held = route
        else:
            route.continue_()

    def _count(self, request: Request) -> None:
        self.asked += "/queue/join" in request.url

    def come(self) -> None:
        assert self.held is not None
        self.held.continue_()


@pytest.fixture(scope="module")
def address(house: House) -> str:
    return house.address


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_context(locale="zh-CN").new_page()
    yield page
    page.context.close()


def open_early(page: Page, address: str) -> Greeting:
    """The page with its box, not yet greeted."""
    greeting = Greeting(page)
    with page.expect_request("**/run/predict*"):
        page.goto(address) if page.url == "about:blank" else page.reload()
    page.wait_for_selector(BOX)
    return greeting


def test_a_question_waits_for_the_greeting_and_is_kept(page: Page, address: str) -> None:
    greeting = open_early(page, address)
    page.locator(BOX).press_sequentially(QUESTION)
    page.keyboard.press("Enter")
    expect(page.locator(BOX)).to_have_value("")
    page.keyboard.type(OTHER)  # the next question, as ever
    assert greeting.asked == 0
    greeting.come()
    settle(page, 0)
    expect(page.locator("#chat .user-row")).to_have_text([QUESTION])
    expect(page.locator("#conversations li")).to_have_count(1)
    expect(page.locator(BOX)).to_have_value(OTHER)


def test_a_follow_up_waits_for_its_conversation(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector("#conversations .conversations")
    ask(page, QUESTION)
    expect(page.locator("#conversations li[aria-current]")).to_have_count(1)
    greeting = open_early(page, address)
    page.fill(BOX, OTHER)
    page.press(BOX, "Enter")
    greeting.come()
    expect(page.locator("#chat .user-row")).to_have_text([QUESTION, OTHER])
    settle(page, 1)
    expect(page.locator(BOX)).to_have_value("")


def test_an_example_waits_too(page: Page, address: str) -> None:
    greeting = open_early(page, address)
    example = page.locator("#chat .examples button").first
    question = example.inner_text().strip()
    example.click()
    assert greeting.asked == 0
    greeting.come()
    settle(page, 0)
    expect(page.locator("#chat .user-row")).to_have_text([question])
    expect(page.locator("#conversations .conversations")).to_contain_text(question[:8])

"""A conversation is a thing with an address, a draft, and a place in the search, in a real browser."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rag.embedding import Embedder
from rag.settings import Settings
from rag.ui.texts import TEXTS, Language
from tests.rag.library import DOCUMENTS, ingest
from tests.rag.ui.browser import ask, open_browser, open_page, serve

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ZH, EN = TEXTS[Language.ZH], TEXTS[Language.EN]
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
OTHER = "LoRA 为什么能省显存？"
BOX = "#question textarea"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("conversations")
    ingest(folder, embedder, DOCUMENTS)
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def address(folder: Path, browser: Browser, model_settings: Settings) -> Iterator[str]:
    environment = {
        "INTERVIEW_RAG_LIBRARY": str(folder / "own"),
        "INTERVIEW_RAG_MODELS": str(model_settings.models),
    }
    arguments = ("--index", str(folder / "index"), "--port", "8170", "--llm", "extractive")
    with serve(*arguments, environment=environment) as address:
        yield address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    page = open_page(browser, address)
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(str(error)))
    yield page
    page.context.close()
    assert trouble == []


def begin(page: Page, question: str) -> str:
    """A new conversation with one answered question; its address."""
    page.click("#clear")
    expect(page.locator("#chat .user-row")).to_have_count(0)
    ask(page, question)
    expect(page).to_have_url(re.compile(r"#conversation-\d+$"))
    return page.url


def test_a_conversation_is_opened_by_its_address(page: Page, browser: Browser) -> None:
    first, asked = begin(page, QUESTION), page.locator("#chat .user-row")
    second = begin(page, OTHER)
    assert first != second
    page.go_back()  # the empty page between the two became the second one
    expect(asked).to_have_text(QUESTION)
    page.reload()
    expect(asked).to_have_text(QUESTION)
    assert page.url == first
    page.go_forward()
    expect(asked).to_have_text(OTHER)
    page.locator(f".conversations a[href='#{first.partition('#')[2]}']").click()
    expect(asked).to_have_text(QUESTION)
    ask(page, "通信量呢？")  # goes on in the conversation that is open
    assert page.url == first
    visit = open_page(browser, second)
    expect(visit.locator("#chat .user-row")).to_have_text(OTHER)
    visit.context.close()


def test_an_address_that_leads_nowhere_says_so(page: Page, browser: Browser, address: str) -> None:
    visit = open_page(browser, f"{address}#conversation-12345", language="en-GB")
    expect(visit.locator("#strip")).to_contain_text(EN.conversation_missing)
    expect(visit).to_have_url(address)
    ask(visit, QUESTION)
    expect(visit.locator("#strip .missing")).to_have_count(0)
    visit.context.close()
    gone = begin(page, QUESTION)
    here = begin(page, OTHER)
    entry = page.locator(".conversations li", has=page.locator(f"a[href='#{gone.partition('#')[2]}']"))
    entry.hover()
    entry.locator("summary").click()
    entry.get_by_role("button", name=ZH.delete).click()
    expect(entry).to_have_count(0)
    page.evaluate("hash => location.hash = hash", gone.partition("#")[2])
    expect(page.locator("#strip")).to_contain_text(ZH.conversation_missing)
    expect(page.locator("#chat .user-row")).to_have_text(OTHER)
    expect(page).to_have_url(here)


def test_every_conversation_keeps_its_own_draft(page: Page, browser: Browser, address: str) -> None:
    first = begin(page, QUESTION)
    page.fill(BOX, "还想问一句")
    page.click("#clear")
    expect(page.locator(BOX)).to_have_value("")
    page.fill(BOX, "新对话的草稿")
    page.go_back()
    expect(page.locator("#chat .user-row")).to_have_text(QUESTION)
    expect(page.locator(BOX)).to_have_value("还想问一句")
    other = page.context.new_page()  # the browser keeps them, not the tab
    other.goto(first)
    expect(other.locator(BOX)).to_have_value("还想问一句")
    other.goto("about:blank")
    other.goto(address)
    expect(other.locator(BOX)).to_have_value("新对话的草稿")
    ask(other, OTHER)
    assert sorted(other.evaluate("Object.keys(localStorage).filter(key => key.includes('.draft.'))")) == [
        f"interview-rag.draft..{first.rpartition('-')[2]}"
    ]
    page.press(BOX, "Enter")
    expect(page.locator("#chat .user-row")).to_have_count(2)
    page.reload()
    expect(page.locator("#chat .user-row")).to_have_count(2)
    expect(page.locator(BOX)).to_have_value("")


def test_a_conversation_can_be_linked_to_and_printed(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    first = begin(page, QUESTION)
    begin(page, OTHER)
    page.evaluate(
        "() => { window.print = () => { window.printed = document.querySelector('#chat .user-row').innerText; } }"
    )
    entry = page.locator(".conversations li", has=page.locator(f"a[href='#{first.partition('#')[2]}']"))
    for action in (ZH.copy_link, ZH.print):
        entry.hover()
        entry.locator("summary").click()
        entry.get_by_role("button", name=action).click()
    expect(page.locator("#done-note")).to_have_text(ZH.link_copied)
    assert page.evaluate("navigator.clipboard.readText()") == first
    page.wait_for_function("window.printed")
    assert page.evaluate("window.printed") == QUESTION
    expect(page.locator("#done-note")).to_be_empty()


def test_search_from_everywhere_shows_what_it_found(page: Page) -> None:
    begin(page, OTHER)
    begin(page, QUESTION)
    sought, found = page.locator("#sought input, #sought textarea"), page.locator(".conversations li")
    page.get_by_role("tab").nth(1).click()
    expect(page.locator("#columns")).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(sought).to_be_focused()
    page.keyboard.type("冻结 ZERO")
    expect(found).to_have_count(0)
    page.keyboard.press("Control+a")
    page.keyboard.type("冻结原来")
    expect(found.first.locator(".snippet mark")).to_have_text(["冻结原来"])
    expect(found.first.locator(".snippet")).to_contain_text("LoRA 冻结原来的权重")
    page.keyboard.press("ArrowDown")
    expect(found.first.locator(".title")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#chat .user-row")).to_have_text(OTHER)
    page.focus(BOX)
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(sought).to_have_value("")
    expect(page.locator(BOX)).to_be_focused()
    expect(page.locator(".conversations mark")).to_have_count(0)


def test_on_a_phone_a_tap_outside_closes_the_sheet_and_the_search_is_a_drawer(browser: Browser, address: str) -> None:
    page = open_page(browser, address, width=390)
    ask(page, QUESTION)
    marker, sources = page.locator("#chat a[href='#cite-1-1']").first, page.locator("#sources")
    marker.click()
    expect(sources).to_be_visible()
    page.mouse.click(60, 20)  # the head, where a tap would do something else
    expect(sources).to_be_hidden()
    marker.click()
    expect(sources).to_be_visible()
    page.locator(".panel .body").click()
    expect(sources).to_be_visible()
    page.keyboard.press("Escape")
    expect(sources).to_be_hidden()
    button = page.get_by_role("button", name=ZH.search_keys)
    button.click()
    expect(page.locator("#sought input, #sought textarea")).to_be_focused()
    expect(page.locator("#list-column")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#list-column")).to_be_hidden()
    expect(button).to_be_focused()
    page.set_viewport_size({"width": 667, "height": 375})
    view = page.locator("#chat .bubble-wrap").bounding_box()
    assert view is not None
    assert view["height"] > 0.66 * 375
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.context.close()

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

"""A real browser for tests, and the server that it visits."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, Page, expect

from rag.errors import UsageError
from tests.rag.ui.forked import serve
from tools import browser
from tools.browser import open_page

__all__ = [
    "FORBIDDEN",
    "GIVE",
    "HOLD",
    "IMPATIENT",
    "LATENESS",
    "LATE_GREETING",
    "SLOW",
    "VOICES",
    "arrived",
    "ask",
    "begin",
    "choose",
    "is_remote",
    "open_browser",
    "open_page",
    "serve",
    "settle",
    "unfold",
]

# Holds back as many answers of the server as `delays` tells, each for its milliseconds, or for ever. Once `late` is
# set, what is done beside asking gets to the server LATENESS later. `underWay` counts what has not come yet.
LATENESS = 700  # milliseconds
SLOW = f"""{{
const fetched = window.fetch;
window.delays = [];
window.underWay = 0;
window.fetch = async (...request) => {{
  const isTold = String(request[0]?.url ?? request[0]).includes("run/predict");
  const delay = isTold ? (window.delays.shift() ?? 0) : 0;
  window.underWay += isTold;
  if (isTold && window.late) await new Promise((resolve) => setTimeout(resolve, {LATENESS}));
  const answer = await fetched(...request);
  if (delay < Infinity) await new Promise((resolve) => setTimeout(resolve, delay));
  window.underWay -= isTold;
  return delay < Infinity ? answer : new Promise(() => {{}});
}};
}}"""

# Once `window.impatient` is set, the page waits a second where it would wait fifteen.
IMPATIENT = """{
const wait = setTimeout;
setTimeout = (work, ms, ...more) => wait(work, window.impatient && ms === 15_000 ? 1_000 : ms, ...more);
}"""

# The greeting is the first that is asked of the server: it is asked once `letGo` is called, and is answered late; then
# `underWay` is 0.
LATE_GREETING = """
const fetched = window.fetch;
const released = new Promise((resolve) => (window.letGo = resolve));
let isFirst = true;
window.underWay = (window.underWay ?? 0) + 1;
window.fetch = async (...request) => {
  if (!isFirst || !String(request[0]?.url ?? request[0]).includes("run/predict")) return fetched(...request);
  isFirst = false;
  await released;
  const answer = await fetched(...request);
  await new Promise((resolve) => setTimeout(resolve, 700));
  window.underWay -= 1;
  return answer;
};
"""

# Once `window.holding` is set, what is typed does not get to the server; `held` counts what did not.
HOLD = """{
const fetched = window.fetch;
window.held = 0;
window.fetch = (...request) => {
  const isHeld = Boolean(window.holding) && String(request[1]?.body).includes('"action":"keep"');
  window.held += isHeld;
  return isHeld ? new Promise(() => {}) : fetched(...request);
};
}"""

# A browser whose storage is forbidden to the practice room; one that is full differs by what can be read.
FORBIDDEN = """
for (const name of ["getItem", "setItem", "removeItem"]) {
  const work = Storage.prototype[name];
  Storage.prototype[name] = function (key, ...more) {
    if (key.includes(".practice.")) throw new DOMException("forbidden", "SecurityError");
    return work.call(this, key, ...more);
  };
}
"""


# A voice of this device and one that would be sent the text, for a browser that has none. Once `noVoices` is set and
# `changeVoices` called there is none either.
VOICES = """
const said = (window.said = []);
const voices = [
  { lang: "zh-CN", name: "elsewhere", localService: false },
  { lang: "zh-CN", name: "here", localService: true },
];
window.SpeechSynthesisUtterance = class { constructor(text) { this.text = text; } };
Object.defineProperty(window, "speechSynthesis", { value: {
  getVoices: () => window.noVoices ? [] : voices,
  speak: (utterance) => said.push(utterance),
  cancel: () => said.push("cancel"),
  addEventListener: (_, heard) => (window.changeVoices = heard),
} });
"""


# A file, given to the chat as a reader's hand would.
GIVE = """([way, name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    const options = { bubbles: true, cancelable: true };
    const box = document.querySelector("#question textarea");
    if (way === "paste") return box.dispatchEvent(new ClipboardEvent("paste", { ...options, clipboardData: data }));
    for (const kind of ["dragover", "drop"]) box.dispatchEvent(new DragEvent(kind, { ...options, dataTransfer: data }));
}"""


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Where Chromium is not installed the test is skipped, except in CI, where it fails."""
    try:
        browser.chromium()
    except UsageError as error:
        message = f"{error.message}: {error.hint}"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    with browser.open_browser() as opened:
        yield opened


def ask(page: Page, question: str) -> None:
    """Send a question with Enter and wait until it is answered."""
    replies = page.locator("#chat .bot-row")
    number = replies.count()
    page.fill("#question textarea", question)
    page.press("#question textarea", "Enter")
    settle(page, number)


def begin(page: Page, question: str) -> str:
    """A new conversation with one answered question; its address."""
    page.click("#clear")
    expect(page.locator("#chat .user-row")).to_have_count(0)
    ask(page, question)
    expect(page).to_have_url(re.compile(r"#conversation-\d+$"))
    return page.url


def choose(page: Page, title: str, choice: str) -> None:
    """Take a choice from the menu of a conversation."""
    entry = page.locator(".conversations li", has_text=title).first
    entry.hover()
    entry.locator("summary").click()
    entry.get_by_role("button", name=choice).click()


def settle(page: Page, number: int) -> None:
    """Wait until the reply at that place is finished."""
    reply = page.locator("#chat .bot-row").nth(number)
    expect(reply.locator("a[href^='#cite-'], .notice, .note").first).to_be_visible()
    expect(page.locator("#send")).to_be_visible()


def arrived(page: Page) -> None:
    """Wait until all has come that SLOW or LATE_GREETING holds back, and what follows it, and is shown."""
    still = 0
    while still < 3:
        page.wait_for_timeout(100)
        still = still + 1 if page.evaluate("window.underWay") == 0 else 0


def unfold(page: Page) -> None:
    """Open what the settings have folded away."""
    for name in ("who", "answers", "looks"):
        fold = page.locator(f"#preferences-{name} button.label-wrap")
        if "open" not in (fold.get_attribute("class") or ""):
            fold.click()
        expect(fold).to_have_class(re.compile("open"))


def is_remote(address: str) -> bool:
    parts = urlparse(address)
    return parts.scheme not in ("data", "blob", "about") and parts.hostname != "127.0.0.1"

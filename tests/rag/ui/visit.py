"""A page that several tests use one after the other."""

from dataclasses import dataclass, field

from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.rag.ui.browser import is_remote, open_page

WIDTH, HEIGHT = 1360, 860
# What the browser says of requests that a test, or a page that is left, has stopped.
STOPPED = ("net::ERR_", "status of 429", "AbortError", "errored out")


@dataclass
class Visit:
    """`before` is a script that runs before those of the page."""

    browser: Browser
    address: str
    before: str = ""
    _page: Page | None = None
    _trouble: list[str] = field(default_factory=list)

    def begin(self) -> Page:
        """The page as it was when it was opened: loaded the first time, later emptied by its own means."""
        if self._page is None:
            self._page = open_page(self.browser, self.address, before=self.before)
            self._watch(self._page)
        else:
            start_over(self._page, self.address)
        return self._page

    def told(self) -> list[str]:
        """What went wrong since the last time: errors, scripts of documents that ran, requests to other hosts, breaches
        of the policy."""
        ran = self._page.evaluate("window.ran") if self._page else None
        told, self._trouble[:] = [*self._trouble, *([f"ran: {ran}"] if ran is not None else [])], []
        return told

    def end(self) -> None:
        if self._page is not None:
            self._page.context.close()
            self._page = None

    def _watch(self, page: Page) -> None:
        page.on("pageerror", lambda error: self._trouble.append(f"error: {error}"))
        page.on("request", lambda request: self._trouble.append(request.url) if is_remote(request.url) else None)
        page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(words in message.text for words in STOPPED):
            self._trouble.append(message.text)


def start_over(page: Page, address: str) -> None:
    page.unroute_all()
    page.emulate_media(media="screen")
    page.set_viewport_size({"width": WIDTH, "height": HEIGHT})
    page.keyboard.press("Escape")  # what lies over the page, or is being said
    for toast in page.locator(".toast-close").all():
        toast.dispatch_event("click")
    page.get_by_role("tab").first.click()
    page.fill("#sought textarea, #sought input", "")
    page.click("#clear")
    expect(page.locator("#chat .user-row")).to_have_count(0)
    expect(page.locator("#send")).to_be_visible()  # an answer that was being written is stopped
    page.evaluate("location.hash.startsWith('#room') && history.replaceState(null, '', location.pathname)")
    expect(page).to_have_url(address)
    page.fill("#question textarea", "")
    page.evaluate("localStorage.clear()")

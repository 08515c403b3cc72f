"""WCAG 2.2 AA by axe, the keyboard alone, and a narrow screen, in a real browser."""

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from axe_playwright_python.base import AXE_FILE_PATH
from playwright.sync_api import Browser, Page, expect

from rag.ui.texts import TEXTS, Language, language_of
from tests.rag.ui.browser import VOICES, ask, open_page, serve
from tests.rag.ui.house import House

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EN = TEXTS[Language.EN]
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
UNANSWERABLE = "不相干的问题：明天上海的天气怎么样，要带伞吗？"
AXE = AXE_FILE_PATH.read_text(encoding="utf-8")
RULES = {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}
# What the focused element is, and whether it can be seen that it is: its own outline, border or shadow, or those of the
# element around it, differ from what they were.
LOOK = """() => {
    const look = (element) => {
        const style = getComputedStyle(element);
        const { outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor } = style;
        return [outlineStyle, outlineWidth, boxShadow, borderColor, backgroundColor].join();
    };
    const parts = [];
    const start = document.activeElement;
    for (let part = start; part !== document.body && parts.length < 4; part = part.parentElement) parts.push(part);
    const focused = parts.map(look);
    const element = document.activeElement;
    if (element === document.body) return null;
    const box = element.getBoundingClientRect();
    element.blur();
    const visible = parts.some((part, place) => look(part) !== focused[place]);
    element.focus({ focusVisible: true, preventScroll: true });
    const closest = element.closest("[id]");
    return {
        name: `${element.tagName} ${closest ? closest.id : ""} ${element.textContent.trim().slice(0, 20)}`,
        near: parts.map((part) => part.id).concat(closest ? closest.id : ""),
        visible,
        inside: box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth,
    };
}"""


@pytest.fixture(scope="module")
def address(house: House) -> Iterator[str]:
    """Its model begins an answer, and does not go on with it; the library lists a file as not read."""
    house.model_says("ZeRO-3 还切分模型参数。\n后来", cut_after=15, pause=60.0)
    bad = house.folder / "own" / "bad.pdf"
    bad.parent.mkdir(exist_ok=True)
    bad.write_bytes(b"%PDF-1.7 no more")
    yield house.address
    bad.unlink()


@pytest.fixture(scope="module")
def closed(house: House, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The page behind a sign-in."""
    users = tmp_path_factory.mktemp("closed") / "users"
    users.write_text("anna:secret one\n", encoding="utf-8")
    users.chmod(0o600)
    arguments = ("--index", str(house.settings.index), "--port", "8030", "--llm", "extractive")
    with serve(*arguments, "--auth-file", str(users)) as address:
        yield address


def violations(page: Page) -> list[str]:
    """What axe objects to, once nothing moves any more."""
    page.wait_for_timeout(400)
    if not page.evaluate("Boolean(window.axe)"):
        page.evaluate(AXE)
    found = page.evaluate("options => axe.run(options)", {"runOnly": RULES, "resultTypes": ["violations"]})[
        "violations"
    ]
    return [
        f"{rule['id']}: {node['target']} {node['html'][:160]} {node['failureSummary'][:240]}"
        for rule in found
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize(
    ("at", "language", "dark", "width"), [("", "zh-CN", False, 1360), ("#conversation-12345", "en-GB", True, 360)]
)
def test_axe_objects_to_nothing(browser: Browser, address: str, at: str, language: str, dark: bool, width: int) -> None:
    page = open_page(browser, address + at, language=language, dark=dark, width=width, before=VOICES)
    if at:
        expect(page.locator("#strip .missing")).to_be_visible()
    found = [f"start: {line}" for line in violations(page)]
    ask(page, QUESTION)
    page.locator("#chat a[href='#cite-1-1']").first.click()  # on a phone this opens the sheet of sources
    found += [f"source: {line}" for line in violations(page)]
    if width == 360:
        page.click(".panel .close")
        page.click(".drawer")
        expect(page.locator(".close-drawer")).to_be_focused()
        found += [f"drawer: {line}" for line in violations(page)]
        page.keyboard.press("Escape")
    page.locator("#chat .others summary").click()
    page.locator("#chat .others").get_by_role("button", name="test").click()
    expect(page.locator("#chat .steps .now").last).to_have_text(TEXTS[language_of(language)].step_checking)
    found += [f"writing: {line}" for line in violations(page)]
    page.click("#stop")
    expect(page.locator("#send")).to_be_visible()
    ask(page, UNANSWERABLE)
    found += [f"refusal: {line}" for line in violations(page)]
    tabs = page.get_by_role("tab")
    place = 0
    while (place := place + 1) < tabs.count():  # those under the settings come when the settings are opened
        tabs.nth(place).click()
        if page.locator("#inspector-go").is_visible():
            page.fill("#inspector-question textarea", QUESTION)
            page.click("#inspector-go")
            expect(page.locator("table.ranking").first).to_be_visible()
        if page.locator("#library-list").is_visible():
            expect(page.locator("#library-list .unread li")).to_have_count(1)
        found += [f"{tabs.nth(place).inner_text()}: {line}" for line in violations(page)]
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.evaluate("void (location.hash = '#room-library')")
    page.locator("table.documents .do-about-0").first.click()
    expect(page.locator("#strip .scope-chip")).to_have_count(1)
    expect(page.locator("#question textarea")).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("ZeRO")
    expect(page.locator(".conversations mark").first).to_be_visible()
    found += [f"one document, and search: {line}" for line in violations(page)]
    page.context.close()
    assert found == []


def test_signing_in_and_out(browser: Browser, closed: str) -> None:
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    name, password = page.get_by_test_id("textbox"), page.get_by_test_id("password")
    found = []
    colours: Literal["light", "dark"]
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours)
        page.goto(closed)
        expect(password).to_be_visible()
        found += [f"{colours}: {line}" for line in violations(page)]
        name.fill("anna")
        password.fill("wrong")
        page.get_by_role("button").click()
        expect(page.locator(".creds")).to_be_visible()
        found += [f"{colours}, refused: {line}" for line in violations(page)]
    name.fill("anna")
    password.fill("secret one")
    page.get_by_role("button").click()
    expect(page.locator(".conversations")).to_be_attached()
    found += [f"signed in: {line}" for line in violations(page)]
    page.get_by_role("link", name=EN.sign_out).click()
    expect(password).to_be_visible()
    page.goto(closed)
    expect(password).to_be_visible()
    context.close()
    assert found == []


def test_the_keyboard_alone_is_enough(browser: Browser, address: str) -> None:
    """Tab reaches everything in sight, and shows where it is; Enter and the space bar use it."""
    page = open_page(browser, address)
    page.keyboard.type(QUESTION)  # the box has the focus from the start
    page.keyboard.press("Enter")
    expect(page.locator("#chat a[href='#cite-1-1']").first).to_be_visible()
    expect(page.locator("#send")).to_be_visible()
    stops = walk(page)
    assert [stop["name"] for stop in stops if not stop["visible"]] == []
    assert [stop["name"] for stop in stops if not stop["inside"]] == []
    reached = {near for stop in stops for near in stop["near"]}
    assert {"question", "send", "clear", "language", "chat", "rooms"} <= reached
    page.keyboard.press("Tab")
    expect(page.locator("a.skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#question textarea")).to_be_focused()
    page.locator("#keys .keys").focus()
    page.keyboard.press("Enter")
    shortcuts = page.locator("dialog.shortcuts")
    expect(shortcuts.locator("kbd").filter(has_text="#")).to_have_text("# @")
    page.keyboard.press("Escape")
    expect(shortcuts).to_be_hidden()
    expect(page.locator("#keys .keys")).to_be_focused()
    page.keyboard.press("?")
    close = shortcuts.get_by_role("button")
    expect(close).to_be_focused()
    expect(close).to_have_css("border-radius", "9px")
    page.keyboard.press("Enter")
    expect(shortcuts).to_be_hidden()
    page.locator("#chat a[href='#cite-1-1']").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".panel mark.selected").first).to_be_in_viewport()
    page.locator("#chat button.retry").focus()
    page.keyboard.press("Space")
    expect(page.locator("#chat a[href='#cite-2-1']").first).to_be_visible()
    page.context.close()


def walk(page: Page) -> list[dict[str, Any]]:
    """Press Tab from the end of the page to its end again; what has the focus after each."""
    stops: list[dict[str, Any]] = []
    ends = 0
    for _ in range(160):
        page.keyboard.press("Tab")
        stop = page.evaluate(LOOK)
        if stop is not None:
            stops.append(stop)
            continue
        ends += 1
        if ends == 2:
            return stops
        stops.clear()
    raise AssertionError(f"Tab does not come round: {[stop['name'] for stop in stops[-5:]]}")

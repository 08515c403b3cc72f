"""python -m tools.screenshots: make docs/screenshot*.png anew, from a running server over corpus/."""

import argparse
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize, expect

from rag.paths import PROGRAM
from tools.browser import open_browser, open_page, serve

QUESTION = "为什么 FP16 训练要 loss scaling，BF16 不用？"
ENGLISH_QUESTION = "What changed from the original Transformer to Llama 2?"
# What a reader of the README sees without scrolling, and a file of less than 250 kB.
DESKTOP: ViewportSize = {"width": 1280, "height": 760}
MOST_COLOURS = 256
# The room that each picture shows.
ROOMS = ("library", "inspector", "quality")
PRACTISED = "KV cache 是什么，怎么算一个 token 占多少显存？"
# Made in part: some points found, one mistake that the page corrects.
ATTEMPT = (
    "KV cache 把每一层算过的 Key 和 Value 存下来，解码时每一步只算新 token。"
    "大小是 2 × 层数 × KV 头数 × 每头维度 × 字节数。"
    "FlashAttention 会减少 KV cache。缩小它可以用 GQA、MLA，或者量化成更低的位宽。"
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.screenshots", description=__doc__)
    parser.add_argument(
        "--index", type=Path, default=".interview-rag/index", help="index of corpus/; made where it is missing"
    )
    parser.add_argument("--out", type=Path, default=PROGRAM / "docs")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    index = str(options.index.resolve())  # the server runs in a folder of its own
    with open_browser() as browser, serve("--index", index, "--llm", "extractive") as address:
        take(browser, address, options.out)


def save(page: Page, file: Path) -> None:
    """What is seen of a page, in as many colours as it has need of: a third of the bytes."""
    picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(MOST_COLOURS).save(file, optimize=True)


def take(browser: Browser, address: str, folder: Path) -> None:
    page = open_page(browser, address)
    page.set_viewport_size(DESKTOP)
    answer(page, QUESTION)
    pick(page)
    save(page, folder / "screenshot.png")
    for name in ROOMS:
        open_room(page, name)
        show(page, name)
        save(page, folder / f"screenshot-{name}.png")
    practise(page)
    save(page, folder / "screenshot-practice.png")
    page = open_page(browser, address, language="en", dark=True)
    page.set_viewport_size(DESKTOP)
    answer(page, ENGLISH_QUESTION)
    pick(page)
    save(page, folder / "screenshot-dark.png")
    page = open_page(browser, address, width=360)
    answer(page, QUESTION)
    save(page, folder / "screenshot-phone.png")
    practise(page)
    save(page, folder / "screenshot-practice-phone.png")


def open_room(page: Page, name: str) -> None:
    page.evaluate("address => { location.hash = address; }", f"#room-{name}")
    page.locator(f"#room-{name}").wait_for()


def practise(page: Page) -> None:
    """Grade an attempt at one question."""
    open_room(page, "practice")
    page.click("#practice-navigation button[data-rest='bank']")
    page.fill("#practice input[type='search']", "KV cache")
    page.locator(".question-link", has_text=PRACTISED).first.click()
    page.fill("textarea[name='attempt']", ATTEMPT)
    page.press("textarea[name='attempt']", "Control+Enter")
    page.locator("#practice .grade").wait_for()
    page.wait_for_timeout(500)


def answer(page: Page, question: str) -> None:
    page.fill("#question textarea", question)
    page.press("#question textarea", "Enter")
    page.locator("#chat a[href='#cite-1-0']").wait_for()
    expect(page.locator("#send")).to_be_visible()
    page.wait_for_timeout(700)  # scrolling


def pick(page: Page) -> None:
    """Open one source."""
    page.locator("#chat a[href^='#cite-1-']:not([href$='-0'])").first.click()
    expect(page.locator(".panel mark.selected").first).to_be_in_viewport()
    page.mouse.move(0, 0)
    page.wait_for_timeout(300)


def show(page: Page, room: str) -> None:
    """Wait until there is something to see in a room."""
    if room == "inspector":
        page.fill("#inspector-question textarea", QUESTION)
        page.click("#inspector-go")
    things = {"library": "table.documents", "inspector": "table.ranking", "quality": "#quality-shipped svg"}
    page.locator(things[room]).first.wait_for()
    page.wait_for_timeout(500)


if __name__ == "__main__":
    main()

"""python -m tests.screenshots: make docs/screenshot.png anew, from a running server over corpus/."""

import argparse
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.rag.ui.browser import ROOT, open_browser, open_page, serve

QUESTION = "为什么 FP16 训练要 loss scaling，BF16 不用？"
MARKER = 2


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.screenshots", description=__doc__)
    parser.add_argument("--index", default=".interview-rag/index", help="index of corpus/; made where it is missing")
    parser.add_argument("--out", type=Path, default=ROOT / "docs")
    parser.add_argument("--all", action="store_true", help="also dark, English and phone")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with open_browser() as browser, serve("--index", options.index, "--llm", "extractive") as address:
        page = open_page(browser, address)
        answer(page)
        page.screenshot(path=options.out / "screenshot.png")
        if options.all:
            page = open_page(browser, address, language="en", dark=True)
            page.screenshot(path=options.out / "start-english-dark.png")
            answer(page)
            page.screenshot(path=options.out / "answer-english-dark.png")
            page = open_page(browser, address, width=360)
            page.screenshot(path=options.out / "start-phone.png")
            answer(page)
            page.screenshot(path=options.out / "sources-phone.png")
            page.click(".panel .close")
            page.screenshot(path=options.out / "answer-phone.png")


def answer(page: Page) -> None:
    """Ask, and open one source."""
    page.fill("#question textarea", QUESTION)
    page.press("#question textarea", "Enter")
    page.locator("#chat a[href='#cite-1-0']").wait_for()
    expect(page.locator("#send")).to_be_visible()
    page.wait_for_timeout(700)  # scrolling
    page.locator(f"#chat a[href='#cite-1-{MARKER}']").click()
    expect(page.locator(".panel mark.selected").first).to_be_in_viewport()
    page.wait_for_timeout(300)


if __name__ == "__main__":
    main()

"""Steps of a reader in the practice room, in a real browser."""

from playwright.sync_api import Page, expect

QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"


def enter(page: Page) -> None:
    """From anywhere to the bank."""
    page.locator("#room-practice-button").click()
    go(page, "bank")
    expect(page.locator("#practice-part .questions")).to_be_visible()


def go(page: Page, view: str) -> None:
    page.locator(f"#practice-navigation button[data-rest='{view}']").click()
    expect(page.locator(f"#practice-navigation button[data-rest='{view}']")).to_have_attribute("aria-current", "page")


def open_question(page: Page, question: str = QUESTION) -> None:
    asked = page.locator(".questions").get_by_role("button", name=question, exact=True)
    expect(asked).to_be_visible()
    asked.click()
    expect(page.locator("#practice h2")).to_have_text(question)


def reach(page: Page, question: str = QUESTION) -> None:
    """From anywhere to a question in the bank."""
    enter(page)
    open_question(page, question)


def grade(page: Page, attempt: str) -> None:
    page.fill("textarea[name='attempt']", attempt)
    page.press("textarea[name='attempt']", "Control+Enter")
    expect(page.locator("#practice .grade")).to_be_visible()

"""A real Chromium, and the real server in a process of its own."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from rag.errors import UsageError
from rag.paths import PROGRAM
from tools.server_process import running

# The tests say what must come, not how soon: a machine that runs them may be busy.
expect.set_options(timeout=120_000)

# The first that is installed. Without windows and menus it costs a fifth less of a test's processor time.
CHROMIUM = ("chromium-headless-shell", "chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> Path:
    """Path of the installed Chromium. Raises UsageError without one."""
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        raise UsageError("Chromium is not installed", hint="install it: make test-system")
    return Path(found)


@contextmanager
def open_browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(path), args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def serve(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run `app.py` and give the address that it prints. It runs in an empty folder, where it finds no settings file and
    no library of the checkout, and keeps conversations there unless `environment` names another."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(PROGRAM / "app.py"), *arguments]
        own = {**os.environ, "INTERVIEW_RAG_DATA": folder, **(environment or {})}
        with running(command, folder=Path(folder), environment=own) as server:
            yield server.address


def open_page(
    browser: Browser, address: str, *, language: str = "zh-CN", width: int = 1360, dark: bool = False, before: str = ""
) -> Page:
    """The page, ready for a question. `before` is a script that runs before those of the page."""
    height = 860 if width > 600 else 740
    context = browser.new_context(
        viewport={"width": width, "height": height}, locale=language, color_scheme="dark" if dark else "light"
    )
    context.add_init_script(before)
    page = context.new_page()
    # The page asks for the reader's language as soon as it runs.
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.goto(address)
    page.wait_for_selector(".panel", state="attached")
    page.wait_for_selector("#question textarea")
    return page

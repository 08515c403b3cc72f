"""The first start: the page is there at once, shows how far it is, and becomes a chat over what is ready. It is asked
for a port that is taken, and ends by Ctrl+C."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import pytest
from playwright.sync_api import Browser, expect

from ingest.updates.first_reading import UNFINISHED_FILE
from rag.index import open_index
from rag.settings import Settings
from rag.ui.app.open_page import FIRST_DOCUMENTS
from rag.ui.texts import GUIDE_TEXTS, Language
from tests.paths import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ZH = GUIDE_TEXTS[Language.ZH]
COUNT = FIRST_DOCUMENTS * 2
# Of the first document: so many that reading them takes longer than a browser takes to load the page.
SECTIONS = 150
PAGE = "# 方法{number}是什么？\n\n## 一句话回答\n方法{number}把第 {number} 层的激活缓存下来，省去重复计算。\n"


@pytest.fixture
def address(tmp_path: Path, model_settings: Settings) -> Iterator[str]:
    (tmp_path / "corpus").mkdir()
    for number in range(COUNT):
        (tmp_path / "corpus" / f"{number:02}.md").write_text(PAGE.format(number=number), encoding="utf-8")
    with (tmp_path / "corpus" / "00.md").open("a", encoding="utf-8") as first:
        first.writelines(
            f"\n## 第 {number} 步做什么\n第 {number} 步写下编号 {number}。\n" for number in range(SECTIONS)
        )
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        process = subprocess.Popen(
            [sys.executable, str(ROOT / "app.py"), "--port", str(taken)],
            cwd=tmp_path, env=dict(os.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        with process:
            address = process.stdout.readline().strip()
            yield address
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert said.startswith(f"port {taken} is taken, using {urlparse(address).port}\n")
    assert said.count("is taken") == 1  # by the page of the first start, and not again by the chat


def test_the_page_opens_at_once_and_becomes_the_chat(address: str, browser: Browser, tmp_path: Path) -> None:
    assert not (tmp_path / ".interview-rag" / "index" / "CURRENT").exists()
    page = browser.new_context(locale="zh-CN").new_page()
    page.goto(address)
    expect(page.locator("#preparing")).to_contain_text(ZH.preparing)
    expect(page.locator("#preparing progress")).to_be_visible()
    page.wait_for_selector("#question textarea", timeout=120_000)
    page.fill("#question textarea", "方法0是什么？")
    page.keyboard.press("Enter")
    expect(page.locator("#chat .bot-row")).to_contain_text("把第 0 层的激活缓存下来")
    page.click("#room-library-button")
    expect(page.locator("#updates")).to_contain_text(f"新增 {COUNT - FIRST_DOCUMENTS}", timeout=60_000)
    index = open_index(tmp_path / ".interview-rag" / "index")
    assert len(index.storage.entries()) == COUNT
    index.close()
    assert not (tmp_path / ".interview-rag" / "index" / UNFINISHED_FILE).exists()
    page.context.close()

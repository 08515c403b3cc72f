"""Documents, file names, front matter, questions and chat models that attack: nothing of it runs, asks another host for
anything, or takes the page's place, in a real browser."""

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from rag.embedding import Embedder
from rag.settings import Settings
from tests.paths import ROOT
from tests.rag.library import ingest
from tests.rag.ui.browser import ask, is_remote, serve

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FILE = ROOT / "tests" / "data" / "attacks.jsonl"
ATTACKS: list[str] = [json.loads(line)["text"] for line in FILE.read_text(encoding="utf-8").split("\n") if line]
# One topic for some attacks each, so that one question finds all of them.
TOPICS = [
    *[
        "梯度裁剪",
        "学习率预热",
        "权重衰减",
        "混合精度",
        "梯度累积",
        "标签平滑",
        "位置编码",
        "专家路由",
        "数据去重",
        "词表扩充",
    ],
    *[
        "激活重算",
        "奖励建模",
        "知识蒸馏",
        "量化校准",
        "投机解码",
        "前缀缓存",
        "张量并行",
        "长度外推",
        "拒绝采样",
        "向量召回",
    ],
]
BATCH = 5
SAMPLE = re.compile(r"第 \d+ 号[^。<]{2,8}样本的阈值取 [\d.]+。")

# Runs before the page's own scripts.
ALARM = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(
    `${event.violatedDirective}: ${event.blockedURI}`));
"""
# What there must be none of, anywhere in the page: elements of a document's making, and addresses elsewhere.
INTRUDERS = """() => {
    const found = [];
    const remote = (value) => /^\\s*(https?:)?\\/\\//i.test(value) && new URL(value, location.href).host !== location.host;
    const runs = (value) => /^[\\s\\x00-\\x1f]*(javascript|data|vbscript):/i.test(value.replace(/[\\s\\x00-\\x1f]/g, ""));
    const forbidden = "script, iframe, object, embed, base, meta, form, frame, link, video, audio, template, svg script";
    for (const element of document.querySelectorAll("#page *")) {
        const tag = element.tagName.toLowerCase();
        if (element.matches(forbidden)) found.push(tag);
        // Gradio gives an HTML component a style of its own.
        if (tag === "style" && /@import|url\\(|evil/i.test(element.textContent)) found.push(element.textContent);
        for (const { name, value } of element.attributes) {
            if (element.matches("a.download[href^='data:application/json;base64,']")) continue;  // the inspector's own
            if (name.startsWith("on")) found.push(`${tag} ${name}`);
            if (/(href|action|src|data|poster|background)$/.test(name) && runs(value) && !/^data:image\\//.test(value))
                found.push(`${tag} ${name}=${value}`);
            if (name !== "href" && /(href|action|src|srcset|poster|background)$/.test(name) && remote(value))
                found.push(`${tag} ${name}=${value}`);
            if (name === "href" && tag !== "a" && remote(value)) found.push(`${tag} ${name}=${value}`);
            if (name === "style" && /url\\(|image-set|@import|position:\\s*fixed/i.test(value)) found.push(`${tag} ${value}`);
        }
        if (element.id === "gradio_config") found.push("clobbered gradio_config");
    }
    return found;
}"""


def batches(size: int) -> list[tuple[str, ...]]:
    return [tuple(ATTACKS[start : start + size]) for start in range(0, len(ATTACKS), size)]


def document(number: int, attack: str) -> str:
    """A page that carries an attack wherever a page may carry text."""
    topic = TOPICS[number // BATCH]
    line = " ".join(attack.split())
    quoted = json.dumps(line)  # YAML takes it
    head = f"---\ntitle: {quoted}\ntags: [{quoted}]\nasked_as: [{json.dumps(line + '？')}]\n---\n"
    return f"{head}# {topic}样本 {line}\n\n第 {number} 号{topic}样本的阈值取 1.{number:02d}。{line}\n\n{attack}\n"


def file_name(number: int, attack: str) -> str:
    safe = re.sub(r"[/\x00-\x1f]", "", attack)
    return f"{number:02d} {safe.encode()[:120].decode(errors='ignore')}.md"


def documents() -> dict[str, str]:
    pages = {file_name(number, attack): document(number, attack) for number, attack in enumerate(ATTACKS)}
    few = ATTACKS[:6]
    rows = "".join(
        f'"{attack.replace(chr(34), chr(34) * 2)}",第 7{n} 号{TOPICS[0]}样本的阈值取 2.{n}。\n'
        for n, attack in enumerate(few)
    )
    cells: list[dict[str, Any]] = [
        {
            "cell_type": "markdown",
            "metadata": {},
            "source": f"# {TOPICS[1]}样本\n\n第 8{n} 号{TOPICS[1]}样本的阈值取 3.{n}。{attack}",
        }
        for n, attack in enumerate(few)
    ]
    output = {"output_type": "display_data", "metadata": {}, "data": {"text/html": few[0], "text/plain": few[3]}}
    cells.append({"cell_type": "code", "metadata": {}, "execution_count": 1, "source": few[3], "outputs": [output]})
    pages["cells.csv"] = f"公式,说明\n{rows}"
    pages["cells.ipynb"] = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    pages["page.html"] = f"<h1>{TOPICS[2]}样本</h1><p>第 90 号{TOPICS[2]}样本的阈值取 4.0。{''.join(few)}</p>"
    return pages


class Misbehaving(BaseHTTPRequestHandler):
    """An OpenAI-compatible endpoint that quotes all it is given, and attacks with what `attacks` holds."""

    attacks: ClassVar[tuple[str, ...]] = ()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = str(body["messages"][-1]["content"])
        said = "\n\n".join([*dict.fromkeys(SAMPLE.findall(prompt)), *self.attacks])
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for start in range(0, len(said), 40):
            self._chunk({"role": "assistant", "content": said[start : start + 40]}, None)
        self._chunk({}, "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def _chunk(self, delta: dict[str, str], reason: str | None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        chunk: dict[str, Any] = {
            "id": "1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "m",
            "choices": [choice],
        }
        self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def address(
    tmp_path_factory: pytest.TempPathFactory, browser: Browser, model_settings: Settings, embedder: Embedder
) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("attacks")
    report = ingest(folder, embedder, documents(), with_tokens=False)
    assert not report.documents.failed, report.as_text()
    model = ThreadingHTTPServer(("127.0.0.1", 0), Misbehaving)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    environment = {
        "INTERVIEW_RAG_ENDPOINT_URL": f"http://127.0.0.1:{model.server_port}/v1",
        "INTERVIEW_RAG_ENDPOINT_MODEL": "misbehaving",
        "INTERVIEW_RAG_LATE_INTERACTION": "false",
    }
    try:
        with serve(
            "--index", str(folder / "index"), "--port", "8010", "--llm", "endpoint", environment=environment
        ) as address:
            yield address
    finally:
        model.shutdown()
        model.server_close()


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[tuple[Page, list[str]]]:
    """A page that may neither ask another host for anything, nor open a dialog or a window, nor break its policy."""
    context = browser.new_context(viewport={"width": 1360, "height": 860}, locale="zh-CN")
    context.add_init_script(ALARM)
    trouble: list[str] = []

    def alarm(dialog: Dialog) -> None:
        trouble.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    context.on("request", lambda request: trouble.append(request.url) if is_remote(request.url) else None)
    context.on("dialog", alarm)
    page = context.new_page()
    context.on("page", lambda opened: trouble.append(f"opened {opened.url}"))
    page.goto(address)
    page.wait_for_selector("#question textarea")
    yield page, trouble
    context.close()


@pytest.fixture
def page(opened: tuple[Page, list[str]]) -> Iterator[Page]:
    page, trouble = opened
    yield page
    assert trouble == []


def check(page: Page) -> None:
    assert page.evaluate("window.ran") is None
    assert page.evaluate(INTRUDERS) == []
    assert page.evaluate("window.violations") == []


def test_there_are_enough_attacks() -> None:
    assert len(set(ATTACKS)) == len(ATTACKS) >= 60
    assert len(ATTACKS) <= BATCH * len(TOPICS)


def test_attacks_of_documents_of_questions_and_of_the_chat_model(page: Page) -> None:
    """Each question finds the documents of one topic, and attacks itself; the model quotes them all, and adds the same
    attacks."""
    check(page)  # titles and questions of the documents are the examples at the start
    seen = ""
    for topic, attacks in zip(TOPICS, batches(BATCH), strict=True):
        Misbehaving.attacks = attacks
        page.click("#clear")  # what was answered before is not drawn again with every word
        expect(page.locator("#chat .bot-row")).to_have_count(0)
        ask(page, "\n\n".join([f"{topic}样本的阈值取多少？", *attacks]))
        check(page)
        seen += page.locator("#sources").inner_text() + page.locator("#chat .bot-row").inner_text()
        page.locator("#chat .bot-row").hover()
        press_everything(page)
        check(page)
    # That they were there to be seen: else all this would pass on an empty page.
    numbers = {int(number) for number in re.findall(r"第 (\d+) 号", seen)}
    assert len(numbers & set(range(len(ATTACKS)))) >= 0.8 * len(ATTACKS)
    for text in ("<script>window.ran=1</script>", "onerror=window.ran=1", "javascript:window.ran=1", "evil.invalid"):
        assert text in seen


def test_attacks_in_the_rooms(page: Page) -> None:
    """Titles, file names and tags in the library, a whole document, and what the inspector quotes."""
    Misbehaving.attacks = ()
    question = f"{TOPICS[0]}样本的阈值取多少？"
    page.click("#clear")
    expect(page.locator("#chat .bot-row")).to_have_count(0)
    ask(page, question)
    page.locator(".panel .whole-source").first.click()
    expect(page.locator("#whole .body")).to_contain_text(TOPICS[0])
    check(page)
    page.keyboard.press("Escape")
    rooms = page.get_by_role("tab")
    rooms.nth(2).click()
    expect(page.locator("table.documents")).to_contain_text("onerror=window.ran=1")
    check(page)
    page.locator("table.documents button[data-action=read]").first.click()
    expect(page.locator(".reader .text")).to_contain_text("样本的阈值取")
    check(page)
    page.evaluate("location.hash = '#room-inspector'")
    page.fill("#inspector-question textarea", question)
    page.click("#inspector-go")
    expect(page.locator("table.ranking")).to_contain_text(TOPICS[0])
    check(page)


def press_everything(page: Page) -> None:
    """Follow what looks like a link of a document: none runs a script. Real ones are not followed to their host."""
    page.evaluate(
        """() => {
            const links = [...document.querySelectorAll("#chat .prose a[href], #sources a[href]")];
            for (const link of links.filter((link) => !/^(https?:|ftp:|#)/.test(link.getAttribute("href")))) link.click();
            for (const element of document.querySelectorAll("#chat .prose *, #sources *"))
                element.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
        }"""
    )


def test_the_policy_holds_where_nothing_was_made_safe(opened: tuple[Page, list[str]]) -> None:
    """Every attack put into the page as HTML, as if nothing had escaped or cleaned it: the browser runs none and fetches
    nothing. A `meta` refresh and the press of a link leave the page, which no policy forbids. The last test of the
    page."""
    page, _ = opened
    remote: list[str] = []
    page.on("requestfinished", lambda request: remote.append(request.url) if is_remote(request.url) else None)
    page.evaluate(
        """(attacks) => {
            window.violations = [];
            document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
            for (const attack of attacks) {
                const place = document.body.appendChild(document.createElement("div"));
                place.innerHTML = attack;
                for (const link of place.querySelectorAll("[href]")) {
                    const address = link.getAttribute("href").replace(/\\s/g, "");
                    if (/^javascript:/i.test(address)) link.dispatchEvent(new MouseEvent("click", { cancelable: true }));
                }
            }
        }""",
        [attack for attack in ATTACKS if "http-equiv" not in attack],
    )
    page.wait_for_timeout(1_000)
    assert page.evaluate("window.ran") is None
    assert remote == []
    stopped = set(page.evaluate("window.violations"))
    assert {"script-src-attr", "script-src-elem", "img-src", "style-src-elem"} <= stopped

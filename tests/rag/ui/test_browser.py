"""The page in a real browser, over the real server and the real embedder."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlparse

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from rag.answer.assistant import Assistant
from rag.embedding import Embedder
from rag.settings import Settings
from rag.types import Answer
from rag.ui.policy import content_policy
from rag.ui.texts import TEXTS, Language
from tests.paths import ROOT
from tests.rag.ui.browser import ask, is_remote, open_page, serve, settle
from tests.rag.ui.house import House

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ZH, EN = TEXTS[Language.ZH], TEXTS[Language.EN]
NUMBER = re.compile(r" *\[\d+(?:–\d+)?\]")
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
NASTY_QUESTION = "梯度裁剪的阈值怎么选？"
STEADY_QUESTION = "不相干的问题：明天上海的天气怎么样，要带伞吗？"
REFUSED_QUESTION = "GRPO 用的 LoRA 秩是多少？"


@pytest.fixture(scope="module")
def settings(house: House) -> Settings:
    return house.settings


@pytest.fixture(scope="module")
def assistant(settings: Settings, embedder: Embedder) -> Assistant:
    """The same as the server's, to know what it must show."""
    return Assistant(settings, embedder)


@pytest.fixture(scope="module")
def address(house: House) -> str:
    return house.address


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """A page of a Chinese reader. No test may make it ask another host for anything, or throw."""
    page = open_page(browser, address)
    trouble = watch(page)
    yield page
    page.context.close()
    assert trouble == []


def watch(page: Page) -> list[str]:
    trouble: list[str] = []
    page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
    page.on("request", lambda request: trouble.append(request.url) if is_remote(request.url) else None)
    page.on("console", lambda message: trouble.append(message.text) if "Content Security" in message.text else None)
    return trouble


def answer_of(assistant: Assistant, question: str) -> Answer:
    answer = assistant.ask(question)
    assert answer.refusal is None, f"the test needs an answer to {question}"
    return answer


def selected(page: Page) -> str:
    """The quote that is picked out, as it is written: without what is drawn of its formulas."""
    written = """marks => marks.map(mark => {
        const copy = mark.cloneNode(true);
        for (const drawing of copy.querySelectorAll(".drawing")) drawing.remove();
        return copy.textContent;
    }).join("")"""
    return str(page.eval_on_selector_all(".panel mark.selected", written))


def pick(within: Locator, marker: int) -> None:
    """Point at what a quote proves: at its sentence, or at the number below a block."""
    within.locator(f".claim.cite-1-{marker}, a[href='#cite-1-{marker}']").first.click()


def test_a_paragraph_has_one_number_for_all_of_its_quotes(page: Page, assistant: Assistant) -> None:
    question = "RoPE 的推导公式、方法对比和代码"
    answer = answer_of(assistant, question)
    ask(page, question)
    link = page.locator("#chat .bot-row").last.locator("a[href^='#cite-1-']", has_text="–").first
    first, last = map(int, link.inner_text().split("–"))
    link.click()
    quotes = "".join(citation.quote for citation in answer.citations if first <= citation.marker <= last)
    assert selected(page) == quotes
    ask(page, QUESTION)
    page.locator(f"#chat a[href='#cite-1-{first}-{last}']").click()  # its sources are fetched again
    expect(page.locator(".panel[data-turn='1'] mark.selected").first).to_be_visible()
    assert selected(page) == quotes


def test_an_answer_and_each_of_its_quotes(page: Page, assistant: Assistant) -> None:
    answer = answer_of(assistant, QUESTION)
    ask(page, QUESTION)
    assert page.input_value("#question textarea") == ""
    reply = page.locator("#chat .bot-row").last
    expect(reply).to_contain_text("ZeRO-2 切分优化器状态和梯度")
    for citation in answer.citations:
        pick(reply, citation.marker)
        assert selected(page) == citation.quote
        source = assistant.source(citation.document) or ""
        assert source[citation.start : citation.end] == citation.quote
        expect(page.locator(".panel mark.selected").first).to_be_in_viewport()
    expect(page.locator(".panel")).to_contain_text(answer.citations[0].title)
    assert "cite" not in page.url  # a marker is no navigation


def test_formulas_tables_and_code_are_drawn(page: Page, assistant: Assistant) -> None:
    question = "RoPE 的推导公式、方法对比和代码"
    text = answer_of(assistant, question).text
    ask(page, question)
    reply = page.locator("#chat .bot-row").last
    for sign, selector in {"$$": ".katex-display", "|---": "table", "```python": "pre code .token"}.items():
        assert sign in text, "the test needs an answer with all of them"
        expect(reply.locator(selector).first).to_be_visible()
    colours = "code => new Set([...code.querySelectorAll('*')].map(part => getComputedStyle(part).color)).size"
    assert reply.locator("pre code").evaluate(colours) >= 3  # keywords, names and numbers are told apart


def with_sources(answer: Answer) -> str:
    """What a copied answer holds: its text, and what its numbers stand for."""
    lines = [f"[{citation.marker}] {citation.title} · {citation.document}" for citation in answer.citations]
    return "\n".join([f"{without_numbers(answer.text)}\n\n{ZH.sources}", *lines])


def copied(text: str) -> str:
    """A copied answer, its text without numbers, of which those of a paragraph are drawn as one."""
    body, sources, lines = text.strip().rpartition(f"\n\n{ZH.sources}")
    assert NUMBER.search(body)
    return without_numbers(body) + sources + lines


def without_numbers(text: str) -> str:
    return NUMBER.sub("", text)


def test_copying_gives_the_answer_as_it_was_written(page: Page, assistant: Assistant) -> None:
    question = "RoPE 怎么工作，为什么能外推？"
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(page, question)
    page.locator("#chat button.copy").first.click()
    assert copied(page.evaluate("navigator.clipboard.readText()")) == with_sources(answer_of(assistant, question))


def test_copying_over_plain_http_from_another_machine(browser: Browser, address: str, assistant: Assistant) -> None:
    """A browser has no clipboard for such a page."""
    question = "RoPE 怎么工作，为什么能外推？"
    page = open_page(browser, address, before="delete Navigator.prototype.clipboard")
    assert page.evaluate("navigator.clipboard.readText") is None
    ask(page, question)
    page.locator("#chat button.copy").first.click()
    page.focus("#question textarea")
    page.keyboard.press("Control+v")
    assert copied(page.input_value("#question textarea")) == with_sources(answer_of(assistant, question))
    page.context.close()


def test_sources_read_as_they_were_meant_or_as_they_are_written(page: Page, assistant: Assistant) -> None:
    question = "RoPE 的推导公式、方法对比和代码"
    page.set_viewport_size({"width": 1360, "height": 480})
    answer = answer_of(assistant, question)
    ask(page, question)
    panel = page.locator(".panel")
    expect(panel.locator(".drawing .katex-display").locator("visible=true").first).to_be_visible()
    for citation in answer.citations:  # the panel scrolls to each
        pick(page.locator("#chat"), citation.marker)
        assert selected(page) == citation.quote
        expect(panel.locator("mark.selected").first).to_be_in_viewport()
    expect(panel.locator(".table .cell").locator("visible=true").first).to_be_visible()
    signs = ("$$", "```python", "|---|", "| PI |")
    shown = panel.inner_text()
    assert [sign for sign in ("## ", *signs) if sign in shown] == []
    see(page, "as-written", on=True)
    written = panel.inner_text()
    assert [sign for sign in signs if sign not in written] == []
    expect(panel.locator(".drawing").first).to_be_hidden()
    page.reload()
    panel.locator(".whole-source").first.click()
    expect(page.locator("#whole .body")).to_contain_text(answer.citations[0].quote)
    assert lines(page.locator("#whole .body").inner_text()) == lines(assistant.source("rope.md") or "")
    page.keyboard.press("Escape")
    see(page, "as-written", on=False)
    panel.locator(".whole-source").first.click()
    expect(page.locator("#whole .drawing .katex").first).to_be_visible()


def see(page: Page, view: str, *, on: bool) -> None:
    """Switch what the curious see beside the sources, and come back."""
    page.locator("#room-settings-button").click()
    page.locator("#room-inspector-button").click()
    page.locator(f"#inspector-views input[data-view='{view}']").set_checked(on)
    page.locator("#room-chat-button").click()


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_repeated_questions_keep_their_own_sources(page: Page) -> None:
    ask(page, QUESTION)
    ask(page, NASTY_QUESTION)
    ask(page, QUESTION)
    page.locator("#chat a[href='#cite-2-1']").first.click()
    expect(page.locator(".panel[data-turn='2'] mark.selected").first).to_be_visible()
    page.locator("#chat a[href='#cite-1-1']").first.click()
    expect(page.locator(".panel[data-turn='1'] mark.selected").first).to_be_visible()
    ids = page.eval_on_selector_all("[id^='cite-']", "elements => elements.map(e => e.id)")
    assert len(ids) == len(set(ids))


def test_nothing_in_a_document_runs_or_is_fetched(page: Page, assistant: Assistant) -> None:
    answer = answer_of(assistant, NASTY_QUESTION)
    assert "<script>" in answer.text
    ask(page, NASTY_QUESTION)
    reply = page.locator("#chat .bot-row").last
    expect(reply).to_contain_text("<script>window.ran = 1</script>")
    for citation in answer.citations:
        pick(reply, citation.marker)
        assert selected(page) == citation.quote
    page.wait_for_timeout(500)
    assert page.evaluate("window.ran") is None
    assert page.locator("#chat .bot-row img, #chat .bot-row script, #sources img, #sources script").count() == 0
    assert page.locator("#chat .bot-row [onerror], #chat .bot-row [onload], #chat a[href^='javascript']").count() == 0


def test_the_policy_stops_what_slips_through(browser: Browser, address: str) -> None:
    """Were an image to get into the page after all, the browser would not fetch it."""
    page = open_page(browser, address)
    blocked = page.evaluate(
        """() => new Promise(resolve => {
            document.addEventListener("securitypolicyviolation", event => resolve(event.blockedURI));
            new Image().src = "http://evil.invalid/leak.png";
        })"""
    )
    assert "evil.invalid" in blocked
    page.context.close()


def test_a_refusal_and_its_suggestions(page: Page, assistant: Assistant) -> None:
    refusal = assistant.ask(REFUSED_QUESTION).refusal
    assert refusal is not None
    ask(page, REFUSED_QUESTION)
    notice = page.locator("#chat .bot-row .notice.refusal")
    expect(notice).to_be_visible()
    expect(page.locator(".panel")).to_contain_text(ZH.sources_nearest)
    suggestions = notice.locator("a.suggestion")
    expect(suggestions).not_to_have_count(0)
    assert suggestions.all_text_contents() == list(refusal.suggestions)
    suggestions.first.click()
    settle(page, 1)
    expect(page.locator("#chat .user-row").last).to_have_text(refusal.suggestions[0])


def test_what_nothing_is_like_is_refused_with_the_way_to_the_topics(page: Page) -> None:
    ask(page, STEADY_QUESTION)
    notice = page.locator("#chat .notice.refusal")
    expect(notice.locator("p")).to_have_text([ZH.refused, ZH.way_in])
    expect(notice.locator("li")).to_have_count(0)
    expect(page.locator(".panel .body")).to_have_text(ZH.sources_none)
    notice.get_by_text(ZH.way_in).click()
    expect(page.locator("#room-library table.documents")).to_be_visible()


def test_languages(browser: Browser, address: str) -> None:
    page = open_page(browser, address, language="en-GB")
    expect(page.locator("#title")).to_contain_text(EN.title)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    ask(page, STEADY_QUESTION)
    expect(page.locator("#chat .notice")).to_contain_text(EN.way_in)
    page.get_by_label("中文").check()
    expect(page.locator("#title")).to_contain_text(ZH.title)
    expect(page.locator("#send")).to_have_text(ZH.send)
    expect(page.locator("#chat .notice")).to_contain_text(ZH.way_in)  # what was said is said anew
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
    page.context.close()


def test_examples_can_be_asked(page: Page) -> None:
    example = page.locator("#chat .example").first
    question = example.inner_text().strip()
    example.click()
    settle(page, 0)
    expect(page.locator("#chat .user-row")).to_have_text(question)


def test_retry_and_clear(page: Page) -> None:
    ask(page, QUESTION)
    page.click("#chat button.retry")
    expect(page.locator("#chat a[href='#cite-2-1']").first).to_be_visible()
    assert page.locator("#chat .user-row").count() == 1
    expect(page.locator("#chat .branches")).to_have_text("2/2")
    page.click("#clear")
    expect(page.locator("#chat .user-row")).to_have_count(0)
    expect(page.locator(".panel")).to_contain_text(ZH.sources_empty)


def test_a_question_is_read_the_other_way_on_a_click(page: Page) -> None:
    ask(page, QUESTION)
    expect(page.locator("#chat .read-as")).to_have_count(0)
    ask(page, "那它的秩怎么选？")
    told = page.locator("#chat .read-as")
    expect(told).to_contain_text(ZH.ask_alone)
    told.locator("button").click()
    expect(told).to_contain_text(ZH.read_alone)
    told.locator("button").click()
    expect(told).to_contain_text(ZH.ask_alone)
    assert page.locator("#chat .user-row").count() == 2


def test_what_cannot_be_asked_stays_in_the_box(page: Page) -> None:
    long = "长" * 4_001
    page.fill("#question textarea", long)
    page.click("#send")
    expect(page.get_by_text("4,001")).to_be_visible()
    assert page.input_value("#question textarea") == long
    page.fill("#question textarea", " ")
    page.click("#send")
    expect(page.get_by_text(ZH.question_empty)).to_be_visible()
    expect(page.locator("#chat .user-row")).to_have_count(0)


def test_enter_of_an_input_method_does_not_send(page: Page) -> None:
    page.fill("#question textarea", "梯度")
    page.eval_on_selector(
        "#question textarea",
        "box => box.dispatchEvent(new KeyboardEvent('keydown', "
        "{key: 'Enter', isComposing: true, bubbles: true, cancelable: true}))",
    )
    page.wait_for_timeout(500)
    assert page.input_value("#question textarea") == "梯度"
    expect(page.locator("#chat .user-row")).to_have_count(0)


def test_a_phone_has_one_column_and_no_sideways_scrolling(browser: Browser, address: str) -> None:
    page = open_page(browser, address, width=360)
    sideways = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(sideways) <= 0
    ask(page, "RoPE 怎么工作，为什么能外推？")
    assert page.evaluate(sideways) <= 0
    panel = page.locator("#sources")
    expect(panel).not_to_be_visible()
    page.locator("#chat a[href^='#cite-1-']").first.click()
    expect(panel).to_be_visible()
    expect(page.locator(".panel mark.selected").first).to_be_in_viewport()
    assert page.evaluate(sideways) <= 0
    page.click(".panel .close")
    expect(panel).not_to_be_visible()
    page.context.close()


def test_two_readers_do_not_see_each_other(browser: Browser, address: str) -> None:
    first, second = open_page(browser, address), open_page(browser, address)
    ask(first, QUESTION)
    ask(second, NASTY_QUESTION)
    assert first.locator("#chat .user-row").all_inner_texts() == [QUESTION]
    assert second.locator("#chat .user-row").all_inner_texts() == [NASTY_QUESTION]
    first.context.close()
    second.context.close()


def test_what_the_server_gives_away(address: str) -> None:
    response = httpx.get(address)
    nonce = re.search(r'<script nonce="([\w-]{22})"', response.text)
    assert nonce is not None
    assert response.headers["content-security-policy"] == content_policy(nonce[1])
    assert httpx.get(address, headers={"Host": "evil.invalid"}).status_code == 400
    for path in ("monitoring", "docs", "openapi.json", "gradio_api/file=/etc/passwd"):
        assert httpx.get(address + path).status_code >= 400, path
    asked = httpx.post(address + "v1/ask", json={"question": QUESTION}, trust_env=False)
    assert asked.status_code == 404, "the API is off unless the settings say otherwise"
    assert httpx.get(address + "gradio_api/info").json().get("named_endpoints") == {}
    too_large = b"x" * (Settings().max_file_megabytes + 1) * 1024 * 1024
    upload = httpx.post(address + "gradio_api/upload", files={"files": ("big.bin", too_large)}, timeout=30)
    assert upload.status_code >= 400


def test_a_taken_port_ctrl_c_and_what_is_kept_until_the_next_start(
    settings: Settings, browser: Browser, address: str, tmp_path: Path
) -> None:
    taken = str(urlparse(address).port)
    arguments = ("--index", str(settings.index), "--port", taken, "--llm", "extractive")
    kept = {"INTERVIEW_RAG_DATA": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "app.py", *arguments], cwd=ROOT, env={**os.environ, **kept},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    first = process.stdout.readline().strip()
    assert urlparse(first).port != int(taken)
    page = open_page(browser, first)
    ask(page, QUESTION)
    page.context.close()
    process.send_signal(2)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert re.fullmatch(rf"port {taken} is taken, using \d+\n(interrupted\n)?", said)
    with serve(*arguments, environment=kept) as second:
        page = open_page(browser, second)
        page.locator(".conversations .title", has_text=QUESTION).click()
        expect(page.locator("#chat .bot-row")).to_contain_text("ZeRO-2 切分优化器状态和梯度")
        page.context.close()


def test_documents_are_updated_automatically(browser: Browser, address: str, house: House) -> None:
    page, other = open_page(browser, address), open_page(browser, address, language="en-GB")
    page.locator("#room-library-button").click()
    switch = page.get_by_label(ZH.auto_update)
    expect(switch).not_to_be_checked()
    switch.check()
    expect(page.locator("#updates")).to_contain_text("资料没有变化")
    text = "# 标签平滑是什么？\n\n标签平滑把目标从 1 降到 0.9，其余均分，避免过度自信。\n"
    document = house.folder / "documents" / "smoothing.md"
    document.write_text(text, encoding="utf-8")
    expect(page.locator("#updates")).to_contain_text("新增 1")
    page.locator("#room-chat-button").click()
    ask(page, "标签平滑是什么？")
    expect(page.locator("#chat .bot-row").last).to_contain_text("避免过度自信")
    other.reload()
    other.locator("#room-library-button").click()
    expect(other.get_by_label(EN.auto_update)).to_be_checked()
    document.unlink()
    expect(page.locator("#updates")).to_contain_text("删除 1")
    page.locator("#room-library-button").click()
    switch.uncheck()
    expect(page.locator("#updates")).to_be_empty()
    page.context.close()
    other.context.close()

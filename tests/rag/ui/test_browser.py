"""The page in a real browser, over the real server and the real embedder."""

import re

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from rag.answer.assistant import Assistant
from rag.embedding import Embedder
from rag.settings import Settings
from rag.types import Answer
from rag.ui.app.policy import ICON, content_policy
from rag.ui.texts import TEXTS, Language
from tests.rag.ui.browser import ask, open_page, settle
from tests.rag.ui.house import House
from tests.rag.ui.visit import Visit
from tools.bench.evening import SHIFTED, WATCH, worst_window

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


def pick(within: Locator, marker: int, turn: int = 1) -> None:
    """Point at what a quote proves: at its sentence, or at the number below a block."""
    within.locator(f".claim.cite-{turn}-{marker}, a[href='#cite-{turn}-{marker}']").first.click()


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


def test_answers_their_quotes_and_what_attacks_in_them(page: Page, assistant: Assistant) -> None:
    ask(page, QUESTION)
    assert page.input_value("#question textarea") == ""
    expect(page.locator("#chat .bot-row")).to_contain_text("ZeRO-2 切分优化器状态和梯度")
    picked_one_by_one(page, assistant, QUESTION, turn=1)
    assert "cite" not in page.url  # a marker is no navigation

    ask(page, NASTY_QUESTION)
    expect(page.locator("#chat .bot-row").last).to_contain_text("<script>window.ran = 1</script>")
    picked_one_by_one(page, assistant, NASTY_QUESTION, turn=2)
    page.wait_for_timeout(500)
    assert page.evaluate("window.ran") is None
    assert page.locator("#chat .bot-row img, #chat .bot-row script, #sources img, #sources script").count() == 0
    assert page.locator("#chat .bot-row [onerror], #chat .bot-row [onload], #chat a[href^='javascript']").count() == 0

    ask(page, QUESTION)  # once more, with sources of its own
    for turn in (2, 1):
        page.locator(f"#chat a[href='#cite-{turn}-1']").first.click()
        expect(page.locator(f".panel[data-turn='{turn}'] mark.selected").first).to_be_visible()
    ids = page.eval_on_selector_all("[id^='cite-']", "elements => elements.map(e => e.id)")
    assert len(ids) == len(set(ids))


def picked_one_by_one(page: Page, assistant: Assistant, question: str, *, turn: int) -> None:
    """Pointing at each part of the last answer picks out its quote, which is in view and stands so in its document."""
    answer, reply = answer_of(assistant, question), page.locator("#chat .bot-row").last
    for citation in answer.citations:
        pick(reply, citation.marker, turn)
        assert selected(page) == citation.quote
        source = assistant.source(citation.document) or ""
        assert source[citation.start : citation.end] == citation.quote
        expect(page.locator(".panel mark.selected").first).to_be_in_viewport()
    expect(page.locator(".panel")).to_contain_text(answer.citations[0].title)


def test_an_answer_is_made_anew_a_follow_up_read_the_other_way_and_all_cleared(page: Page) -> None:
    ask(page, QUESTION)
    expect(page.locator("#chat .read-as")).to_have_count(0)
    page.click("#chat button.retry")
    expect(page.locator("#chat a[href='#cite-2-1']").first).to_be_visible()
    assert page.locator("#chat .user-row").count() == 1
    expect(page.locator("#chat .branches")).to_have_text("2/2")
    settle(page, 0)
    ask(page, "那它的秩怎么选？")
    told = page.locator("#chat .read-as")
    expect(told).to_contain_text(ZH.ask_alone)
    told.locator("button").click()
    expect(told).to_contain_text(ZH.read_alone)
    told.locator("button").click()
    expect(told).to_contain_text(ZH.ask_alone)
    assert page.locator("#chat .user-row").count() == 2
    settle(page, 1)
    page.click("#clear")
    expect(page.locator("#chat .user-row")).to_have_count(0)
    expect(page.locator(".panel")).to_contain_text(ZH.sources_empty)


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


def test_answers_and_sources_read_as_they_were_meant_or_as_they_are_written(page: Page, assistant: Assistant) -> None:
    question = "RoPE 的推导公式、方法对比和代码"
    page.set_viewport_size({"width": 1360, "height": 480})
    answer = answer_of(assistant, question)
    ask(page, question)
    reply = page.locator("#chat .bot-row").last
    for sign, selector in {"$$": ".katex-display", "|---": "table", "```python": "pre code .token"}.items():
        assert sign in answer.text, "the test needs an answer with all of them"
        expect(reply.locator(selector).first).to_be_visible()
    colours = "code => new Set([...code.querySelectorAll('*')].map(part => getComputedStyle(part).color)).size"
    assert reply.locator("pre code").evaluate(colours) >= 3  # keywords, names and numbers are told apart
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


def test_the_policy_stops_what_slips_through(page: Page, visit: Visit) -> None:
    """Were an image to get into the page after all, the browser would not fetch it."""
    blocked = page.evaluate(
        """() => new Promise(resolve => {
            document.addEventListener("securitypolicyviolation", event => resolve(event.blockedURI));
            new Image().src = "http://evil.invalid/leak.png";
        })"""
    )
    assert "evil.invalid" in blocked
    assert any("Content Security Policy" in told for told in visit.told())


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
    page = open_page(browser, address, language="en-GB", before=WATCH)
    expect(page.locator("#title")).to_contain_text(EN.title)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    expect(page.locator("#page[data-greeted]")).to_have_count(1)
    assert worst_window(page.evaluate("window.shifts")) <= SHIFTED  # though the greeting brings another language
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


def test_a_phone_has_one_column_and_no_sideways_scrolling(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
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


def test_two_readers_do_not_see_each_other(page: Page, browser: Browser, address: str, assistant: Assistant) -> None:
    """The second copies its answer over plain HTTP from another machine, where a browser has no clipboard."""
    second = open_page(browser, address, before="delete Navigator.prototype.clipboard")
    assert second.evaluate("navigator.clipboard.readText") is None
    ask(page, QUESTION)
    other = "RoPE 怎么工作，为什么能外推？"
    ask(second, other)
    assert page.locator("#chat .user-row").all_inner_texts() == [QUESTION]
    assert second.locator("#chat .user-row").all_inner_texts() == [other]
    second.locator("#chat button.copy").first.click()
    second.focus("#question textarea")
    second.keyboard.press("Control+v")
    assert copied(second.input_value("#question textarea")) == with_sources(answer_of(assistant, other))
    second.context.close()


def test_what_the_server_gives_away(address: str) -> None:
    response = httpx.get(address)
    nonce = re.search(r'<script nonce="([\w-]{22})"', response.text)
    assert nonce is not None
    assert response.headers["content-security-policy"] == content_policy(nonce[1])
    told = dict(re.findall(r'<meta\s+(?:property|name)="((?:og|twitter):[^"]+)"\s+content="([^"]*)"', response.text))
    assert told == {
        "og:title": "大模型面试问答 · LLM interview Q&amp;A",
        "og:type": "website",
        "og:description": "每句都有出处。Every sentence has its source.",
    }
    icons = re.findall(r'<link\s[^>]*rel="(?:shortcut )?icon"[^>]*>', response.text)
    assert f'<link rel="icon" href="{ICON}">' == icons[0], icons
    assert httpx.get(address, headers={"Host": "evil.invalid"}).status_code == 400
    for path in ("monitoring", "docs", "openapi.json", "gradio_api/file=/etc/passwd"):
        assert httpx.get(address + path).status_code >= 400, path
    asked = httpx.post(address + "v1/ask", json={"question": QUESTION}, trust_env=False)
    assert asked.status_code == 404, "the API is off unless the settings say otherwise"
    assert httpx.get(address + "gradio_api/info").json().get("named_endpoints") == {}
    too_large = b"x" * (Settings().max_file_megabytes + 1) * 1024 * 1024
    upload = httpx.post(address + "gradio_api/upload", files={"files": ("big.bin", too_large)}, timeout=30)
    assert upload.status_code >= 400


def test_documents_are_updated_automatically(page: Page, browser: Browser, address: str, house: House) -> None:
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
    other = open_page(browser, address, language="en-GB")
    other.locator("#room-library-button").click()
    expect(other.get_by_label(EN.auto_update)).to_be_checked()
    other.context.close()
    document.unlink()
    expect(page.locator("#updates")).to_contain_text("删除 1")
    page.locator("#room-library-button").click()
    switch.uncheck()
    expect(page.locator("#updates")).to_be_empty()

"""A conversation is a thing with an address, a draft, and a place in the search, in a real browser."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rag.ui.texts import LIBRARY_TEXTS, TEXTS, Language
from tests.rag.ui.browser import (
    IMPATIENT,
    SLOW,
    VOICES,
    arrived,
    ask,
    begin,
    choose,
    open_page,
    settle,
)
from tests.rag.ui.house import House
from tests.rag.ui.test_browser_accessible import violations

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ZH, EN = TEXTS[Language.ZH], TEXTS[Language.EN]
LIBRARY = LIBRARY_TEXTS[Language.ZH]
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
OTHER = "LoRA 为什么能省显存？"
BOX = "#question textarea"


@pytest.fixture(scope="module")
def before() -> str:
    return IMPATIENT + SLOW + VOICES


def test_a_conversation_is_opened_by_its_address(page: Page, browser: Browser) -> None:
    first, asked = begin(page, QUESTION), page.locator("#chat .user-row")
    second = begin(page, OTHER)
    assert first != second
    page.go_back()  # the empty page between the two became the second one
    expect(asked).to_have_text(QUESTION)
    page.reload()
    expect(asked).to_have_text(QUESTION)
    expect(page.locator("#sources .panel")).not_to_have_attribute("data-done", "0")  # what the address asks for is open
    assert page.url == first
    page.go_forward()
    expect(asked).to_have_text(OTHER)
    page.locator(f".conversations a[href='#{first.partition('#')[2]}']").click()
    expect(asked).to_have_text(QUESTION)
    ask(page, "通信量呢？")  # goes on in the conversation that is open
    assert page.url == first
    visit = open_page(browser, second)
    expect(visit.locator("#chat .user-row")).to_have_text(OTHER)
    visit.context.close()


def test_quick_steps_back_and_forward_end_where_the_address_says(page: Page, address: str) -> None:
    asked = {begin(page, question): question for question in (QUESTION, OTHER, "RoPE 的推导公式、方法对比和代码")}
    first, second, third = asked
    shown = page.locator("#chat .user-row")
    for delays, steps, end in (
        ([800, 0], [-1, -1], first),
        ([0], [2], third),
        ([800, 400, 0], [-1, -1, 1], second),
        ([800, 0], [1, -1], second),
    ):
        page.evaluate("([delays]) => { window.delays = delays; }", [delays])
        for step in steps:
            before = page.url
            page.evaluate("step => history.go(step)", step)
            page.wait_for_function("before => location.href !== before", arg=before)
        arrived(page)
        assert page.url == end
        expect(shown).to_have_text(asked[end])
        expect(page.locator("#sources .panel")).to_have_attribute("data-conversation", end.rpartition("-")[2])
    page.evaluate("void (window.delays = [Infinity])")
    page.go_back()
    page.click("#clear")
    expect(page).to_have_url(address)  # a new conversation has overtaken the step back
    page.go_back()
    expect(shown).to_have_text(asked[first])
    assert page.url == first


def test_without_an_answer_the_address_stays_with_what_is_shown(page: Page) -> None:
    first, second = begin(page, QUESTION), begin(page, OTHER)
    page.evaluate("() => { window.delays = [Infinity]; window.impatient = true; }")
    page.go_back()
    page.fill(BOX, "通信量呢？")
    page.press(BOX, "Enter")
    expect(page).to_have_url(second)
    expect(page.locator(BOX)).to_have_value("通信量呢？")  # the conversation that it was for is not there
    expect(page.locator("#chat .user-row")).to_have_text(OTHER)
    page.locator(f".conversations a[href='#{first.partition('#')[2]}']").click()
    expect(page.locator("#chat .user-row")).to_have_text(QUESTION)
    assert page.url == first
    page.evaluate("void (window.impatient = false)")


# The answer comes late, or what is asked gets there late.
@pytest.mark.parametrize("slowly", ["window.delays = [800]", "window.late = true"])
def test_a_question_waits_for_the_conversation_it_is_asked_in(page: Page, slowly: str) -> None:
    first = begin(page, QUESTION)
    shown = page.locator("#chat .user-row")
    page.evaluate(f"void ({slowly})")
    page.click("#clear")
    page.fill(BOX, OTHER)
    page.press(BOX, "Enter")
    arrived(page)
    expect(shown).to_have_text([OTHER])
    settle(page, 0)
    page.wait_for_function("first => ![first, ''].includes(location.hash)", arg=first[first.index("#") :])
    second = page.url
    page.evaluate(f"void ({slowly})")
    page.go_back()
    page.fill(BOX, "通信量呢？")
    page.press(BOX, "Enter")
    settle(page, 1)
    expect(shown).to_have_text([QUESTION, "通信量呢？"])
    assert page.url == first != second
    page.evaluate("void (window.late = false)")


def test_an_address_that_leads_nowhere_says_so(page: Page, browser: Browser, address: str) -> None:
    visit = open_page(browser, f"{address}#conversation-12345", language="en-GB")
    expect(visit.locator("#strip")).to_contain_text(EN.conversation_missing)
    expect(visit).to_have_url(address)
    ask(visit, QUESTION)
    expect(visit.locator("#strip .missing")).to_have_count(0)
    visit.context.close()
    gone = begin(page, QUESTION)
    here = begin(page, OTHER)
    entry = page.locator(".conversations li", has=page.locator(f"a[href='#{gone.partition('#')[2]}']"))
    entry.hover()
    entry.locator("summary").click()
    entry.get_by_role("button", name=ZH.delete).click()
    expect(entry).to_have_count(0)
    page.evaluate("hash => location.hash = hash", gone.partition("#")[2])
    expect(page.locator("#strip")).to_contain_text(ZH.conversation_missing)
    expect(page.locator("#chat .user-row")).to_have_text(OTHER)
    expect(page).to_have_url(here)


def test_every_conversation_keeps_its_own_draft(page: Page, browser: Browser, address: str) -> None:
    first = begin(page, QUESTION)
    page.fill(BOX, "还想问一句")
    page.click("#clear")
    expect(page.locator(BOX)).to_have_value("")
    page.fill(BOX, "新对话的草稿")
    page.go_back()
    expect(page.locator("#chat .user-row")).to_have_text(QUESTION)
    expect(page.locator(BOX)).to_have_value("还想问一句")
    other = page.context.new_page()  # the browser keeps them, not the tab
    other.goto(first)
    expect(other.locator(BOX)).to_have_value("还想问一句")
    other.goto("about:blank")
    other.goto(address)
    expect(other.locator(BOX)).to_have_value("新对话的草稿")
    ask(other, OTHER)
    assert sorted(other.evaluate("Object.keys(localStorage).filter(key => key.includes('.draft.'))")) == [
        f"interview-rag.draft..{first.rpartition('-')[2]}"
    ]
    page.press(BOX, "Enter")
    expect(page.locator("#chat .user-row")).to_have_count(2)
    page.reload()
    expect(page.locator("#chat .user-row")).to_have_count(2)
    expect(page.locator(BOX)).to_have_value("")


def test_a_conversation_can_be_linked_to_and_printed(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    first = begin(page, QUESTION)
    begin(page, OTHER)
    page.evaluate(
        "() => { window.print = () => { window.printed = document.querySelector('#chat .user-row').innerText; } }"
    )
    entry = page.locator(".conversations li", has=page.locator(f"a[href='#{first.partition('#')[2]}']"))
    for action in (ZH.copy_link, ZH.print):
        entry.hover()
        entry.locator("summary").click()
        entry.get_by_role("button", name=action).click()
    expect(page.locator("#done-note")).to_have_text(ZH.link_copied)
    assert page.evaluate("navigator.clipboard.readText()") == first
    page.wait_for_function("window.printed")
    assert page.evaluate("window.printed") == QUESTION
    expect(page.locator("#done-note")).to_be_empty()


def test_a_conversation_is_pinned_above_the_others(page: Page) -> None:
    begin(page, OTHER)
    begin(page, QUESTION)
    headings, titles = page.locator(".conversations h2"), page.locator(".conversations .title")
    expect(titles).to_have_text([QUESTION, OTHER])
    choose(page, OTHER, ZH.pin)
    expect(headings).to_have_text([ZH.pinned, ZH.today])
    expect(titles).to_have_text([OTHER, QUESTION])
    choose(page, OTHER, ZH.unpin)
    expect(headings).to_have_text([ZH.today])
    expect(titles).to_have_text([QUESTION, OTHER])


def test_tags_are_set_and_filter_the_list(page: Page) -> None:
    begin(page, OTHER)
    expect(page.locator(".conversations .tags")).to_have_count(0)
    entry = page.locator(".conversations li")
    entry.locator("summary").focus()  # by keys alone
    page.keyboard.press("Enter")
    for _ in (ZH.pin, ZH.rename, ZH.set_tag):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(entry.get_by_label(ZH.tag_label)).to_be_focused()
    page.keyboard.type(" 面试 <b> ")
    page.keyboard.press("Enter")
    expect(entry.locator(".tag")).to_have_text("面试 <b>")
    begin(page, QUESTION)
    tag = page.get_by_role("group", name=ZH.filter_by_tag).get_by_role("button", name="面试 <b>")
    expect(entry).to_have_count(2)
    tag.click()
    expect(entry).to_have_count(1)
    expect(entry.locator(".title")).to_have_text(OTHER)
    expect(tag).to_have_attribute("aria-pressed", "true")
    expect(tag).to_be_focused()
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(entry).to_have_count(2)
    page.fill("#sought textarea, #sought input", "面试")
    expect(entry).to_have_count(1)
    page.fill("#sought textarea, #sought input", "")
    choose(page, QUESTION, ZH.set_tag)
    field = entry.first.locator(".new-tag")
    offered = field.evaluate("field => [...field.list.options].map((option) => option.value)")
    assert offered == ["面试 <b>"]
    field.fill("论文")
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    expect(entry.locator(".tag")).to_have_count(1)
    choose(page, OTHER, ZH.set_tag)
    entry.last.locator(".new-tag").fill("")
    page.keyboard.press("Enter")
    expect(page.locator(".conversations .tags")).to_have_count(0)


def test_several_conversations_are_tagged_or_deleted_at_once(page: Page) -> None:
    for question in (OTHER, QUESTION, "早停是什么？"):
        begin(page, question)
    entry, choices = page.locator(".conversations li"), page.locator(".conversations .choice input")
    bar = page.locator(".conversations .several")
    expect(choices.first).to_be_hidden()
    bar.get_by_role("button", name=ZH.choose_many).click()
    expect(bar.get_by_role("button", name=ZH.tag_chosen)).to_be_disabled()
    expect(bar.get_by_role("button", name=ZH.delete_chosen)).to_be_disabled()
    choices.nth(1).check()
    entry.nth(2).locator(".title").click()  # chooses, too
    expect(choices.nth(2)).to_be_checked()
    bar.get_by_role("button", name=ZH.tag_chosen).click()
    bar.get_by_label(ZH.tag_chosen).fill("旧的")
    page.keyboard.press("Enter")
    expect(page.locator(".conversations .tag")).to_have_text(["旧的", "旧的"])
    expect(choices.first).to_be_hidden()
    bar.get_by_role("button", name=ZH.choose_many).click()
    untag = bar.get_by_role("button", name=ZH.untag_chosen)
    choices.nth(0).check()
    expect(untag).to_be_disabled()  # it has none
    choices.nth(1).check()
    untag.click()
    expect(page.locator(".conversations .tag")).to_have_text(["旧的"])
    expect(choices.first).to_be_hidden()
    bar.get_by_role("button", name=ZH.choose_many).click()
    choices.nth(0).check()
    choices.nth(2).check()
    bar.get_by_role("button", name=ZH.delete_chosen).click()
    expect(entry.locator(".title")).to_have_text([QUESTION])
    expect(page.locator("#chat .user-row")).to_have_count(0)  # the open one was among them
    expect(page.locator(".conversations")).to_contain_text(ZH.deleted_many.format(count=2))
    page.get_by_role("button", name=ZH.undo).click()
    expect(entry.locator(".title")).to_have_text(["早停是什么？", QUESTION, OTHER])


def test_a_shared_page_needs_nothing_else(browser: Browser, page: Page, house: House, tmp_path: Path) -> None:
    stopping = "早停是什么？"
    page.click("#clear")
    for number, (question, reply) in enumerate(
        ((QUESTION, "ZeRO-3 还切分模型参数。\n"), (stopping, "早停在验证集损失不再下降时停止训练。\n"), (stopping, ""))
    ):
        house.model_says(reply)
        ask(page, question)
        if reply:
            page.locator("#chat .others summary").last.click()
            page.locator("#chat .others").last.get_by_role("button", name="test").click()
            expect(page.locator("#chat .by").nth(number)).to_have_text(ZH.written_by.format(name="test"))
            settle(page, number)
    page.locator("#chat a[href^='#cite-']").first.hover()  # its quote goes from its title to the tip
    expect(page.locator("#quote-tip")).to_be_visible()
    with page.expect_download() as download:
        choose(page, QUESTION, ZH.share)
    assert download.value.suggested_filename == "ZeRO-2-和-ZeRO-3-差在哪.html"
    file = tmp_path / "shared.html"
    download.value.save_as(file)
    text = file.read_text(encoding="utf-8")
    assert "<script" not in text
    context = browser.new_context(offline=True, viewport={"width": 390, "height": 740})
    shared, requests = context.new_page(), list[str]()
    shared.on("request", lambda request: requests.append(request.url))
    shared.set_content(text)
    expect(shared.locator("h1")).to_have_text(QUESTION)
    expect(shared.locator(".asked")).to_have_text([QUESTION, stopping, stopping])
    answers = shared.locator(".answered")
    expect(answers.nth(0)).to_contain_text("ZeRO-3 还切分模型参数。 [1]")
    expect(answers.nth(0).locator("blockquote")).to_have_text(
        ["[1] ZeRO-2 切分优化器状态和梯度，ZeRO-3 还切分模型参数。"]
    )
    expect(answers.nth(1)).to_contain_text("早停在验证集损失不再下降时停止训练。 [1]")
    expect(answers.nth(1).locator("blockquote math")).to_have_count(1)
    expect(answers.nth(2).locator("p math")).to_have_count(1)
    expect(answers.nth(2).locator(".cited")).to_contain_text("stopping.md")
    expect(answers.nth(2).locator("blockquote")).to_have_count(0)  # the answer is the quote
    assert shared.locator("script, link, img, iframe, button, a").count() == 0
    assert shared.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    assert requests == []
    context.close()


def test_an_exported_conversation_is_opened_again(page: Page, tmp_path: Path) -> None:
    first = begin(page, QUESTION)
    entry = page.locator(".conversations li", has=page.locator(f"a[href='#{first.partition('#')[2]}']"))
    entry.hover()
    entry.locator("summary").click()
    with page.expect_download() as download:
        entry.get_by_role("button", name=ZH.export_json).click()
    file = tmp_path / "shared.json"
    download.value.save_as(file)
    page.click("#clear")
    expect(page.locator("#chat .user-row")).to_have_count(0)
    chooser = page.get_by_label(ZH.import_conversation)
    chooser.set_input_files(file)
    expect(page.locator("#chat .bot-row")).to_contain_text(ZH.imported)
    expect(page).not_to_have_url(first)
    expect(page).to_have_url(re.compile(r"#conversation-\d+$"))
    page.locator("#chat a[href='#cite-1-1']").first.click()
    expect(page.locator("#sources mark").first).to_be_visible()
    ask(page, "通信量呢？")
    page.reload()
    expect(page.locator("#chat .user-row")).to_have_count(2)
    here, exported = page.url, json.loads(file.read_text(encoding="utf-8"))
    code = "<img src=x onerror='window.ran = 1'>"
    exported["exchanges"][0] |= {"question": code, "answer": code, "claims": [], "citations": []}
    file.write_text(json.dumps(exported), encoding="utf-8")
    chooser.set_input_files(file)
    expect(page.locator("#chat .user-row")).to_have_count(1)
    expect(page.locator("#chat .user-row")).to_have_text(code)
    assert violations(page) == []
    broken = tmp_path / "<b>.json"
    broken.write_text("{", encoding="utf-8")
    chooser.set_input_files(broken)
    expect(page.locator(".toast-wrap")).to_contain_text(f"“{broken.name}”打不开：{ZH.import_no_json}")
    assert page.evaluate("window.ran") is None
    assert page.url != here


def test_search_from_everywhere_shows_what_it_found(page: Page) -> None:
    begin(page, OTHER)
    begin(page, QUESTION)
    sought, found = page.locator("#sought input, #sought textarea"), page.locator(".conversations li")
    page.get_by_role("tab").nth(1).click()
    expect(page.locator("#columns")).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(sought).to_be_focused()
    page.keyboard.type("冻结 ZERO")
    expect(found).to_have_count(0)
    page.keyboard.press("Control+a")
    page.keyboard.type("冻结原来")
    expect(found.first.locator(".snippet mark")).to_have_text(["冻结原来"])
    expect(found.first.locator(".snippet")).to_contain_text("LoRA 冻结原来的权重")
    page.keyboard.press("ArrowDown")
    expect(found.first.locator(".title")).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.locator("#chat .user-row")).to_have_text(OTHER)
    page.focus(BOX)
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(sought).to_have_value("")
    expect(page.locator(BOX)).to_be_focused()
    expect(page.locator(".conversations mark")).to_have_count(0)


def test_on_a_phone_a_tap_outside_closes_the_sheet_and_the_search_is_a_drawer(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 740})
    ask(page, QUESTION)
    marker, sources = page.locator("#chat a[href='#cite-1-1']").first, page.locator("#sources")
    marker.click()
    expect(sources).to_be_visible()
    page.mouse.click(60, 20)  # the head, where a tap would do something else
    expect(sources).to_be_hidden()
    marker.click()
    expect(sources).to_be_visible()
    page.locator(".panel .body").click()
    expect(sources).to_be_visible()
    page.keyboard.press("Escape")
    expect(sources).to_be_hidden()
    button = page.get_by_role("button", name=ZH.search_keys)
    button.click()
    expect(page.locator("#sought input, #sought textarea")).to_be_focused()
    expect(page.locator("#list-column")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#list-column")).to_be_hidden()
    expect(button).to_be_focused()
    page.set_viewport_size({"width": 667, "height": 375})
    page.wait_for_function("document.querySelector('#chat .bubble-wrap').clientHeight > 0.66 * innerHeight")
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0


def test_an_answer_is_read_aloud_and_stops(page: Page) -> None:
    ask(page, "RoPE 的推导公式、方法对比和代码")
    button = page.locator("#chat button.aloud")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    said = page.evaluate("said.map(part => [part.text, part.lang, part.voice.name])")
    assert {voice for _, _, voice in said} == {"here"}
    assert "zh-CN" in {language for _, language, _ in said}
    text = "".join(part for part, _, _ in said)
    assert "内积只依赖相对位置" in text or "旋转不改变向量长度" in text
    assert [sign for sign in ("[1]", "def rotate", "$$", "\\theta", ZH.sources) if sign in text] == []
    button.click()
    assert page.evaluate("said.at(-1)") == "cancel"
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    page.keyboard.press("Escape")
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    page.evaluate("said.at(-1).onend()")  # the last sentence was said
    expect(button).to_have_attribute("aria-pressed", "false")
    button.click()
    page.click("#clear")
    expect(page.locator("#chat .user-row")).to_have_count(0)
    page.wait_for_function("said.at(-1) === 'cancel'")
    ask(page, QUESTION)
    expect(button).to_be_visible()
    page.evaluate("() => { window.noVoices = true; changeVoices(); }")
    expect(button).to_be_hidden()
    page.evaluate("() => { window.noVoices = false; changeVoices(); }")


def test_a_conversation_about_one_document(page: Page) -> None:
    page.evaluate("void (location.hash = '#room-library')")
    row = page.locator("table.documents tbody tr", has_text="zero.md")
    row.get_by_role("button", name=LIBRARY.ask_about).click()
    expect(page.locator(BOX)).to_be_focused()
    chips = page.locator("#strip .scope-chip")
    expect(chips).to_have_text(["ZeRO-2 和 ZeRO-3 差在哪？×"])
    ask(page, QUESTION)
    expect(page.locator("#chat .bot-row")).to_contain_text("ZeRO-2 切分优化器状态和梯度")
    expect(page.locator("#sources .source h3")).to_have_count(1)
    expect(page.locator("#sources .source h3")).to_have_attribute("title", "zero.md")
    ask(page, "换个问题，明天上海的天气怎么样，要带伞吗？")
    expect(page.locator("#chat .notice.refusal")).to_contain_text(ZH.refused_only)
    page.reload()  # the conversation is still about that document
    expect(page.locator("#chat .user-row")).to_have_count(2)
    expect(chips).to_have_count(1)
    page.locator("#scope summary").click()
    cited = page.locator("#scope button", has_text="ZeRO-2 和 ZeRO-3 差在哪？")
    expect(cited).to_have_attribute("aria-pressed", "true")
    cited.click()
    expect(chips).to_have_count(0)
    page.locator("#scope summary").click()
    cited.click()
    chips.get_by_role("button").click()
    expect(chips).to_have_count(0)
    expect(page.locator("#scope summary")).to_have_text(ZH.scope)
    page.click("#clear")
    expect(page.locator("#chat .user-row")).to_have_count(0)
    ask(page, OTHER)
    expect(page.locator("#sources .source h3").first).to_have_attribute("title", "lora.txt")

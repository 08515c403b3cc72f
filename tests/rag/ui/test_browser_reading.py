"""What a reader types is never lost, what was asked is in view, and what is read fits its screen. In a real browser."""

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from rag.ui.texts import TEXTS, Language
from tests.rag.chat_models.chat_server import ChatServer
from tests.rag.ui.browser import open_page, serve
from tests.rag.ui.house import House

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ZH = TEXTS[Language.ZH]
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
OTHER = "LoRA 为什么能省显存？"
BOX = "#question textarea"


@pytest.fixture(scope="module")
def model(house: House) -> ChatServer:
    return house.model_says("ZeRO-3 还切分模型参数。\n")


@pytest.fixture(scope="module")
def address(house: House, model: ChatServer) -> str:
    return house.address


def ask(page: Page, question: str) -> None:
    replies = page.locator("#chat .bot-row").count()
    page.fill(BOX, question)
    page.press(BOX, "Enter")
    settle(page, replies + 1)


def settle(page: Page, replies: int) -> None:
    expect(page.locator("#chat .bot-row")).to_have_count(replies)
    expect(page.locator("#chat .bot-row").last.locator("button.retry")).to_be_visible()
    expect(page.locator("#send")).to_be_visible()


def test_what_is_typed_right_after_enter_stays(page: Page) -> None:
    page.focus(BOX)
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.keyboard.type("softlabel温度怎么选", delay=40)
    settle(page, 1)
    expect(page.locator(BOX)).to_have_value("softlabel温度怎么选")
    expect(page.locator("#chat .user-row")).to_have_text(QUESTION)


def test_a_second_question_sent_at_once_is_told_of_and_not_lost(page: Page) -> None:
    held: list[Route] = []  # the first question stays on its way until the second was sent
    page.route("**/queue/join*", lambda route: held.append(route))
    page.focus(BOX)
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    page.keyboard.type(OTHER)
    page.keyboard.press("Enter")
    expect(page.locator(BOX)).to_have_value(OTHER)
    for route in held:
        route.continue_()
    page.unroute("**/queue/join*")
    settle(page, 1)
    expect(page.locator(BOX)).to_have_value(OTHER)
    page.keyboard.press("Enter")
    settle(page, 2)
    assert page.locator("#chat .user-row").all_inner_texts() == [QUESTION, OTHER]


def test_a_draft_survives_a_reload(page: Page) -> None:
    page.fill(BOX, "还没有发出去")
    page.reload()
    expect(page.locator(BOX)).to_have_value("还没有发出去")
    ask(page, QUESTION)
    page.reload()
    expect(page.locator("#chat .user-row")).to_have_count(1)
    expect(page.locator(BOX)).to_have_value("")


def test_a_question_that_the_server_does_not_take_comes_back(page: Page) -> None:
    def refuse(route: Route) -> None:
        route.fulfill(status=429, json={"detail": "too many"})

    page.route("**/queue/join*", refuse)
    page.fill(BOX, QUESTION)
    page.press(BOX, "Enter")
    expect(page.locator(".toast-body.error .toast-title")).to_contain_text(ZH.toast_error)
    expect(page.locator(BOX)).to_have_value(QUESTION)
    page.unroute("**/queue/join*")
    page.press(BOX, "Enter")
    settle(page, 1)


def test_a_connection_that_is_lost_is_told_in_the_readers_language(house: House, browser: Browser) -> None:
    arguments = ("--index", str(house.settings.index), "--port", "8140", "--llm", "extractive")
    with serve(*arguments) as address:
        page = open_page(browser, address)
        page.fill(BOX, OTHER)
    page.press(BOX, "Enter")
    expect(page.locator(".toast-body")).to_contain_text(ZH.connection_lost)
    expect(page.locator(BOX)).to_have_value(OTHER)
    with serve(*arguments):  # the page comes back by itself
        expect(page.locator(".panel")).to_be_attached()
        expect(page.locator(BOX)).to_have_value(OTHER)
    page.context.close()


def test_warnings_have_a_title_in_the_readers_language(page: Page) -> None:
    page.fill(BOX, " ")
    page.click("#send")
    expect(page.locator(".toast-body .toast-title").first).to_contain_text(ZH.toast_warning)
    page.click("#send")
    expect(page.locator(".toast-body")).not_to_contain_text("Warning")


def test_the_answer_to_a_follow_up_is_in_view(page: Page, model: ChatServer) -> None:
    ask(page, QUESTION)
    ask(page, "RoPE 的推导公式、方法对比和代码")
    model.cut_after, model.pause = 1, 1.5  # quotes take the place of what breaks off, a good while after the question
    page.locator("#chat .others summary").last.click()
    page.locator("#chat .others").last.get_by_role("button", name="test").click()
    expect(page.locator("#stop")).to_be_visible()  # the answer that is replaced looks settled, too
    settle(page, 2)
    page.wait_for_timeout(700)
    view, asked = page.locator("#chat .bubble-wrap").bounding_box(), page.locator("#chat .user-row").last.bounding_box()
    answered = page.locator("#chat .bot-row").last.bounding_box()
    assert view is not None
    assert asked is not None
    assert answered is not None
    whole = answered["y"] + answered["height"] <= view["y"] + view["height"] + 8  # a short one ends above the fold
    assert asked["y"] - view["y"] < 60 or whole
    page.mouse.move(400, 400)
    page.mouse.wheel(0, -4000)
    page.wait_for_function("document.querySelector('#chat .bubble-wrap').scrollTop < 5")
    page.wait_for_timeout(900)  # a reader who scrolls is left alone
    assert page.locator("#chat .bubble-wrap").evaluate("view => view.scrollTop") < 5


def test_the_whole_source_is_that_of_the_conversation_in_view(page: Page) -> None:
    for question, document in ((QUESTION, "zero.md"), (OTHER, "lora.txt")):
        ask(page, question)
        for _ in range(2):  # also once more
            page.locator(".panel .whole-source").first.click()
            expect(page.get_by_role("dialog").locator(".document")).to_contain_text(document)
            page.keyboard.press("Escape")
            expect(page.get_by_role("dialog")).to_be_hidden()
        page.click("#clear")
        expect(page.locator("#chat .user-row")).to_have_count(0)


def test_a_page_is_read_without_its_description_and_its_formulas_are_drawn(page: Page) -> None:
    ask(page, "早停是什么？")
    marker = page.locator("#chat a[href='#cite-1-1']").first
    marker.hover()
    tip = page.locator("#quote-tip")
    expect(tip.locator(".katex").first).to_be_visible()
    assert "$" not in tip.inner_text()
    page.evaluate("document.documentElement.toggleAttribute('data-claims', true)")  # as the inspector does
    page.locator(".panel .claims summary").click()
    expect(page.locator(".panel .claims .katex").first).to_be_visible()
    page.locator(".panel .whole-source").first.click()
    body = page.get_by_role("dialog").locator(".body")
    expect(body).to_contain_text("早停在验证集损失")
    assert "tags:" not in body.inner_text()


def test_a_phone_held_sideways_has_room_for_the_answer(page: Page) -> None:
    page.set_viewport_size({"width": 844, "height": 390})
    ask(page, QUESTION)
    view = page.locator("#chat .bubble-wrap").bounding_box()
    assert view is not None
    assert view["height"] > 270
    expect(page.get_by_role("tab").first).to_be_in_viewport()
    expect(page.locator("#language")).to_be_in_viewport()
    expect(page.locator(BOX)).to_be_in_viewport(ratio=1)


def test_paper_holds_the_whole_conversation_and_its_sources(page: Page) -> None:
    for question in (QUESTION, "RoPE 的推导公式、方法对比和代码", OTHER):
        ask(page, question)
    page.emulate_media(media="print")
    hidden = ["#head", "#ask", "#foot", "#sources", "#list-column"]
    assert [part for part in hidden if page.locator(part).is_visible()] == []
    for part in ("#chat", "#chat .bubble-wrap", "#page"):
        assert page.locator(part).evaluate("part => part.scrollHeight - part.clientHeight") <= 2, part
    height = page.evaluate("document.documentElement.scrollHeight")
    box = page.locator("#chat .bot-row").last.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= height
    expect(page.locator("#chat .cited").first).to_contain_text("[1]")
    expect(page.locator("#chat .cited").first).to_be_visible()


def test_the_tab_is_named_after_its_conversation_and_has_an_icon(page: Page) -> None:
    assert page.locator("link[rel=icon]").get_attribute("href") is not None
    ask(page, OTHER)
    expect(page).to_have_title(f"{OTHER} · {ZH.title}")
    page.click("#clear")
    expect(page).to_have_title(ZH.title)


def test_a_table_has_one_frame_and_a_long_question_leaves_room(page: Page) -> None:
    ask(page, "RoPE 的推导公式、方法对比和代码")
    style = page.locator("#chat .bot-row table").first.evaluate(
        "table => [getComputedStyle(table).borderTopWidth, getComputedStyle(table).paddingTop]"
    )
    assert style == ["0px", "0px"]
    ask(page, "很长的问题：" + "为什么 ZeRO-3 还切分模型参数？" * 80)
    bubble = page.locator("#chat .user-row").last.bounding_box()
    assert bubble is not None
    assert bubble["height"] < 430
    asked = page.locator(".panel .asked")
    lines = asked.evaluate("asked => asked.clientHeight / parseFloat(getComputedStyle(asked).lineHeight)")
    assert lines <= 2.05

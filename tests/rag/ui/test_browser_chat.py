"""Conversations, branches, sources, opinions and keys, in a real browser over the real server."""

import csv
import io
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Download, Page, expect

from rag.answer.assistant import Assistant
from rag.embedding import Embedder
from rag.ui.preferences.stored import KEY
from rag.ui.texts import TEXTS, Language
from tests.rag.chat_models.chat_server import ChatServer
from tests.rag.ui.browser import choose, open_page
from tests.rag.ui.house import House

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ZH, EN = TEXTS[Language.ZH], TEXTS[Language.EN]
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
OTHER = "LoRA 为什么能省显存？"
# A button is clicked, and a question asked before the server knows of the click.
AT_ONCE = """(button, question) => {
  const box = document.querySelector("#question textarea");
  button.click();
  box.value = question;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  box.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def model(house: House) -> ChatServer:
    return house.model_says("ZeRO-3 还切分模型参数。量子纠缠让梯度瞬间到达火星。\n")


@pytest.fixture(scope="module")
def address(house: House, model: ChatServer) -> str:
    return house.address


def ask(page: Page, question: str, replies: int) -> None:
    """Send a question; wait until that many answers stand there and the last one is finished."""
    page.fill("#question textarea", question)
    page.press("#question textarea", "Enter")
    settle(page, replies)


def settle(page: Page, replies: int) -> None:
    expect(page.locator("#chat .bot-row")).to_have_count(replies)
    expect(page.locator("#chat .bot-row").last.locator("button.retry")).to_be_visible()
    expect(page.locator("#send")).to_be_visible()


def open_feedback(page: Page) -> None:
    page.evaluate("location.hash = '#room-feedback'")
    expect(page.locator("#feedback-export")).to_be_visible()


def saved(download: Download) -> str:
    return Path(download.path()).read_text(encoding="utf-8")


def test_conversations_are_there_for_the_next_visit(browser: Browser, page: Page, address: str) -> None:
    ask(page, QUESTION, 1)
    answer = page.locator("#chat .bot-row").inner_text()
    visit = open_page(browser, address)
    expect(visit.locator("#chat .user-row")).to_have_count(0)
    visit.locator(".conversations .title", has_text=QUESTION).first.click()
    expect(visit.locator("#chat .bot-row")).to_have_text(answer, use_inner_text=True)
    visit.locator("#chat a[href='#cite-1-1']").first.click()
    expect(visit.locator(".panel mark.selected").first).to_be_in_viewport()
    visit.reload()  # the tab shows again what it showed
    expect(visit.locator("#chat .user-row")).to_have_count(1)
    ask(visit, "通信量呢？", 2)
    visit.context.close()


def test_conversations_are_found_renamed_deleted_and_saved(page: Page) -> None:
    ask(page, OTHER, 1)
    entry = page.locator(".conversations li[aria-current]")
    expect(entry).to_contain_text(OTHER)
    choose(page, OTHER, ZH.rename)
    entry.locator(".new-name").fill("低秩适配")
    page.keyboard.press("Enter")
    expect(entry).to_contain_text("低秩适配")
    page.fill("#sought textarea, #sought input", "冻结原来的权重")  # stands in the answer
    expect(page.locator(".conversations li")).to_have_count(1)
    page.fill("#sought textarea, #sought input", "没有人说过")
    expect(page.locator(".conversations li")).to_have_count(0)
    page.fill("#sought textarea, #sought input", "")
    with page.expect_download() as download:
        choose(page, "低秩适配", ZH.export_json)
    (row,) = json.loads(saved(download.value))["exchanges"]
    assert row["question"] == OTHER
    assert row["citations"][0]["document"] == "lora.txt"
    with page.expect_download() as download:
        choose(page, "低秩适配", ZH.export_markdown)
    assert download.value.suggested_filename == "低秩适配.md"
    assert f"> {row['citations'][0]['quote']}" in saved(download.value)
    choose(page, "低秩适配", ZH.delete)
    expect(page.locator(".conversations li", has_text="低秩适配")).to_have_count(0)
    expect(page.locator("#chat .user-row")).to_have_count(0)
    page.get_by_role("button", name=ZH.undo).click()
    page.locator(".conversations .title", has_text="低秩适配").click()
    expect(page.locator("#chat .user-row")).to_have_text(OTHER)


def test_editing_keeps_the_old_branch(page: Page) -> None:
    ask(page, QUESTION, 1)
    page.press("#question textarea", "ArrowUp")
    expect(page.locator("#question textarea")).to_have_value(QUESTION)
    expect(page.locator("#strip")).to_contain_text(ZH.editing.format(number=1))
    page.keyboard.press("Escape")
    expect(page.locator("#strip .editing")).to_have_count(0)
    expect(page.locator("#question textarea")).to_have_value("")
    page.locator("#chat button.edit").click()
    expect(page.locator("#question textarea")).to_have_value(QUESTION)
    page.fill("#question textarea", OTHER)
    page.press("#question textarea", "Enter")
    expect(page.locator("#chat .branches")).to_have_text("2/2")
    expect(page.locator("#chat .user-row")).to_contain_text(OTHER)
    settle(page, 1)  # while an answer is written, no branch is turned to
    page.get_by_title(ZH.earlier_version).click()
    expect(page.locator("#chat .user-row")).to_contain_text(QUESTION)
    expect(page.locator("#chat .branches")).to_have_text("1/2")


def test_shift_enter_begins_a_line(page: Page) -> None:
    page.fill("#question textarea", "第一行")
    page.press("#question textarea", "End")
    page.press("#question textarea", "Shift+Enter")
    page.keyboard.type("x")
    expect(page.locator("#question textarea")).to_have_value("第一行\nx")
    expect(page.locator("#chat .user-row")).to_have_count(0)


def test_the_quote_of_a_marker_and_its_whole_source(page: Page, house: House, embedder: Embedder) -> None:
    assistant = Assistant(house.settings, embedder)
    citation = assistant.ask(QUESTION).citations[0]
    ask(page, QUESTION, 1)
    tip, marker = page.locator("#quote-tip"), page.locator("#chat a[href='#cite-1-1']").first
    marker.hover()
    expect(tip).to_have_text(" ".join(citation.quote.split()))
    tip.hover()  # the pointer may go onto the quote
    page.wait_for_timeout(500)
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    marker.hover()
    expect(tip).to_be_visible()
    page.mouse.move(5, 5)
    expect(tip).to_be_hidden()
    marker.focus()
    expect(tip).to_be_visible()
    expect(marker).to_have_attribute("aria-describedby", "quote-tip")
    page.locator(".panel .whole-source").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("mark.selected").first).to_be_in_viewport()
    assert "".join(dialog.locator("mark.selected").all_text_contents()) == citation.quote
    assert dialog.locator(".body").text_content() == assistant.source(citation.document)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator(".panel .whole-source").first).to_be_focused()
    page.evaluate("document.documentElement.toggleAttribute('data-claims', true)")  # as the inspector does
    page.locator(".panel .claims summary").click()
    expect(page.locator(".panel .claims li").first.locator("a")).not_to_have_count(0)


def test_follow_ups_of_the_page(page: Page) -> None:
    ask(page, "早停是什么？", 1)
    chips = page.locator("#chat .chip")
    expect(chips).to_have_text(["展开讲讲", "早停的耐心值怎么选？"])
    chips.last.click()
    settle(page, 2)
    expect(page.locator("#chat .bot-row").last).to_contain_text("5 到 10 轮")
    expect(page.locator("#chat .chip:not(.offer)")).to_have_count(0)


def test_another_model_answers_and_what_it_made_up_is_left_out(page: Page, model: ChatServer) -> None:
    ask(page, QUESTION, 1)
    page.locator("#chat .others summary").click()
    page.locator("#chat .others").get_by_role("button", name="test").click()
    expect(page.locator("#chat .branches")).to_have_text("2/2")
    expect(page.locator("#chat .bot-row .note")).to_have_text(ZH.left_out.format(count=1))
    expect(page.locator("#chat .bot-row")).not_to_contain_text("火星")
    expect(page.locator("#chat .bot-row .by")).to_have_text(ZH.written_by.format(name="test"))
    expect(page.locator(".panel h2")).to_have_text(ZH.sources_of.format(number=1))
    assert model.requests


@contextmanager
def silence(page: Page, model: ChatServer) -> Iterator[None]:
    """An answer that the model began, and does not go on with."""
    model.cut_after, model.pause = 15, 60.0
    model.gone.clear()
    try:
        ask(page, QUESTION, 1)
        page.locator("#chat .others summary").click()
        page.locator("#chat .others").get_by_role("button", name="test").click()
        expect(page.locator("#chat .steps .now")).to_have_text([ZH.step_writing, ZH.step_checking])
        yield
        assert model.gone.wait(30), "the model was left running"
    finally:
        model.cut_after = None
        model.let_go.set()
        model.let_go = threading.Event()


def test_escape_stops_an_answer_whose_steps_are_told(page: Page, model: ChatServer) -> None:
    with silence(page, model):
        expect(page.locator("#chat .steps .done")).to_have_text([ZH.step_searching, ZH.step_reading])
        page.keyboard.press("Escape")
        expect(page.locator("#chat .bot-row")).to_contain_text(ZH.stopped)
        expect(page.locator("#send")).to_be_visible()


def test_the_stop_button_and_a_question_that_comes_too_soon(page: Page, model: ChatServer) -> None:
    with silence(page, model):
        hint = page.locator("#strip .busy")
        expect(hint).to_be_hidden()
        page.fill("#question textarea", OTHER)
        page.press("#question textarea", "Enter")
        expect(hint).to_have_text(ZH.busy)
        page.click("#stop")
        expect(page.locator("#chat .bot-row")).to_contain_text(ZH.stopped)
        expect(hint).to_have_count(0)
        expect(page.locator("#question textarea")).to_have_value(OTHER)
    page.press("#question textarea", "Enter")
    settle(page, 2)
    expect(page.locator("#chat .user-row").last).to_contain_text(OTHER)


def test_a_question_that_is_asked_at_once_in_a_new_conversation(page: Page, model: ChatServer) -> None:
    """The answer that is being written in the one before keeps nobody waiting."""
    with silence(page, model):
        page.locator("#clear").evaluate(AT_ONCE, OTHER)
        expect(page.locator("#chat .user-row")).to_have_text(OTHER)
        settle(page, 1)
        expect(page.locator("#chat .bot-row")).not_to_contain_text(ZH.stopped)
        expect(page.locator("#question textarea")).to_have_value("")


def test_a_reader_who_comes_back_finds_the_answer_being_written(
    browser: Browser, address: str, model: ChatServer
) -> None:
    """Elsewhere too, where the address leads back to the conversation; and may stop it."""
    page = open_page(browser, address)  # one whose errors do not count: Gradio tells of each stream that a reload ends
    with silence(page, model):
        page.reload()
        expect(page.locator("#chat .steps .now")).to_have_text([ZH.step_writing, ZH.step_checking])
        expect(page.locator("#stop")).to_be_visible()
        conversation = page.url
        page.click("#room-practice-button")
        expect(page).to_have_url(re.compile("#room-practice"))
        page.reload()
        expect(page.locator("#practice-view")).to_be_visible()
        page.go_back()
        expect(page).to_have_url(conversation)
        page.click("#stop")
        expect(page.locator("#chat .bot-row")).to_contain_text(ZH.stopped)
        expect(page.locator("#send")).to_be_visible()
    page.context.close()


def test_opinions_are_kept_and_handed_out(page: Page, model: ChatServer) -> None:
    ask(page, OTHER, 1)
    page.locator("#chat button.like").click()
    page.get_by_text(ZH.reason_clear).click()
    page.fill("#strip [name=note]", "讲得清楚")
    page.get_by_role("button", name=ZH.keep_opinion).click()
    expect(page.locator("#strip form")).to_have_count(0)
    expect(page.locator("#chat button.like.on, #chat button.on.do-like-1")).to_have_count(1)
    open_feedback(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=f"{ZH.feedback_sft} · csv").click()
    rows = list(csv.DictReader(io.StringIO(saved(download.value), newline="")))
    assert any("LoRA 冻结原来的权重" in row["completion"] and OTHER in row["prompt"] for row in rows)
    open_feedback(page)
    page.get_by_role("button", name=f"{ZH.feedback_preferences} · csv").click()
    expect(page.get_by_text(ZH.feedback_none)).to_be_visible()


def test_liked_and_disliked_answers_become_pairs(page: Page, model: ChatServer) -> None:
    question = "RoPE 怎么工作，为什么能外推？"
    ask(page, question, 1)
    by = page.locator("#chat .bot-row .by")
    expect(by).to_have_text(ZH.answerer_extractive)
    good = page.locator("#chat .bot-row").inner_text().split("[")[0].split("。")[0]
    page.locator("#chat button.like").click()
    page.get_by_role("button", name=ZH.skip).click()
    page.locator("#chat .others summary").click()
    page.locator("#chat .others").get_by_role("button", name="test").click()
    expect(page.locator("#chat .branches")).to_have_text("2/2")
    settle(page, 1)
    page.locator("#chat button.dislike").click()
    page.get_by_text(ZH.reason_incomplete).click()
    page.fill("#strip [name=note]", "漏了外推")
    page.get_by_role("button", name=ZH.keep_opinion).click()
    expect(page.locator("#strip form")).to_have_count(0)
    open_feedback(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=f"{ZH.feedback_preferences} · jsonl").click()
    rows = [json.loads(line) for line in saved(download.value).splitlines()]
    (row,) = [row for row in rows if question in row["prompt"]]
    assert good in row["chosen"]
    assert row["rejected"] != row["chosen"]


def test_a_topic_and_a_document_are_named_in_the_box(page: Page) -> None:
    box, offered, chips = page.locator("#question textarea"), page.get_by_role("option"), page.locator(".scope-chip")
    box.press_sequentially("它说 #regul")
    expect(offered).to_have_text([f"regularisation {ZH.scope_topic}", "早停"])
    page.keyboard.press("ArrowDown")
    expect(offered.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(chips).to_have_text(["regularisation×"])
    expect(box).to_have_value("它说 ")
    box.fill("@zero-2")
    expect(offered).to_have_text([QUESTION])
    page.keyboard.press("Escape")
    expect(offered).to_have_count(0)
    box.press("Backspace")
    offered.click()
    expect(chips).to_have_text(["regularisation×", f"{QUESTION}×"])
    expect(box).to_have_value("")
    expect(box).to_be_focused()
    expect(page.locator("#chat .user-row")).to_have_count(0)  # Enter sent nothing


def test_who_is_chosen_beside_the_box_writes_from_then_on(page: Page, model: ChatServer) -> None:
    writer = page.locator("#privacy .writer")
    current, choices = writer.locator("summary"), writer.get_by_role("button")
    stored = "key => localStorage.getItem(key)"
    before = page.evaluate(stored, KEY)
    expect(current).to_have_text(ZH.answerer_extractive)
    current.click()
    choices.filter(has_text="test").click()
    expect(current).to_have_text("test")
    expect(page.locator("#privacy .told")).to_have_text(ZH.footer_model.format(model="test"))
    model.requests.clear()
    ask(page, QUESTION, 1)
    assert model.requests
    expect(page.locator("#chat .bot-row .by")).to_have_text(ZH.written_by.format(name="test"))
    page.wait_for_function("([key, before]) => localStorage.getItem(key) !== before", arg=[KEY, before])
    page.reload()
    expect(current).to_have_text("test")
    current.click()
    expect(writer.locator("[aria-pressed=true]")).to_contain_text("test")
    choices.filter(has_text=ZH.answerer_extractive).click()
    expect(current).to_have_text(ZH.answerer_extractive)


def test_an_answer_that_broke_off_is_gone_on_with(page: Page, model: ChatServer) -> None:
    ask(page, QUESTION, 1)
    model.cut_after, model.pause = 20, 0.0
    page.locator("#chat .others summary").click()
    page.locator("#chat .others").get_by_role("button", name="test").click()
    reply = page.locator("#chat .bot-row")
    expect(reply).to_contain_text(ZH.cut.format(name="test"))
    expect(reply).to_contain_text("ZeRO-3 还切分模型参数。")
    model.cut_after = None
    model.requests.clear()
    settle(page, 1)
    reply.get_by_role("button", name=ZH.go_on).click()
    expect(page.locator("#chat .branches")).to_have_text("3/3")
    settle(page, 1)
    expect(reply.locator(".go-on")).to_have_count(0)
    assert "ZeRO-3 还切分模型参数。" in model.prompt


def test_what_was_found_in_a_long_conversation_is_in_view(page: Page) -> None:
    page.set_viewport_size({"width": 1360, "height": 480})
    for replies, question in enumerate([OTHER, QUESTION, "RoPE 的推导公式、方法对比和代码"], start=1):
        ask(page, question, replies)
    asked, answered = page.locator("#chat .user-row"), page.locator("#chat .bot-row")
    for is_open in (True, False):
        if not is_open:
            page.click("#clear")
            expect(asked).to_have_count(0)
        page.fill("#sought textarea, #sought input", "切分优化器")
        page.locator(".conversations li", has_text="切分优化器").locator(".title").click()
        expect(answered).to_have_count(3)
        expect(answered.nth(1)).to_be_in_viewport()
        expect(asked.first).not_to_be_in_viewport()
        page.wait_for_function("CSS.highlights.get('sought')?.size > 0")
        page.fill("#sought textarea, #sought input", "")
        expect(page.locator(".conversations mark")).to_have_count(0)


def test_the_language_is_remembered(page: Page) -> None:
    page.get_by_label("English").check()
    expect(page.locator("#clear")).to_have_text(EN.new_conversation)
    page.reload()
    expect(page.locator("#clear")).to_have_text(EN.new_conversation)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.get_by_label("中文").check()
    expect(page.locator("#clear")).to_have_text(ZH.new_conversation)


def test_on_a_phone_the_conversations_are_a_drawer(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    ask(page, OTHER, 1)
    told = page.locator("#privacy .told")
    expect(told).to_be_hidden()
    told.evaluate("told => told.classList.add('remote')")
    expect(told).to_be_visible()  # as where a model elsewhere writes
    drawer = page.locator("#list-column")
    expect(drawer).to_be_hidden()
    page.click(".drawer")
    expect(drawer).to_be_visible()
    expect(page.locator(".close-drawer")).to_be_focused()
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()
    expect(page.locator(".drawer")).to_be_focused()
    page.click(".drawer")
    page.click(".close-drawer")
    expect(drawer).to_be_hidden()
    page.click(".drawer")
    page.locator(".conversations .title").first.click()
    expect(drawer).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0

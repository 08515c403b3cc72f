"""The practice room in a real browser: every flow, the keyboard, a phone, and what a reload leaves."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Browser, Page, expect

from rag.embedding import Embedder
from rag.settings import Settings
from rag.ui.texts import PRACTICE_TEXTS, TEXTS, Language
from tests.rag.ui.browser import FORBIDDEN, HOLD, LATE_GREETING, SLOW, arrived, open_page, serve
from tests.rag.ui.practice.room import GOOD, ingest_pages
from tests.rag.ui.practice.visit import QUESTION, enter, go, grade, open_question, reach
from tests.rag.ui.test_browser_accessible import violations, walk

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ZH = PRACTICE_TEXTS[Language.ZH]
# Of the page that is asked about, by the reader's language.
TITLES = {"zh-CN": QUESTION, "en-GB": "What is the difference between ZeRO-2 and ZeRO-3?"}
# The bank is asked for before the page has greeted, and comes after that.
BANK_AROUND_THE_GREETING = """() => {
  window.letGo();
  setTimeout(() => {
    window.delays = [1500];
    document.querySelector("#practice-navigation button[data-rest='bank']").click();
  }, 300);
}"""
# Seconds from the click on the room to its questions, where the machine is not busy with other things: then the page
# itself takes longer too, and the room opens no later than it.
FIRST_PAINT = 1.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("practice")
    ingest_pages(folder, embedder, slides=True)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path, browser: Browser, model_settings: Settings) -> Iterator[str]:
    environment = {"INTERVIEW_RAG_MODELS": str(model_settings.models)}
    arguments = ("--index", str(folder / "index"), "--port", "8070", "--llm", "extractive")
    with serve(*arguments, environment=environment) as address:
        yield address


@pytest.fixture(scope="module")
def before() -> str:
    return SLOW + HOLD


def test_an_empty_chat_points_to_the_room_which_opens_within_a_second(browser: Browser, address: str) -> None:
    began = time.perf_counter()
    page = open_page(browser, address)
    link = page.get_by_role("link", name=TEXTS[Language.ZH].practise)
    expect(link).to_be_visible()
    started = time.perf_counter()
    link.click()
    page.locator("#practice-part .fields").wait_for()
    assert time.perf_counter() - started <= max(FIRST_PAINT, started - began)
    expect(page.locator("#practice .fields button")).to_have_count(3)
    page.locator("#practice input[type='date']").fill("2999-12-31")
    expect(page.locator("#practice .tonight")).to_contain_text(ZH.plan_fits.split("{", 1)[0])
    page.reload()
    page.locator("#room-practice-button").click()
    expect(page.locator("#practice input[type='date']")).to_have_value("2999-12-31")
    page.locator("#practice .fields button", has_text="注意力").click()
    expect(page.locator("#practice select[name='topic']")).to_have_value("/attention")
    page.context.close()


def test_questions_are_filtered_while_words_are_typed(page: Page) -> None:
    enter(page)
    search = page.locator("#practice input[type='search']")
    search.press_sequentially("zero", delay=40)
    expect(page.locator("#practice .questions > li")).to_have_count(1)
    expect(search).to_have_value("zero")
    expect(search).to_be_focused()
    page.locator("#practice select[name='topic']").select_option(label="注意力")
    expect(page.locator("#practice-part")).to_contain_text(ZH.none_fit)
    search.fill("")
    expect(page.locator("#practice .questions > li")).to_have_count(2)
    page.set_viewport_size({"width": 1360, "height": 300})
    page.locator("#practice .questions > li .question-link").last.scroll_into_view_if_needed()
    read = page.locator("#room-practice").evaluate("room => room.scrollTop")
    page.locator("#practice .questions > li > .line .question-link").last.click()
    expect(page.locator("textarea[name='attempt']")).to_be_visible()
    page.go_back()  # to the bank as it was, as far down as it was read
    page.wait_for_function("top => Math.abs(document.querySelector('#room-practice').scrollTop - top) < 3", arg=read)
    assert read > 0
    expect(page.locator("#practice .questions > li")).to_have_count(2)
    expect(page.locator("#practice select[name='topic']")).to_have_value("/attention")
    page.go_back()  # to where it was before the bank
    expect(page.locator("#practice .fields")).to_be_visible()
    page.go_forward()
    expect(page.locator("#practice .questions > li")).to_have_count(2)
    page.get_by_role("button", name=ZH.shuffle, exact=True).click()
    expect(page.get_by_role("button", name=ZH.in_order)).to_be_visible()
    star = page.locator("#practice .questions .star").first
    star.click()
    expect(star).to_have_attribute("aria-pressed", "true")
    page.get_by_label(ZH.bookmarked).check()
    expect(page.locator("#practice .questions > li")).to_have_count(1)
    page.locator("#practice .questions .star").first.click()
    page.get_by_label(ZH.bookmarked).uncheck()
    page.get_by_role("button", name=ZH.in_order).click()
    page.locator("#practice select[name='topic']").select_option(index=0)
    expect(page.locator("#practice .questions > li")).to_have_count(4)


def test_an_attempt_is_graded_beside_its_sources(page: Page) -> None:
    reach(page)
    grade(page, f"{GOOD}ZeRO-2 已经切分了模型参数。")
    expect(page.locator("#practice .grade h3").first).to_be_focused()
    expect(page.locator("#practice .grade")).to_contain_text(ZH.graded_by.format(name=ZH.method_embedder))
    expect(page.locator("#practice .marked mark.found").first).to_be_visible()
    expect(page.locator("#practice .point.found blockquote").first).to_contain_text("ZeRO-2 把优化器状态和梯度切分")
    page.locator("#practice .point .source-link").first.click()
    expect(page.locator(".whole mark.selected")).to_contain_text("ZeRO-2 把优化器状态和梯度切分到各张卡上")
    page.keyboard.press("Escape")
    expect(page.locator(".whole")).not_to_be_visible()
    expect(page.locator("#practice .point .source-link").first).to_be_focused()
    last = page.locator("#practice .points").first.locator("> li").last
    menu = last.get_by_role("combobox")
    menu.focus()
    menu.select_option(label=ZH.verdict_partly)
    expect(last).to_contain_text(ZH.own_verdict)
    expect(menu).to_be_focused()
    expect(page.locator("textarea[name='attempt']")).to_have_value(f"{GOOD}ZeRO-2 已经切分了模型参数。")
    page.locator("#practice .go-on button").first.click()
    expect(page.locator("#practice h2")).to_contain_text("ZeRO-3 为什么更慢？")
    expect(page.locator("textarea[name='attempt']")).to_have_value("")  # a box of its own


def test_a_source_in_a_pdf_shows_its_page(page: Page) -> None:
    reach(page, "Why is the gradient clipped?")
    grade(page, "A clipped gradient cannot throw the weights far away.")
    page.locator("#practice .point .source-link").first.click()
    picture = page.locator(".whole .picture")
    expect(picture.locator("img")).to_be_visible()
    expect(picture.locator("mark").first).to_be_visible()
    page.keyboard.press("Escape")


def test_formulas_of_a_graded_answer_are_drawn(page: Page) -> None:
    enter(page)
    page.locator(".questions summary").last.click()
    page.locator(".questions .question-link", has_text="什么时候不需要").click()
    grade(page, "能放进一张卡时用 ZeRO-2 就够了。")
    expect(page.locator("#practice .grade .point .katex").first).to_be_visible()
    expect(page.locator("#practice .grade .point").first).not_to_contain_text("$", use_inner_text=True)


def test_nothing_typed_is_lost(page: Page) -> None:
    reach(page, "KV cache 是什么，为什么能省计算？")
    page.locator("#practice .jottings summary").click()
    page.fill("textarea[name='note']", "记一笔")
    page.fill("textarea[name='attempt']", "写到一半")
    page.get_by_text("English", exact=True).click()
    expect(page.get_by_role("tab", name="Practice")).to_be_visible()
    expect(page.locator("textarea[name='attempt']")).to_have_value("写到一半")
    page.get_by_text("中文", exact=True).click()
    expect(page.get_by_role("tab", name="练习")).to_be_visible()
    expect(page.locator("#practice-saved [data-saved]")).to_be_attached()
    page.fill("textarea[name='attempt']", "写到一半，刷新之前")
    page.reload()  # which comes back to the question
    expect(page.locator("#practice h2")).to_have_text("KV cache 是什么，为什么能省计算？")
    expect(page.locator("textarea[name='attempt']")).to_have_value("写到一半，刷新之前")
    expect(page.locator("textarea[name='note']")).to_have_value("记一笔")
    page.fill("textarea[name='attempt']", "长" * 100_001)
    page.press("textarea[name='attempt']", "Control+Enter")
    expect(page.locator("#practice-told [role='alert']")).to_contain_text("100,001")
    assert len(page.locator("textarea[name='attempt']").input_value()) == 100_001


def test_nothing_typed_is_lost_while_the_server_is_slow(browser: Browser, address: str) -> None:
    page = open_page(browser, address, before=HOLD)
    box, question = page.locator("textarea[name='attempt']"), "KV cache 是什么，为什么能省计算？"
    saved = "#practice-saved [data-saved^='attempt:']"
    reach(page, question)
    box.fill("第一稿")
    expect(page.locator(saved)).to_be_attached()
    page.evaluate("window.holding = true")
    box.fill("第二稿")
    page.wait_for_function("window.held")  # it has been sent, and is on its way
    page.reload()
    reach(page, question)
    expect(box).to_have_value("第二稿")
    expect(page.locator(saved)).to_be_attached()  # it was sent once more
    page.evaluate("localStorage.clear(); sessionStorage.clear()")
    page.reload()
    reach(page, question)
    expect(box).to_have_value("第二稿")  # the server has it
    page.evaluate("window.holding = true")
    box.fill("第三稿")
    page.close()
    again = page.context.new_page()
    again.goto(address)
    reach(again, question)
    expect(again.locator("textarea[name='attempt']")).to_have_value("第三稿")
    again.context.close()


def test_what_was_gone_on_with_elsewhere_is_not_replaced(page: Page, browser: Browser, address: str) -> None:
    phone = page
    laptop = open_page(browser, address, before=HOLD)
    for one in (laptop, phone):
        reach(one)
    laptop.evaluate("window.holding = true")
    laptop.fill("textarea[name='attempt']", "旧稿")
    laptop.close()
    phone.fill("textarea[name='attempt']", "新稿")
    expect(phone.locator("#practice-saved [data-saved^='attempt:']")).to_be_attached()
    again = laptop.context.new_page()
    again.goto(address)
    reach(again)
    expect(again.locator("textarea[name='attempt']")).to_have_value("新稿")
    again.context.close()


def test_drafts_get_to_the_server_where_the_browser_cannot_store(browser: Browser, address: str) -> None:
    page = open_page(browser, address, before=FORBIDDEN)
    for text in ("存不下", "也存不下"):
        reach(page)
        page.fill("textarea[name='attempt']", text)
        expect(page.locator("#practice-saved [data-saved^='attempt:']")).to_be_attached()
        page.reload()
    reach(page)
    expect(page.locator("textarea[name='attempt']")).to_have_value("也存不下")
    page.context.close()


def test_a_greeting_that_comes_late_takes_nothing_back(browser: Browser, address: str) -> None:
    page = browser.new_page(locale="zh-CN")
    page.add_init_script(LATE_GREETING)
    page.goto(address)
    page.locator("#room-practice-button").click()
    page.evaluate("window.letGo()")
    enter(page)
    open_question(page)
    arrived(page)
    page.fill("textarea[name='attempt']", "早到的人写的")
    page.context.close()


def test_a_greeting_that_comes_late_leads_nobody_back_to_the_address(browser: Browser, address: str) -> None:
    page = browser.new_page(locale="zh-CN")
    page.add_init_script(SLOW)
    page.add_init_script(LATE_GREETING)
    page.goto(f"{address}#room-practice/question?name={quote('memory/zero.md#' + QUESTION, safe='')}")
    page.locator("#room-practice-button").click()
    expect(page.locator("#practice h2")).to_have_text(QUESTION)
    page.evaluate(BANK_AROUND_THE_GREETING)
    page.locator("#page[data-greeted]").wait_for()
    arrived(page)
    expect(page.locator("#practice-part .questions")).to_be_visible()
    assert page.evaluate("location.hash").startswith("#room-practice/bank")
    page.context.close()


def test_a_view_that_comes_late_takes_nothing_back(page: Page) -> None:
    enter(page)
    page.evaluate("window.delays = [800]")
    page.get_by_text("English", exact=True).click()
    page.locator(".questions").get_by_role("button", name=QUESTION, exact=True).click()
    page.fill("textarea[name='attempt']", "写得早")
    expect(page.get_by_role("tab", name="Practice")).to_be_visible()  # the bank has come with it, in English
    arrived(page)
    expect(page.locator("textarea[name='attempt']")).to_have_value("写得早")
    page.get_by_text("中文", exact=True).click()
    expect(page.get_by_role("tab", name=ZH.tab, exact=True)).to_be_visible()


def test_a_view_drawn_before_a_draft_was_saved_takes_nothing_back(page: Page) -> None:
    reach(page)
    page.evaluate("window.delays = [3000]")
    page.get_by_text("English", exact=True).click()
    page.fill("textarea[name='attempt']", "比旧视图早存下")
    expect(page.locator("#practice-saved [data-saved^='attempt:']")).to_be_attached()
    expect(page.get_by_role("tab", name="Practice")).to_be_visible()
    arrived(page)
    expect(page.locator("textarea[name='attempt']")).to_have_value("比旧视图早存下")
    page.get_by_text("中文", exact=True).click()
    expect(page.get_by_role("tab", name=ZH.tab, exact=True)).to_be_visible()


def test_an_attempt_is_safe_while_the_server_cannot_be_reached(page: Page) -> None:
    reach(page)
    page.route("**/gradio_api/**", lambda route: route.abort())
    page.fill("textarea[name='attempt']", "断网时写的")
    page.press("textarea[name='attempt']", "Control+Enter")
    page.wait_for_timeout(1_000)
    page.unroute("**/gradio_api/**")
    expect(page.locator("textarea[name='attempt']")).to_have_value("断网时写的")
    page.reload()
    reach(page)
    expect(page.locator("textarea[name='attempt']")).to_have_value("断网时写的")


def test_cards_go_by_the_keyboard(page: Page) -> None:
    enter(page)
    go(page, "recall")
    page.locator("#practice select[name='topic']").select_option(label="显存")
    page.locator("#practice select[name='standing']").select_option(value="all")
    page.get_by_role("button", name=ZH.start).click()
    expect(page.locator("#practice h2")).to_be_focused()
    expect(page.locator("#practice .timer")).not_to_have_text("0:00")
    for place in (1, 2, 3):
        expect(page.locator("#practice .crumbs")).to_contain_text(ZH.place.format(place=place, count=3))
        expect(page.locator("#practice h2")).to_be_focused()
        page.keyboard.press("Space")
        expect(page.locator("#practice .revealed .readable").first).to_be_visible()
        page.keyboard.press("3")
    expect(page.locator("#practice-view")).to_contain_text(ZH.deck_done.format(count=3))


def test_statements_go_by_the_keyboard(page: Page) -> None:
    enter(page)
    go(page, "statements")
    page.get_by_role("button", name=ZH.start).click()
    expect(page.locator("#practice h2")).to_have_text(ZH.is_it_right)
    told = page.locator("#practice .told-verdict")
    for _ in range(20):
        page.locator("#practice h2").focus()
        page.keyboard.press("2")
        expect(told).to_be_visible()
        expect(page.locator("#practice .correction .source-link")).to_be_visible()
        page.locator("#practice h2").focus()
        page.keyboard.press("Space")
        expect(told).not_to_be_visible()
        if page.get_by_role("button", name=ZH.again_deck).is_visible():
            break
    expect(page.get_by_role("button", name=ZH.again_deck)).to_be_visible()


def test_an_interview_goes_on_after_a_reload_and_is_reported(page: Page) -> None:
    enter(page)
    go(page, "interview")
    page.get_by_role("combobox", name=ZH.level).select_option(label=ZH.level_standard)
    page.get_by_role("combobox", name=ZH.how_many).select_option("5")
    page.get_by_role("button", name=ZH.start).click()
    asked = page.locator("#practice h2")
    expect(page.locator("textarea[name='attempt']")).to_be_visible()
    first = asked.inner_text()
    page.fill("textarea[name='attempt']", "说到一半")
    page.reload()
    expect(asked).to_have_text(first)
    expect(page.locator("textarea[name='attempt']")).to_have_value("说到一半")
    answered = 0
    while page.locator("textarea[name='attempt']").count():
        place = page.locator("#practice .crumbs span").first.inner_text()
        page.fill("textarea[name='attempt']", f"回答 {answered}：切分的是优化器状态和梯度。")
        page.get_by_role("button", name=ZH.answer_round).click()
        elsewhere = page.locator("#practice .crumbs").filter(has_not_text=place).or_(page.locator("#practice .report"))
        expect(elsewhere.first).to_be_visible()
        answered += 1
    assert 2 <= answered <= 5
    assert page.evaluate("Object.keys(localStorage).filter(key => key.includes('.attempt:'))") == []
    expect(page.locator("#practice .report")).to_contain_text("回答 0")
    page.go_back()
    expect(page.locator("#practice select[name='level']")).to_be_visible()
    page.go_forward()
    expect(page.locator("#practice .report")).to_contain_text("回答 0")
    with page.expect_download() as download:
        page.get_by_role("button", name=ZH.save_report).click()
    assert "回答 0" in Path(download.value.path()).read_text(encoding="utf-8")
    assert download.value.suggested_filename.startswith("interview-")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("#practice .report")).to_be_visible()
    expect(page.locator("#practice-navigation")).not_to_be_visible()
    expect(page.locator("#chat")).not_to_be_visible()


def test_progress_exports_and_a_backup(page: Page, tmp_path: Path) -> None:
    reach(page)
    grade(page, GOOD)
    go(page, "progress")
    expect(page.locator("table.forecast tr")).to_have_count(14)
    expect(page.locator("#practice-view .counts")).to_contain_text(ZH.streak.format(days=1))
    expect(page.locator("#practice-part table.figures tbody tr")).to_have_count(3)
    go(page, "exports")
    for file_type, ending in (("anki", ".apkg"), ("csv", ".csv"), ("markdown", ".md")):
        page.locator("#practice select[name='format']").select_option(file_type)
        with page.expect_download() as download:
            page.get_by_role("button", name=ZH.save_file, exact=True).click()
        assert download.value.suggested_filename.endswith(ending)
        data = Path(download.value.path()).read_bytes()
        assert data[:2] == b"PK" if file_type == "anki" else QUESTION in data.decode("utf-8-sig")
    with page.expect_download() as download:
        page.get_by_role("button", name=ZH.save_backup).click()
    backup = tmp_path / "backup.json"
    download.value.save_as(backup)
    assert any(review["attempt"] == GOOD for review in json.loads(backup.read_text(encoding="utf-8"))["reviews"])
    page.set_input_files("#practice input[type='file']", backup)
    expect(page.locator("#practice-told")).to_contain_text(ZH.restored.format(count=0))
    broken = tmp_path / "broken.json"
    broken.write_text("no backup", encoding="utf-8")
    page.set_input_files("#practice input[type='file']", broken)
    expect(page.locator("#practice-told [role='alert']")).to_contain_text("broken.json 不是这里保存的备份")


def test_what_the_documents_say_stays_text(page: Page) -> None:
    enter(page)
    page.locator(".questions .question-link[data-rest^='attention/hostile.md']").first.click()
    expect(page.locator("#practice h2")).to_contain_text("<img src=x onerror=")
    page.locator("#practice .answer summary").click()
    grade(page, '<img src=x onerror="window.ran = 1"> 页面把资料里的 HTML 当作文字显示，脚本不会运行。')
    page.locator("#practice .source-link").last.click()
    expect(page.locator(".whole")).to_contain_text("<script>window.ran = 1</script>")


@pytest.mark.parametrize(("language", "dark", "width"), [("zh-CN", False, 1360), ("en-GB", True, 360)])
def test_axe_objects_to_nothing(browser: Browser, address: str, language: str, dark: bool, width: int) -> None:
    texts = PRACTICE_TEXTS[Language.EN if language.startswith("en") else Language.ZH]
    page = open_page(browser, address, language=language, dark=dark, width=width)
    enter(page)
    found = [f"bank: {line}" for line in violations(page)]
    go(page, "today")
    expect(page.locator("#practice .fields")).to_be_visible()
    found += [f"today: {line}" for line in violations(page)]
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    go(page, "bank")
    open_row = page.locator(".questions .question-link[data-rest^='memory/zero.md']").first
    open_row.click()
    page.locator("#practice .answer summary").click()
    page.locator("#practice .jottings summary").click()
    grade(page, f"{GOOD}ZeRO-2 已经切分了模型参数。我喜欢苹果和香蕉。")
    found += [f"grade: {line}" for line in violations(page)]
    page.locator("#practice .point .source-link").first.click()
    expect(page.locator(".whole h2")).to_have_text(TITLES[language])
    found += [f"source: {line}" for line in violations(page)]
    page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    for view in ("recall", "statements", "interview", "progress", "exports"):
        go(page, view)
        found += [f"{view}: {line}" for line in violations(page)]
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        if view in ("recall", "statements"):
            if view == "recall":
                page.locator("#practice select[name='standing']").select_option(value="all")
            page.get_by_role("button", name=texts.start).click()
            expect(page.locator("#practice-part button").first).to_be_visible()
            page.locator("#practice-part button").first.click()
            expect(page.locator("#practice-part .source-link").first).to_be_visible()
            found += [f"{view}, under way: {line}" for line in violations(page)]
            assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    go(page, "today")
    page.evaluate("void (location.hash = '#room-practice/exports')")
    expect(page.locator("#practice-navigation [aria-current]")).to_have_text(texts.view_exports)
    expect(page.locator("#practice-navigation [aria-current]")).to_be_in_viewport(ratio=0.9)
    page.context.close()
    assert found == []


def test_the_keyboard_reaches_everything(page: Page) -> None:
    enter(page)
    page.locator("#room-practice-button").focus()
    stops = walk(page)
    assert [stop["name"] for stop in stops if not stop["visible"]] == []
    names = " ".join(stop["name"] for stop in stops)
    assert all(name in names for name in (ZH.view_progress, "INPUT", "SELECT", ZH.shuffle, QUESTION[:10]))
    page.locator(".questions .question-link[data-rest^='memory/zero.md']").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#practice h2")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("textarea[name='attempt']")).to_be_focused()
    page.keyboard.type(GOOD)
    page.keyboard.press("Control+Enter")
    expect(page.locator("#practice .grade h3").first).to_be_focused()

"""The rooms beside the chat in a real browser: library, inspector, quality, settings, and the first-run guide."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from rag.embedding import Embedder
from rag.settings import ChatModelName, Settings
from rag.ui.texts import (
    GUIDE_TEXTS,
    INSPECTOR_TEXTS,
    LIBRARY_TEXTS,
    PREFERENCES_TEXTS,
    QUALITY_TEXTS,
    REVIEW_TEXTS,
    Language,
)
from tests.rag.library import DOCUMENTS, ingest
from tests.rag.ui.browser import GIVE, LATENESS, SLOW, arrived, serve, unfold

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LIBRARY, INSPECTOR, QUALITY, SETTINGS, GUIDE = (
    texts[Language.ZH] for texts in (LIBRARY_TEXTS, INSPECTOR_TEXTS, QUALITY_TEXTS, PREFERENCES_TEXTS, GUIDE_TEXTS)
)
ENGLISH = PREFERENCES_TEXTS[Language.EN]
REVIEW = REVIEW_TEXTS[Language.ZH]
# A fold is clicked in the first picture that shows it.
UNFOLD_AT_ONCE = """() => {
  new MutationObserver((_, watching) => {
    const fold = document.querySelector("#preferences-answers button.label-wrap");
    if (!fold) return;
    watching.disconnect();
    requestAnimationFrame(() => fold.click());
  }).observe(document.body, { childList: true, subtree: true });
}"""
ROOMS = ("practice", "library", "preferences", "inspector", "quality", "feedback")
# From where to where a room goes, and where its first heading stands.
PLACE = """name => {
  const room = document.querySelector(`#room-${name} .room`);
  const { x, width } = room.getBoundingClientRect();
  const heading = [...room.querySelectorAll("h2, h3")].find((one) => one.checkVisibility());
  return [x, width, heading.getBoundingClientRect().top];
}"""
SCHEMES: tuple[Literal["light", "dark"], ...] = ("dark", "light")
# What a menu is drawn with, its ring included; not its ground, which is that of a card in one room and of the page in
# the other.
LOOKS = """menu => {
  const { height, borderTopWidth, borderTopColor, borderRadius, fontSize, color, outline, outlineOffset } =
    getComputedStyle(menu);
  return { height, borderTopWidth, borderTopColor, borderRadius, fontSize, color, outline, outlineOffset };
}"""
TRIES = 50
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
NOTE = "# 早停是什么？\n\n早停在验证集损失不再下降时停止训练。<img src=x onerror='window.ran = 1'>\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, embedder: Embedder) -> Path:
    folder = tmp_path_factory.mktemp("rooms")
    ingest(folder, embedder, DOCUMENTS)
    rows = [
        {
            "id": "a", "question": QUESTION, "split": "dev", "kind": "plain", "answerable": True,
            "evidence": [{"document": "zero.md", "quote": "ZeRO-3 还切分模型参数"}],
        },
        {"id": "b", "question": "明天上海下雨吗？", "split": "test", "kind": "near-miss", "answerable": False},
    ]  # fmt: skip
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "gold.jsonl").write_text(lines, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def address(folder: Path, browser: Browser, model_settings: Settings) -> Iterator[str]:
    environment = {
        "INTERVIEW_RAG_LIBRARY": str(folder / "own"),
        "INTERVIEW_RAG_GOLD": str(folder / "gold.jsonl"),
        "INTERVIEW_RAG_MODELS": str(model_settings.models),
        "INTERVIEW_RAG_DATA": str(folder / "user"),
        "INTERVIEW_RAG_MAX_FILE_MEGABYTES": "1",
    }
    with serve("--index", str(folder / "index"), "--port", "8060", environment=environment) as address:
        yield address


@pytest.fixture(scope="module")
def before() -> str:
    return SLOW


def open_room(page: Page, name: str) -> None:
    """Some lie under the settings, which show the one that was open there."""
    if name in (SETTINGS.tab, INSPECTOR.tab, QUALITY.tab):
        page.locator("#room-settings-button").click()
        page.locator("#room-preferences-button").click()
    if name == SETTINGS.tab:
        unfold(page)
    if name != SETTINGS.tab:
        page.get_by_role("tab", name=name, exact=True).click()


def ask(page: Page, question: str) -> None:
    page.fill("#question textarea", question)
    page.press("#question textarea", "Enter")
    expect(page.locator("#chat a[href^='#cite-'], #chat .notice").last).to_be_visible()
    expect(page.locator("#send")).to_be_visible()


def test_an_answer_stays_while_another_room_is_read(page: Page) -> None:
    ask(page, QUESTION)
    open_room(page, SETTINGS.tab)
    expect(page.locator("#chat")).not_to_be_visible()
    open_room(page, "问答")
    expect(page.locator("#chat .bot-row")).to_contain_text("ZeRO-2 切分优化器状态和梯度")
    page.locator("#chat a[href='#cite-1-1']").first.click()
    expect(page.locator(".panel mark.selected").first).to_be_visible()


def test_every_room_fits_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.get_by_label("English").check()  # whose words are longer
    expect(page.locator("html")).to_have_attribute("lang", "en")
    for kind, count in (("rooms", 4), ("settings-rooms", 4)):
        tabs = page.locator(f"#{kind} > .tab-wrapper").get_by_role("tab")
        expect(tabs).to_have_count(count)
        for place in range(count):
            tabs.nth(place).click()
            expect(tabs.nth(place)).to_have_attribute("aria-selected", "true")
            assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    page.get_by_label("中文").check()
    expect(page.locator("html")).to_have_attribute("lang", "zh-CN")


def test_every_room_begins_at_the_same_place(page: Page) -> None:
    places = {}
    for name in ROOMS:
        page.evaluate("name => void (location.hash = `#room-${name}`)", name)
        heading = page.locator(f"#room-{name} .room :is(h2, h3):visible").first
        expect(heading).to_be_visible()
        places[name] = page.evaluate(PLACE, name)
    assert len({tuple(place) for place in places.values()}) == 1, places


def test_menus_of_practice_look_like_those_of_gradio(page: Page) -> None:
    page.locator("#room-practice-button").click()
    page.locator("#practice-navigation button[data-rest='bank']").click()
    page.locator("#practice form[data-act='filter'] select[name='topic']").focus()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.locator("body.dark" if scheme == "dark" else "body:not(.dark)").wait_for()
        page.locator("#room-practice-button").click()
        native = page.locator("#practice select[name='topic']")
        for _ in range(TRIES):  # a room that is entered is drawn anew
            native.focus()
            page.keyboard.press("Tab")
            page.keyboard.press("Shift+Tab")  # by keys alone: a click has no ring
            if native.evaluate("menu => menu === document.activeElement"):
                break
        expect(native).to_be_focused()
        looks = native.evaluate(LOOKS)
        page.locator("#room-library-button").click()
        menu = page.locator("#room-library .wrap:has(> .wrap-inner)").last
        menu.locator("input").focus()
        assert menu.evaluate(LOOKS) == looks
        page.keyboard.press("Escape")


def test_a_room_has_an_address_also_under_the_settings(page: Page, address: str) -> None:
    page.goto("about:blank")
    page.goto(f"{address}#room-quality")
    expect(page.locator("#quality-shipped")).to_be_visible()
    page.evaluate("location.hash = '#room-inspector'")
    expect(page.locator("#inspector-go")).to_be_visible()
    page.evaluate("location.hash = '#room-library'")
    expect(page.locator("#library-list")).to_be_visible()


def test_plots_and_rankings_are_read_on_a_phone(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 740})
    open_room(page, QUALITY.tab)
    value = page.locator(".dots .value").first
    expect(value).to_be_visible()
    boxes = page.eval_on_selector_all(
        ".dots .value, .dots circle", "all => all.map(e => e.getBoundingClientRect().right)"
    )
    assert boxes
    assert max(boxes) <= 390
    open_room(page, INSPECTOR.tab)
    page.fill("#inspector-question textarea", QUESTION)
    page.click("#inspector-go")
    passage = page.locator("table.ranking td.passage").first
    expect(passage).to_be_visible()
    box = passage.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= 390
    assert box["width"] > 250


def test_a_document_is_found_read_added_and_removed(page: Page, tmp_path: Path, folder: Path) -> None:
    open_room(page, LIBRARY.tab)
    rows = page.locator("table.documents tbody tr")
    expect(rows).to_have_count(len(DOCUMENTS))
    page.fill("#library-search textarea, #library-search input", "w4a16")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name=f"{LIBRARY.read}: W4A16").click()
    expect(page.locator(".reader .text")).to_contain_text("权重用 4 位整数保存")
    page.get_by_role("button", name=LIBRARY.back).click()
    page.fill("#library-search textarea, #library-search input", "")

    note = tmp_path / "早停.md"
    note.write_text(NOTE, encoding="utf-8")
    page.set_input_files("#library-files input[type=file]", note)
    expect(page.locator("#library-run .counts")).to_contain_text("新增 1")
    expect(rows.first).to_contain_text("own/早停.md")  # in front of all others
    page.set_input_files("#library-files input[type=file]", note)
    expect(page.get_by_text(LIBRARY.already.format(name="早停.md"))).to_be_visible()
    twin = tmp_path / "孪生.md"
    twin.write_text(NOTE, encoding="utf-8")
    page.set_input_files("#library-files input[type=file]", twin)
    expect(page.get_by_text(LIBRARY.duplicate.format(name="孪生.md", other="own/早停.md"))).to_be_visible()
    expect(page.locator("table.documents")).to_contain_text("own/孪生.md")
    page.locator("#library-list .sure summary").first.click()
    page.locator("#library-list .sure[open] .yes").click()
    expect(page.locator("table.documents")).not_to_contain_text("own/孪生.md")
    page.locator("#library-told").get_by_role("button", name=LIBRARY.undo).click()
    expect(page.locator("table.documents")).to_contain_text("own/孪生.md")
    page.locator("#library-list .sure summary").first.click()
    page.locator("#library-list .sure[open] .yes").click()
    expect(page.locator("table.documents")).not_to_contain_text("own/孪生.md")
    note.write_text("# 另一份", encoding="utf-8")
    page.set_input_files("#library-files input[type=file]", note)
    expect(page.get_by_text(LIBRARY.name_taken.format(name="早停.md"))).to_be_visible()
    assert (folder / "own" / "早停.md").read_text(encoding="utf-8") == NOTE
    page.get_by_role("button", name=f"{LIBRARY.read}: 早停是什么").click()
    expect(page.locator(".reader .text")).to_contain_text("<img src=x")
    assert page.evaluate("window.ran") is None
    page.get_by_role("button", name=LIBRARY.back).click()

    remove = page.locator(f"#library-list .sure summary[aria-label^='{LIBRARY.remove}: 早停']")
    expect(remove).to_have_count(1)
    remove.click()
    page.locator("#library-list .sure[open] [data-keep]").click()
    expect(remove).to_be_focused()
    assert (folder / "own" / "早停.md").exists()
    remove.click()
    page.locator("#library-list .sure[open] .yes").click()
    expect(page.locator("#library-run .counts")).to_contain_text("删除 1")
    expect(rows).to_have_count(len(DOCUMENTS))
    assert not (folder / "own" / "早停.md").exists()


def test_a_list_that_comes_late_takes_no_search_back(page: Page) -> None:
    rows = page.locator("table.documents tbody tr")
    page.evaluate("window.delays = [1500]")  # of the room that opens
    open_room(page, LIBRARY.tab)
    expect(rows).to_have_count(len(DOCUMENTS))  # they came with the page
    page.fill("#library-search textarea, #library-search input", "w4a16")
    expect(rows).to_have_count(1)
    arrived(page)
    expect(rows).to_have_count(1)
    page.fill("#library-search textarea, #library-search input", "")
    expect(rows).to_have_count(len(DOCUMENTS))


def test_a_file_that_cannot_be_read_is_told_and_removed(page: Page, tmp_path: Path, folder: Path) -> None:
    open_room(page, LIBRARY.tab)
    bad = tmp_path / "坏.pdf"
    bad.write_bytes(b"%PDF-1.7 no more")
    page.set_input_files("#library-files input[type=file]", bad)
    left = page.locator("#library-list .unread li")
    expect(left).to_contain_text(LIBRARY.unread_damaged)
    page.locator(f"#library-list .sure summary[aria-label='{LIBRARY.remove}: 坏.pdf']").click()
    page.locator("#library-list .sure[open] .yes").click()
    expect(left).to_have_count(0)
    assert not (folder / "own" / "坏.pdf").exists()


def test_the_documents_are_reviewed(page: Page) -> None:
    open_room(page, LIBRARY.tab)
    start = page.locator("#review-start")
    expect(start).to_be_hidden()  # folded away
    page.get_by_role("button", name=REVIEW.label).click()
    start.click()
    report = page.locator("#review-report")
    expect(report).to_contain_text(REVIEW.ages, timeout=60_000)
    expect(report.locator(".problem")).to_have_count(0)
    report.get_by_text(REVIEW.ages).click()
    expect(report.get_by_text("zero.md")).to_be_visible()
    expect(report).to_contain_text(REVIEW.undated)


def test_what_is_no_document_or_too_large_is_refused_in_the_reader_s_language(
    page: Page, tmp_path: Path, folder: Path
) -> None:
    open_room(page, LIBRARY.tab)
    program, large = tmp_path / "a.exe", tmp_path / "大.txt"
    program.write_bytes(b"MZ")
    large.write_text("长" * 500_000, encoding="utf-8")
    page.set_input_files("#library-files input[type=file]", program)
    expect(page.get_by_text("“a.exe”不是能读的资料")).to_be_visible()
    page.set_input_files("#library-files input[type=file]", large)
    expect(page.get_by_text(LIBRARY.too_large.format(name="大.txt", size="1.4", megabytes=1))).to_be_visible()
    expect(page.get_by_text("Invalid file type")).to_have_count(0)
    expect(page.get_by_text("exceed")).to_have_count(0)
    assert not list((folder / "own").glob("*"))


def test_a_question_of_the_conversation_is_inspected_with_its_history(page: Page, tmp_path: Path) -> None:
    ask(page, "LoRA 为什么能省显存？")
    ask(page, "那秩呢？")
    expect(page.locator("#chat .bot-row")).to_have_count(2)
    open_room(page, INSPECTOR.tab)
    page.click("#inspector-asked input")
    options = page.get_by_role("option")
    expect(options).to_contain_text([INSPECTOR.typed, "那秩呢？", "LoRA 为什么能省显存？"])
    options.nth(1).click()
    expect(page.locator("#inspector-question textarea")).to_have_value("那秩呢？")
    expect(page.locator("#inspector-earlier")).not_to_be_visible()
    expect(page.locator("table.ranking tbody tr").first).to_contain_text("lora.txt")
    with page.expect_download() as started:
        page.click("a.download")
    started.value.save_as(tmp_path / "taken.json")
    taken = json.loads((tmp_path / "taken.json").read_text(encoding="utf-8"))
    assert taken["history"][0] == "LoRA 为什么能省显存？"
    assert "低秩矩阵" in taken["history"][1]


def test_a_question_is_inspected_and_taken_away(page: Page, tmp_path: Path) -> None:
    open_room(page, INSPECTOR.tab)
    page.fill("#inspector-question textarea", QUESTION)
    page.click("#inspector-go")
    expect(page.locator("table.ranking tbody tr").first).to_contain_text("zero.md")
    expect(page.locator("#inspector-result")).to_contain_text(INSPECTOR.answered)
    with page.expect_download() as started:
        page.click("a.download")
    started.value.save_as(tmp_path / "taken.json")
    taken = json.loads((tmp_path / "taken.json").read_text(encoding="utf-8"))
    assert taken["question"] == QUESTION
    assert taken["candidates"][0]["document"] == "zero.md"


def test_quality_is_shown_and_measured(page: Page, folder: Path) -> None:
    open_room(page, QUALITY.tab)
    expect(page.locator("#quality-shipped svg").first).to_be_visible()
    page.get_by_label(QUALITY.kind_answers).check()
    page.click("#quality-start")
    expect(page.locator("#quality-start")).to_be_disabled()
    expect(page.locator("#quality-own")).to_contain_text("2 个问题", timeout=600_000)
    expect(page.locator("#quality-own svg").first).to_be_visible()
    kept = json.loads((folder / "user" / "quality.json").read_text(encoding="utf-8"))
    assert kept["answers"]["result"]["questions"]["asked"] == 2
    page.click("#quality-start")
    page.click("#quality-stop")
    expect(page.locator("#quality-progress")).to_contain_text(QUALITY.stopped)


# The first change, or the refresh that follows it, is on its way.
@pytest.mark.parametrize("milliseconds", [LATENESS // 2, LATENESS * 3 // 2])
def test_what_comes_late_undoes_no_setting(page: Page, milliseconds: int) -> None:
    open_room(page, SETTINGS.tab)
    page.evaluate("() => { window.late = true; }")
    page.get_by_label(SETTINGS.style_short).click()
    page.wait_for_timeout(milliseconds)
    page.get_by_label(SETTINGS.caution_cautious).click()
    for _ in range(4 * LATENESS // 100):
        expect(page.get_by_label(SETTINGS.caution_cautious)).to_be_checked(timeout=1)
        page.wait_for_timeout(100)
    arrived(page)
    expect(page.get_by_label(SETTINGS.caution_cautious)).to_be_checked(timeout=1)
    page.evaluate("() => { window.late = false; }")
    page.reload()
    open_room(page, SETTINGS.tab)
    expect(page.get_by_label(SETTINGS.style_short)).to_be_checked()
    expect(page.get_by_label(SETTINGS.caution_cautious)).to_be_checked()
    page.click("#preferences-reset")
    expect(page.get_by_label(SETTINGS.style_standard)).to_be_checked()


def test_of_the_settings_only_the_card_for_a_model_is_open(page: Page) -> None:
    page.reload()  # what was unfolded before stays so
    page.locator("#room-settings-button").click()
    expect(page.locator("#model-setup")).to_be_visible()
    for label in (SETTINGS.llm_auto, SETTINGS.style_short, SETTINGS.theme_dark):
        expect(page.get_by_label(label)).to_be_hidden()


def test_what_is_unfolded_as_soon_as_it_is_seen_stays_so(page: Page) -> None:
    page.reload()
    expect(page.locator("#page[data-greeted]")).to_have_count(1)
    page.evaluate(UNFOLD_AT_ONCE)
    page.locator("#room-settings-button").click()
    expect(page.get_by_label(SETTINGS.style_short)).to_be_visible()
    page.wait_for_timeout(500)
    expect(page.get_by_label(SETTINGS.style_short)).to_be_visible(timeout=1)
    page.locator("#preferences-answers button.label-wrap").click()
    expect(page.get_by_label(SETTINGS.style_short)).to_be_hidden()


def test_nothing_that_comes_late_folds_what_was_unfolded(page: Page) -> None:
    page.reload()
    expect(page.locator("#page[data-greeted]")).to_have_count(1)
    page.evaluate("window.delays = [700, 700, 700]")
    page.get_by_label("English").check()
    open_room(page, SETTINGS.tab)
    arrived(page)
    expect(page.locator("#preferences-who button.label-wrap")).to_contain_text(ENGLISH.who)
    expect(page.get_by_label(ENGLISH.style_short)).to_be_visible()
    page.get_by_label(ENGLISH.style_short).click()
    page.get_by_label("中文").check()
    arrived(page)
    for label in (SETTINGS.llm_auto, SETTINGS.style_short, SETTINGS.theme_dark):
        expect(page.get_by_label(label)).to_be_visible()
    page.click("#preferences-reset")
    expect(page.get_by_label(SETTINGS.style_standard)).to_be_checked()


def test_settings_hold_and_are_remembered(page: Page) -> None:
    open_room(page, SETTINGS.tab)
    page.get_by_label(SETTINGS.llm_endpoint).click()  # not `check`, which wants it to stay chosen: it is taken back
    expect(page.locator("#preferences-notice")).to_contain_text("endpoint_url")
    expect(page.get_by_label(SETTINGS.llm_auto)).to_be_checked()  # it stays who it was
    page.get_by_label(SETTINGS.style_short).click()
    expect(page.get_by_label(SETTINGS.style_short)).to_be_checked()
    expect(page.locator("#preferences-notice")).not_to_contain_text("endpoint_url")
    page.get_by_label(SETTINGS.theme_dark).check()
    expect(page.locator("body")).to_have_class("dark")
    page.click("#preferences-test")
    expect(page.locator("#preferences-tested")).to_contain_text(SETTINGS.test_nothing)
    expect(page.locator("#preferences-where")).to_contain_text(SETTINGS.answers_quotes)
    page.wait_for_timeout(300)  # the browser writes a little later
    page.reload()
    expect(page.locator("body")).to_have_class("dark")
    open_room(page, SETTINGS.tab)
    expect(page.get_by_label(SETTINGS.style_short)).to_be_checked()
    expect(page.get_by_label(SETTINGS.theme_dark)).to_be_checked()
    page.click("#preferences-reset")
    expect(page.get_by_label(SETTINGS.style_standard)).to_be_checked()
    expect(page.get_by_label(SETTINGS.theme_system)).to_be_checked()
    expect(page.locator("body")).not_to_have_class("dark")


def test_the_guide_opens_where_the_index_is_damaged(
    browser: Browser, folder: Path, tmp_path: Path, model_settings: Settings
) -> None:
    shutil.copytree(folder / "index", tmp_path / "index")
    current = tmp_path / "index" / "CURRENT"
    whole = current.read_bytes()
    current.write_bytes(b"{")
    environment = {
        "INTERVIEW_RAG_MODELS": str(model_settings.models),
        "INTERVIEW_RAG_LLM": str(ChatModelName.EXTRACTIVE),
    }
    with serve("--index", str(tmp_path / "index"), "--port", "8080", environment=environment) as address:
        page = browser.new_context(locale="zh-CN").new_page()
        page.goto(address)
        expect(page.locator("#guide")).to_contain_text(GUIDE.index_damaged)
        expect(page.locator("#guide pre")).to_contain_text("python -m ingest --rebuild --index")
        current.write_bytes(whole)  # as if the command had been run
        page.click("#guide-again")
        expect(page.locator("#question textarea")).to_be_visible(timeout=60_000)
        page.context.close()


@pytest.mark.parametrize("way", ["drop", "paste"])
def test_a_document_given_to_the_chat_is_asked(way: str, page: Page) -> None:
    """Also by the question that is sent before it is read."""
    expect(page.locator("#attach")).to_be_visible()
    page.evaluate(GIVE, [way, f"{way}.txt", f"云门机器人的{way}型号能背 49 公斤。"])
    ask(page, "云门机器人能背多重？")
    expect(page.locator("#strip .scope-chip")).to_have_text(f"{way}×")
    expect(page.locator("#chat .bot-row")).to_contain_text(f"{way}型号能背 49 公斤")
    expect(page.locator("#attached progress")).to_have_count(0)


def test_a_file_that_is_no_document_is_told_of_in_the_chat(page: Page) -> None:
    page.locator("#ask input[type=file]").set_input_files({"name": "a.pdf", "mimeType": "", "buffer": b"no PDF"})
    expect(page.locator("#attached .problem")).to_contain_text(f"a.pdf: {LIBRARY.unread_damaged}")
    page.evaluate(GIVE, ["drop", "a.exe", "x"])
    expect(page.locator(".toast-body")).to_contain_text(["a.exe"])
    page.evaluate(GIVE, ["drop", "large.txt", "x" * 1_100_000])
    expect(page.locator(".toast-body").filter(has_text="large.txt")).to_be_visible()
    expect(page.locator("#strip .scope-chip")).to_have_count(0)

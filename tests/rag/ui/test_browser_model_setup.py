"""A first-time user sets up a chat model in the page, in a real browser, and asks it a question."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from rag.ui.texts import MODEL_SETUP_TEXTS, PREFERENCES_TEXTS, Language
from rag.ui.texts import TEXTS as PAGE_TEXTS
from tests.rag.chat_models.chat_server import ChatServer
from tests.rag.ui.browser import GIVE, ask, open_page, serve, unfold
from tests.rag.ui.house import House
from tests.rag.ui.test_browser_accessible import violations

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TEXTS, SETTINGS = MODEL_SETUP_TEXTS[Language.ZH], PREFERENCES_TEXTS[Language.ZH]
PAGE = PAGE_TEXTS[Language.ZH]
QUESTION = "ZeRO-2 和 ZeRO-3 差在哪？"
# Everything that the page is sent while it runs, streams too, however long they stay open.
LISTENING = """
window.heard = "";
const fetched = window.fetch;
window.fetch = async (...given) => {
  const response = await fetched(...given);
  const reader = response.clone().body?.pipeThrough(new TextDecoderStream()).getReader();
  const listen = async () => {
    for (let part = await reader.read(); !part.done; part = await reader.read()) window.heard += part.value;
  };
  if (reader) listen().catch(() => {});
  return response;
};
"""
KEY = "sk-typed-once-and-never-shown-again"


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with ChatServer(reply="ZeRO-3 还切分模型参数。\n", models=("small", "big"), echo_key=True).running() as server:
        yield server


def environment(folder: Path, house: House, **more: str) -> dict[str, str]:
    return {
        "INTERVIEW_RAG_DATA": str(folder / "user"),
        "INTERVIEW_RAG_LIBRARY": str(folder / "own"),
        "INTERVIEW_RAG_MODELS": str(house.settings.models),
        "INTERVIEW_RAG_LLM": "auto",
        **more,
    }


def open_settings(page: Page) -> None:
    page.get_by_role("tab", name=SETTINGS.tab, exact=True).click()
    unfold(page)
    expect(page.locator("#preferences-states ul.answerers")).to_be_visible()


def holding_key(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and KEY.encode() in file.read_bytes()]


def test_a_model_is_set_up_tested_and_used(tmp_path: Path, browser: Browser, model: ChatServer, house: House) -> None:
    arguments = ("--index", str(house.settings.index), "--port", "8160")
    with serve(*arguments, environment=environment(tmp_path, house)) as address:
        other = open_page(browser, address)
        page = open_page(browser, address, before=LISTENING)
        trouble: list[str] = []
        page.on("pageerror", lambda error: trouble.append(str(error)))
        open_settings(page)
        states = page.locator("#preferences-states li.unusable")
        expect(states.filter(has_text=SETTINGS.llm_endpoint)).to_contain_text(SETTINGS.way_endpoint)
        dashed = page.locator('#preferences-llm label:has(input[value="endpoint"])')
        assert dashed.evaluate("label => getComputedStyle(label).borderTopStyle") == "dashed"

        page.get_by_label(TEXTS.preset_other).check()
        key = page.locator("#model-key input")
        expect(key).to_have_attribute("type", "password")
        expect(key).to_have_attribute("autocomplete", "off")
        page.fill("#model-url input, #model-url textarea", f"{model.url}/chat/completions")
        key.fill(KEY)
        model.status = 401
        page.click("#model-look")
        expect(page.locator("#model-told")).to_contain_text(SETTINGS.test_key.format(code=401))
        model.status = 200
        page.click("#model-look")
        expect(page.locator("#model-told")).to_contain_text(TEXTS.found.format(count=2))
        page.click("#model-name input")
        page.get_by_role("option", name="big").click()
        assert violations(page) == []
        page.click("#model-test")
        expect(page.locator("#model-told")).to_contain_text("big")
        page.click("#model-use")
        expect(page.locator("#model-status")).to_contain_text(TEXTS.with_key)
        expect(page.locator("#model-told")).to_contain_text(TEXTS.used.format(model="big"))
        expect(key).to_have_value("")
        expect(states.filter(has_text=SETTINGS.llm_endpoint)).to_have_count(0)
        expect(page.locator("#preferences-where")).to_contain_text("big")

        for reader in (page, other):  # the other's page was open before
            reader.get_by_role("tab", name="问答", exact=True).click()
            model.requests.clear()
            ask(reader, QUESTION)
            assert model.requests
            assert model.requests[-1]["model"] == "big"
            expect(reader.locator("#privacy")).to_contain_text("big")
        assert set(model.keys) == {f"Bearer {KEY}"}
        other.context.close()
        sent = page.evaluate("window.heard")
        for said in (TEXTS.with_key, TEXTS.found.format(count=2)):  # sent at once, and streamed
            assert said in sent or json.dumps(said)[1:-1] in sent
        stored = page.evaluate("JSON.stringify(localStorage) + JSON.stringify(sessionStorage)")
        opened = page.request.get(address).text() + page.request.get(f"{address}config").text()
        assert KEY not in sent + stored + opened + page.content()
        files = [file for file in (tmp_path / "user").iterdir() if file.name.startswith("chat-model")]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
        assert [file.suffix for file in holding_key(tmp_path / "user")] == [".key"]

        open_settings(page)
        forget = page.locator("#model-forget-key")
        forget.click()
        expect(forget).to_have_text(PAGE.really)
        assert holding_key(tmp_path / "user")
        expect(page.locator("#model-status")).to_contain_text(TEXTS.with_key)
        forget.click()
        expect(page.locator("#model-status")).to_contain_text(TEXTS.without_key)
        assert trouble == []
        page.context.close()
    assert holding_key(tmp_path / "user") == []


def test_who_may_not_change_documents_sees_who_writes_and_changes_nothing(
    tmp_path: Path, browser: Browser, house: House
) -> None:
    given = environment(tmp_path, house, INTERVIEW_RAG_UPLOADS="false")
    with serve("--index", str(house.settings.index), "--port", "8170", environment=given) as address:
        page = open_page(browser, address)
        expect(page.locator("#ask input[type=file]")).to_have_count(0)
        page.evaluate(GIVE, ["drop", "a.txt", "x"])
        expect(page.locator("#attached")).not_to_be_visible()
        open_settings(page)
        expect(page.locator("#preferences-states")).to_contain_text(SETTINGS.way_owner)
        expect(page.locator("#model-setup")).to_have_count(0)
        page.context.close()

"""An agent's steps in a real browser: under its answer, and after the page is opened again."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from rag.ui.texts import TEXTS, Language
from tests.rag.answer.agent.tool_server import Call, ToolServer, search
from tests.rag.ui.browser import ask, open_page, serve
from tests.rag.ui.house import House

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ZH = TEXTS[Language.ZH]
QUESTION = "LoRA 为什么能省显存？量化格式 W4A16 的激活用多少位？"


@pytest.fixture
def page(browser: Browser, house: House) -> Iterator[Page]:
    model = ToolServer(reply="LoRA 只训练两个低秩矩阵。")
    model.turns = [
        [search("<b>W4A16</b> 激活")],
        [Call("calculator", '{"expression": "16 / 4"}')],
        "LoRA 只训练两个低秩矩阵。激活仍用 16 位浮点数计算。",
    ]
    with model.running():
        environment = {
            "INTERVIEW_RAG_AGENT": "auto", "INTERVIEW_RAG_ENDPOINT_URL": model.url,
            "INTERVIEW_RAG_ENDPOINT_MODEL": "test", "INTERVIEW_RAG_MODELS": str(house.settings.models),
        }  # fmt: skip
        options = ("--index", str(house.settings.index), "--port", "7990", "--llm", "endpoint")
        with serve(*options, environment=environment) as address:
            page = open_page(browser, address)
            yield page
            page.context.close()


def test_steps_stand_under_the_answer_and_stay(page: Page) -> None:
    ask(page, QUESTION)
    for _ in range(2):
        steps = page.locator("#chat .bot-row details.agent")
        expect(steps.locator("summary")).to_have_text(ZH.agent_steps.format(count=2))
        expect(steps.locator("li")).to_have_count(2)
        expect(steps.locator("li").first).to_be_hidden()
        steps.locator("summary").click()
        expect(steps.locator("li").first).to_contain_text("<b>W4A16</b> 激活")
        expect(steps.locator("li").last).to_contain_text("16 / 4 → 4")
        expect(page.locator("#chat .bot-row a[href^='#cite-']").first).to_be_visible()
        page.reload()  # and once more, as it is kept

"""Whether a message goes on with the talk, by the real embedder over some pages of the corpus."""

import shutil
from functools import cache
from unittest.mock import patch

import pytest

from ingest.sync import sync
from rag.answer.assistant import Assistant
from rag.embedding import Embedder
from rag.settings import ChatModelName, Settings
from rag.types import AnswerKind, Role, Turn
from tests.corpus.pages import CORPUS
from tests.rag.library import QUESTIONS_ASKED

PAGES = (
    "alignment/lora.md", "alignment/dpo.md", "alignment/ppo-in-rlhf.md", "application/rag-chunking.md",
    "agents/agent-memory.md", "architecture/why-self-attention-works.md", "training/lr-warmup-and-decay.md",
)  # fmt: skip


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory, model_settings: Settings, embedder: Embedder) -> Assistant:
    """Answers by quotation from PAGES, whose token vectors are made when a question needs them."""
    folder = tmp_path_factory.mktemp("pages")
    for page in PAGES:
        (folder / page).parent.mkdir(exist_ok=True)
        shutil.copy(CORPUS / page, folder / page)
    settings = model_settings.model_copy(update={"index": folder / "index", "llm": ChatModelName.EXTRACTIVE})
    with patch("ingest.anchors.ASKED", QUESTIONS_ASKED):
        sync(settings, lambda: embedder, [folder], identity=embedder.identity, complete=False)
    return Assistant(settings, embedder)


@cache
def after(assistant: Assistant, asked: str) -> list[Turn]:
    answer = assistant.ask(asked)
    return [Turn(Role.USER, asked), Turn(Role.ASSISTANT, answer.text, answer.refused)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "messages", "leans"),
    [
        ("LoRA 为什么能省显存", ("那初始化怎么做", "推理会变慢吗", "秩一般取多少", "合并以后精度会掉吗"), True),
        ("DPO 的局限是什么", ("那怎么缓解", "β 一般取多少", "为什么概率会下降", "数据谁来生成好"), True),
        ("RAG 怎么切块", ("学习率怎么设", "为什么要除以根号dk", "PPO 的裁剪是干嘛的", "LoRA 秩怎么选"), False),
        ("LoRA 为什么能省显存", ("warmup 要多少步", "自注意力的复杂度", "切块切多大", "智能体记忆怎么存"), False),
    ],
)
def test_three_of_four_are_read_right(asked: str, messages: tuple[str, ...], leans: bool, assistant: Assistant) -> None:
    talk = after(assistant, asked)
    read = [assistant.ask(message, talk).read_as for message in messages]
    assert sum(bool(one and one.follows) is leans for one in read) >= 3, read


@pytest.mark.slow
@pytest.mark.parametrize(
    "message",
    [
        "今天晚上吃什么好",
        "天气怎么样",
        "昨晚湖人赢了没",
        "那股票呢",
        "红烧肉要不要先焯水",
        "is it going to rain tomorrow",
    ],
)
@pytest.mark.parametrize("asked", ["LoRA 为什么能省显存", "RAG 怎么切块"])
def test_what_is_off_the_subject_is_not_answered_after_a_turn(asked: str, message: str, assistant: Assistant) -> None:
    """agent-memory.md has 今天午饭吃面 in a string of its code."""
    assert assistant.ask(message, after(assistant, asked)).kind is not AnswerKind.ANSWER


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "message", "page"),
    [
        ("DPO 是什么？", "那 PPO 呢？", "alignment/ppo-in-rlhf.md"),
        ("Terraform 是什么？", "那 LoRA 呢？", "alignment/lora.md"),
        ("What is DPO?", "How about LoRA?", "alignment/lora.md"),
    ],
)
def test_a_bare_name_is_answered_from_its_page(asked: str, message: str, page: str, assistant: Assistant) -> None:
    answer = assistant.ask(message, after(assistant, asked))
    assert answer.citations[0].document.endswith(page)

"""A page that says itself in another language answers each reader in theirs."""

from pathlib import Path

import pytest

from ingest.sync import sync
from rag.answer.assistant import Assistant
from rag.language.language import Language
from rag.settings import ChatModelName, Settings
from tools.hash_embedder import HashEmbedder

PAGE = """# 秩怎么选？

## 一句话回答
LoRA 的秩从 8 试起。

## 要点
- LoRA 的秩越大，可训练参数越多。
- LoRA 的秩与任务有关。

## 展开
### 秩和参数量
LoRA 的参数量与秩成正比。

## English
### How is the rank of LoRA chosen?
Start LoRA with rank 8.

- A larger rank of LoRA trains more parameters.

### Does the rank of LoRA matter?
The rank of LoRA matters for hard tasks.
"""


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Assistant:
    folder: Path = tmp_path_factory.mktemp("translations")
    (folder / "documents").mkdir()
    (folder / "documents" / "lora.md").write_text(PAGE, encoding="utf-8")
    embedder = HashEmbedder()
    settings = Settings(index=folder / "index", llm=ChatModelName.EXTRACTIVE)
    sync(settings, lambda: embedder, [folder / "documents"], identity=embedder.identity)
    return Assistant(settings, embedder)


def test_a_chinese_question_finds_no_translation(assistant: Assistant) -> None:
    hits = assistant.search("LoRA 的秩怎么选").hits
    assert hits
    assert {hit.passage.translated_into for hit in hits} == {None}


def test_an_english_question_finds_both(assistant: Assistant) -> None:
    hits = assistant.search("How is the rank of LoRA chosen?").hits
    assert {hit.passage.translated_into for hit in hits} == {None, Language.EN}


def test_who_asks_in_english_reads_the_short_answer_in_english(assistant: Assistant) -> None:
    text = assistant.ask("How is the rank of LoRA chosen?").text
    assert text.startswith("Start LoRA with rank 8.")
    assert "LoRA 的秩从 8 试起" not in text


@pytest.mark.parametrize("question", ["秩怎么选？", "LoRA 的秩从多少试起"])
def test_points_follow_the_short_answer_and_stay_in_its_language(assistant: Assistant, question: str) -> None:
    quotes = [citation.quote for citation in assistant.ask(question).citations]
    assert quotes[:2] == ["LoRA 的秩从 8 试起。", "LoRA 的秩越大，可训练参数越多。"]
    assert all("rank" not in quote for quote in quotes)

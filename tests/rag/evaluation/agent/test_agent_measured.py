"""What `python -m rag eval agent` measures, over small documents."""

import json
from pathlib import Path

import pytest

from rag.answer.assistant import Assistant
from rag.chat_models.model import ChatModel
from rag.errors import UsageError
from rag.evaluation.agent.planner import MOST_SEARCHES, ScriptedPlanner, plan
from rag.evaluation.agent.run import as_text, evaluate
from rag.settings import ChatModelName, Settings
from tests.conftest import HashEmbedder

EVIDENCE = [
    {"document": "lora.txt", "quote": "只训练两个低秩矩阵"},
    {"document": "zero.md", "quote": "通信量是数据并行的 1.5 倍"},
]
SEVERAL = "LoRA 为什么能省显存？ZeRO-3 的通信量是多少？"
NEAR = "Mamba-9X 为什么快，又怎么训练？"
ROWS = [
    {"id": "a", "question": SEVERAL, "kind": "multi-hop", "split": "dev", "evidence": EVIDENCE},
    {"id": "b", "question": NEAR, "kind": "near-miss", "split": "dev", "evidence": []},
]


@pytest.fixture
def planned(library: Settings, hash_embedder: HashEmbedder) -> Assistant:
    model = ChatModel(ChatModelName.ENDPOINT, "scripted-planner", ScriptedPlanner())
    return Assistant(library, hash_embedder, chat_model=model)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    file = tmp_path / "gold.jsonl"
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("question", "queries"),
    [
        ("LoRA 为什么能省显存？", []),
        ("GRPO 的优势怎么算，KL 项加在哪里？", ["GRPO 的优势怎么算", "KL 项加在哪里"]),
        ("GRPO 的优势怎么算，为什么要减均值？", ["GRPO 的优势怎么算", "GRPO 为什么要减均值"]),
        ("用 8 张卡训 7B，显存怎么算？换成 LoRA 呢？", ["用 8 张卡训 7B，显存怎么算", "换成 LoRA 呢"]),
    ],
)
def test_the_script_plans_from_the_words_of_the_question(question: str, queries: list[str]) -> None:
    assert plan(question) == queries


def test_the_script_searches_no_more_than_it_may() -> None:
    assert len(plan("这是什么？" * 9)) == MOST_SEARCHES


def test_what_was_found_and_what_it_cost(planned: Assistant, gold: Path) -> None:
    result, rows = evaluate(gold, planned, track=lambda items, name: items)
    several, near = result["kinds"]["multi-hop"], result["kinds"]["near-miss"]
    assert several["steps"]["search"] == 2
    assert several["ways"]["agent"]["found"]["value"] == 1.0
    assert several["ways"]["agent"]["calls"] == 2
    assert several["ways"]["single"]["calls"] == 0
    assert several["ways"]["larger"]["tokens"] <= several["ways"]["agent"]["tokens"]
    # What is refused stays refused, and nobody is asked to plan for it.
    assert near["refused"]["value"] == 1.0
    assert near["ways"]["agent"]["calls"] == 0
    assert [row["id"] for row in rows] == ["a", "b"]
    assert "multi-hop: 1 questions" in as_text(result)


def test_kinds_that_are_not_there(planned: Assistant, gold: Path) -> None:
    with pytest.raises(UsageError, match="two-sided"):
        evaluate(gold, planned, kinds=("two-sided",))

"""Follow-up questions: which lean on what was said, and what they become."""

import pytest

from rag.conversation import MAX_SUBJECT_CHARACTERS, leans_on_history, standalone
from rag.types import Turn

HISTORY = [Turn("user", "LoRA 为什么能省显存？"), Turn("assistant", "它只训练两个低秩矩阵。")]
FOLLOW_UPS = [
    "那它的缺点呢",
    "and for bf16?",
    "第二点展开说",
    "为什么要除以根号 d",
    "为什么？",
    "举个例子",
    "换成 MoE 呢",
    "既然这样干嘛还用它",
    "What about ZeRO-3?",
    "Why?",
    "How does it differ from QLoRA?",
    "那個怎麼初始化",
    "详细说说",
    "秩怎么选",
]
ALONE = [
    "换个问题：什么是 LoRA",
    "Another question: what does it mean to quantize a model?",
    "什么是过拟合？",
    "RoPE 为什么能外推？",
    "ZeRO-2 和 ZeRO-3 差在哪",
    "Why does mixed precision training need loss scaling?",
    "Does QLoRA store its weights in 4 bits, and are its matmuls any faster than before?",
    "KV Cache 的显存怎么估算",
    "數據並行和張量並行有什麼區別",
    "可以用哪些方法缓解大模型的幻觉",
]


@pytest.mark.parametrize("question", FOLLOW_UPS)
def test_a_follow_up_gets_its_subject_in_front(question: str) -> None:
    assert leans_on_history(question)
    assert standalone(question, HISTORY) == f"LoRA 为什么能省显存 {question}"


@pytest.mark.parametrize("question", ALONE)
def test_a_new_subject_is_left_alone(question: str) -> None:
    assert not leans_on_history(question)
    assert standalone(question, HISTORY) == question


@pytest.mark.parametrize("question", FOLLOW_UPS)
def test_without_history_nothing_changes(question: str) -> None:
    assert standalone(question, []) == question
    assert standalone(question, [Turn("assistant", "你好"), Turn("user", "  ")]) == question


def test_the_subject_is_the_last_question_that_stands_alone() -> None:
    history = [Turn("user", "什么是 LoRA？"), Turn("user", "RoPE 为什么能外推？"), Turn("user", "那它的缺点呢")]
    assert standalone("再具体一点", history) == "RoPE 为什么能外推 再具体一点"
    assert standalone("为什么", history[2:]) == "那它的缺点呢 为什么"


def test_what_the_assistant_said_is_not_a_subject() -> None:
    assert "低秩" not in standalone("那它呢", HISTORY)


def test_a_very_long_subject_leaves_room_for_the_question() -> None:
    question = standalone("那它的缺点呢", [Turn("user", "背景" * 5_000 + "，RoPE 怎么外推？")])
    assert question.endswith("RoPE 怎么外推 那它的缺点呢")
    assert len(question) <= MAX_SUBJECT_CHARACTERS + 10

"""Messages that ask several things at once."""

import pytest

from rag.language.asking import parts


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("LoRA 的秩怎么选？另外 QLoRA 用什么数据类型", ("LoRA 的秩怎么选", "QLoRA 用什么数据类型")),
        ("ddp 梯度啥时候同步 顺便问下怎么保证实验能复现", ("ddp 梯度啥时候同步", "怎么保证实验能复现")),
        ("重排为啥放召回后面 然后 cross encoder 是啥", ("重排为啥放召回后面", "cross encoder 是啥")),
        ("什么是 GRPO?RoPE 为什么能外推?", ("什么是 GRPO", "RoPE 为什么能外推?")),
        ("bert 有哪些任务\nadam 的动量怎么算", ("bert 有哪些任务", "adam 的动量怎么算")),
        (
            "why add a reranker after retrieval, and how do i choose an embedding model",
            ("why add a reranker after retrieval", "how do i choose an embedding model"),
        ),
        (
            "五票多数投票，单次正确率 0.6。能投到多少？TRL 里 KL 系数默认是多少？",
            ("五票多数投票，单次正确率 0.6，能投到多少", "TRL 里 KL 系数默认是多少"),
        ),
    ],
)
def test_each_thing_is_a_part(question: str, found: tuple[str, ...]) -> None:
    assert parts(question) == found


@pytest.mark.parametrize(
    "question",
    [
        "什么是 LoRA？",
        "RoPE 是什么？为什么能外推？",
        "什么是 MoE？有什么优点？",
        "LoRA 和 QLoRA 有什么区别？它们各自适合什么场景？",
        "bert 预训练有哪两个任务 另外它为啥不适合做生成",
        "训练时 loss 变 NaN 了怎么办？先查什么？",
        "你好！什么是 RAG？",
        "请问什么是 RAG？谢谢！",
        "我在准备面试。什么是 RAG？请详细说说。",
        "head_dim 64 还是 128 头数怎么定",
        "如果 batch 很小，会怎样？",
        "还有什么坑",
        "还有呢",
        "GPT-4o 和 GPT-4 差在哪",
        "What is the difference between ATE and CATE, and how does one estimate the latter?",
        "attention and how",
        "",
        "？？？",
        "？".join(f"第 {n} 个模型的层数是多少" for n in range(9)),
    ],
)
def test_one_thing_has_no_parts(question: str) -> None:
    assert parts(question) == ()

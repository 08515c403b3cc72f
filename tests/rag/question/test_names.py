"""Which words of a question are names, and whether the material knows them."""

import numpy as np
import pytest

from rag.index.keywords import KeywordIndex
from rag.language.terms import terms
from rag.question.names import NameKind, find_names, rarity, stands_in

PASSAGES = (
    "LoRA 冻结权重，只训练低秩矩阵",
    "ZeRO-3 切分参数，ZeRO-2 不切分，4 张卡",
    "Llama 2 用 flash-attention，temperature 越高越随机",
    "LoRA 的秩，transformer 的参数 find_unused_parameters，v4",
    "2025-W12 的周报",
)


@pytest.fixture(scope="module")
def keywords() -> KeywordIndex:
    return KeywordIndex.build([terms(passage) for passage in PASSAGES])


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("LoRA 的秩怎么选", []),
        ("lora 的秩怎么选", []),
        ("ＬｏＲＡ 的秩怎么选", []),
        ("zero3 切分什么", []),
        ("ZeRO-4 切分什么", ["ZeRO-4"]),
        ("W12 做了什么，W1 呢", ["W1"]),
        ("ZeRO++ 量化到几位", ["ZeRO++"]),
        ("FlashAttention 快在哪", []),
        ("transfomer 是什么", []),
        ("Vanilla transformer 有几层", []),
        ("temp 调到 0 会怎样", []),
        ("LLaVA 怎么接图像", ["LLaVA"]),
        ("mamba 和 lora 比呢", ["mamba"]),
        ("7b 用 4bit 要 24g 吗，v3.2 呢", []),
        ("检索 top50 再重排到 Top-5", []),
        ("What is GRPO?", ["GRPO"]),
        ("Does Ray scale better than LoRA?", ["Ray"]),
        ('What does "pissa" change?', ["pissa"]),
        ("How large is a layer?", []),
        ("LoRA/ZeRO-3 怎么配", []),
        ("LoRA/GRPO 差在哪", ["LoRA/GRPO"]),
        ("Llama-v4 有几层", ["Llama-v4"]),
    ],
)
def test_unknown_names(question: str, unknown: list[str], keywords: KeywordIndex) -> None:
    assert [name.written for name in find_names(keywords, question) if not name.forms] == unknown


def test_kinds(keywords: KeywordIndex) -> None:
    assert [(n.written, n.kind) for n in find_names(keywords, "GRPO 和 mamba，再说 GRPO")] == [
        ("GRPO", NameKind.NAME),
        ("mamba", NameKind.WORD),
    ]
    assert [(n.written, n.kind) for n in find_names(keywords, "Can Ray run vLLM?")] == [
        ("Ray", NameKind.CAPITAL),
        ("vLLM", NameKind.NAME),
    ]


def test_a_slip_is_a_guess(keywords: KeywordIndex) -> None:
    (slip,) = find_names(keywords, "transfomer 是什么")
    assert slip.guessed
    assert slip.forms == (("transformer",),)
    (exact,) = find_names(keywords, "transformer 是什么")
    assert not exact.guessed


def test_where_a_name_stands(keywords: KeywordIndex) -> None:
    (name,) = find_names(keywords, "zero3 切分什么")
    assert stands_in(keywords, name, np.asarray([0, 1]))
    assert not stands_in(keywords, name, np.asarray([0, 2, 3]))


def test_a_name_in_many_passages_is_less_rare(keywords: KeywordIndex) -> None:
    lora, zero = find_names(keywords, "LoRA 还是 ZeRO-3")
    assert 0 <= rarity(keywords, lora) < rarity(keywords, zero) <= 1

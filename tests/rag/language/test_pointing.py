"""Words that point back, or do not."""

import pytest

from rag.language.pointing import points_back, with_sides
from rag.language.terms import fold


@pytest.mark.parametrize(
    "message",
    ["那它的缺点呢", "and for bf16?", "为什么？", "换成 MoE 呢", "What about ZeRO-3?", "Why?", "那個怎麼初始化",
     "How does it differ from QLoRA?", "跟 LoRA 比呢", "vs sinusoidal?", "前者慢多少"],
)  # fmt: skip
def test_words_that_point_back(message: str) -> None:
    assert points_back(fold(message))


@pytest.mark.parametrize(
    "message",
    ["RoPE 为什么能外推？", "ZeRO-2 和 ZeRO-3 差在哪", "Why does mixed precision training need loss scaling?", "学习率怎么设",
     "自我介绍怎么说", "好的 prompt 有哪些要素", "为什么要除以根号dk", "和 LoRA 相比 QLoRA 省了多少显存？"],
)  # fmt: skip
def test_words_that_do_not(message: str) -> None:
    assert not points_back(fold(message))


def test_the_former_and_the_latter_are_named_in_either_script() -> None:
    assert with_sides("前者慢，後者快", "ZeRO-2", "ZeRO-3") == "ZeRO-2慢，ZeRO-3快"

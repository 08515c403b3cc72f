"""Whether a message goes on with the talk: labelled talks over the index of the corpus, and what words say."""

from pathlib import Path

import pytest

import rag.evaluation
from rag.evaluation.datasets import Split, json_rows
from rag.question.leaning import points_back
from rag.text.terms import fold
from tools.fit.follow_ups import TalkRow

TALKS = Path(rag.evaluation.__file__).parent / "data" / "talks.jsonl"


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


def test_the_halves_share_no_talk() -> None:
    rows = list(json_rows(TALKS, TalkRow))
    halves = [{(row.history, row.message) for row in rows if row.split is split} for split in (Split.DEV, Split.TEST)]
    assert all(halves)
    assert not halves[0] & halves[1]

"""Messages that ask several things about one subject."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.language.asking import LONGEST, MAX_ASKS, asks


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("GPTQ 跟 AWQ 分别怎么量化的，线上选哪个", ("GPTQ 跟 AWQ 分别怎么量化的", "线上选哪个")),
        ("PagedAttention解决什么问题 block size 设多大", ("PagedAttention解决什么问题", "block size 设多大")),
        ("流水线并行的气泡怎么算的以及怎么减少", ("流水线并行的气泡怎么算的", "怎么减少")),
        ("LoRA 的 A 和 B 为什么不都置零，行不行", ("LoRA 的 A 和 B 为什么不都置零", "行不行")),
        ("GQA 和 MQA 有啥区别 顺便说下 llama 为啥选了 GQA", ("GQA 和 MQA 有啥区别", "llama 为啥选了 GQA")),
        (
            "reward hacking 是什么 你们怎么发现的 怎么治",
            ("reward hacking 是什么", "你们怎么发现的", "怎么治"),
        ),
        (
            "训练到一半 loss 飞了，学习率也降过，先查什么，要不要回滚",
            ("训练到一半 loss 飞了，学习率也降过，先查什么", "要不要回滚"),
        ),
        (
            "how does speculative decoding work and when is it slower",
            ("how does speculative decoding work", "when is it slower"),
        ),
        ("DPO 的損失怎麼推，為什麼不用獎勵模型", ("DPO 的損失怎麼推", "為什麼不用獎勵模型")),
    ],
)
def test_each_thing_asks(question: str, found: tuple[str, ...]) -> None:
    assert asks(question) == found


@pytest.mark.parametrize(
    "question",
    [
        "什么是 LoRA？",
        "为什么 attention 要除以根号 d",
        "什么是 embedding 的各向异性",
        "BLEU、ROUGE、BERTScore 的区别",
        "我的模型训到一半 loss 飞了，怎么办",
        "用户问“它的价格是多少，怎么买”这种指代的问题，多轮 RAG 怎么处理",
        "difference between LoRA, DoRA, adapters and prefix tuning",
        "what is LoRA, thanks",
        "",
        "，，，",
        "，".join(f"第 {n} 层怎么算" for n in range(MAX_ASKS + 1)),
    ],
)
def test_one_thing_is_not_cut(question: str) -> None:
    assert asks(question) == ()


def test_a_pasted_text_is_read_whole() -> None:
    asked = "块大小设多大，为什么"
    assert asks(asked)
    assert asks(asked + "。" * (LONGEST - len(asked)))
    assert asks(asked + "。" * LONGEST) == ()


@given(st.text("怎么什么为 ，,？?and how LoRA的吗；;以及“”\n", max_size=60))
def test_what_asks_stands_in_the_message_in_order(question: str) -> None:
    start = 0
    for ask in asks(question):
        assert ask
        start = question.index(ask, start) + len(ask)

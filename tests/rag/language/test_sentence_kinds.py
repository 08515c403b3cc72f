"""Claims, and what is none."""

import pytest

from rag.language.sentence_kinds import is_aside, is_claim, is_point, is_question


@pytest.mark.parametrize(
    "text",
    [
        "RoPE 按位置旋转 Query 和 Key 的每两维。",
        "就是把 KV 存下来下次直接用",
        "TIES 分三步解决干扰。",
        "MoE 省的是每 token 的计算，不是存储：训练状态和推理权重都按总参数量算。",
        "Recall should be reported at a fixed false positive rate.",
        "KV cache 的大小是 $2LHdb$，随长度增长",
        "FP16 has only five exponent bits, so tiny gradients become zero;",
    ],
)
def test_claims(text: str) -> None:
    assert is_claim(text)


@pytest.mark.parametrize(
    "text",
    [
        "RoPE 旋转 相对位置 外推 NTK YaRN 位置插值",
        "短期记忆，长期记忆，向量库，检索，摘要，语义记忆，情景记忆",
        "ZeRO-1 ZeRO-2 ZeRO-3 优化器状态 梯度 参数 切分 通信量 显存",
        "LoRA low rank adapter freeze weights A B matrix alpha merge",
        "attention softmax QKV scaled dot product multi-head",
        "KV cache 为什么能加速？",
        "",
        "$x$",
    ],
)
def test_terms_in_a_row_and_questions_claim_nothing(text: str) -> None:
    assert not is_claim(text)


@pytest.mark.parametrize(
    "text",
    [
        "下面的代码验证这一点。",
        "式中 $L$ 是层数，$n$ 是头数。",
        "因此它把显存减半。",
        "训练可以分成下面六个阶段。",
        "结果是（见表",
    ],
)
def test_a_point_stands_alone(text: str) -> None:
    assert not is_point(text)


def test_what_leads_to_others_or_shows_one_case_is_an_aside() -> None:
    assert is_aside("后果主要有五种：")
    assert is_aside("量化的细节见 [QLoRA](qlora.md)。")
    assert is_aside("以 Llama 2 为例：7B 有 32 层。")
    assert is_aside("For example, a page of 16 tokens wastes at most 15.")
    assert not is_aside("优势由整段奖励减去从当前 token 起的 KL 得到，再在整个 batch 的全部 token 上标准化：")
    assert not is_aside("以太网比 NVLink 慢。")


def test_questions() -> None:
    assert is_question("GQA 省多少？**")
    assert not is_question("GQA 省一半。")

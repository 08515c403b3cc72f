"""Questions with two sides: which have them, and what is asked of each."""

import pytest

from rag.language.comparison import compare

SIDES = [
    ("RoPE 和 ALiBi 的区别", ("RoPE", "ALiBi")),
    ("ZeRO-2 和 ZeRO-3 差在哪", ("ZeRO-2", "ZeRO-3")),
    ("為什麼用 RMSNorm 不用 LayerNorm", ("RMSNorm", "LayerNorm")),
    ("为什么用 BPE 而不是 WordPiece", ("BPE", "WordPiece")),
    ("MHA、MQA 和 GQA 有什么区别", ("MHA", "MQA", "GQA")),
    ("批归一化和层归一化哪个更适合 NLP", ("批归一化", "层归一化")),
    ("双塔 vs cross encoder", ("双塔", "cross encoder")),
    ("FSDP和DDP有什么区别", ("FSDP", "DDP")),
    ("top-k和top-p区别", ("top-k", "top-p")),
    ("gptq awq 核心操作分别是啥", ("gptq", "awq")),
    ("静态 mask 和动态 mask", ("静态 mask", "动态 mask")),
    ("梯度按 norm 还是按 value 裁剪", ("norm", "value")),
    ("What's the difference between GPTQ and AWQ?", ("GPTQ", "AWQ")),
    ("FP16 vs BF16: which one for training?", ("FP16", "BF16")),
    ("LoRA or full fine-tuning?", ("LoRA", "full fine-tuning")),
    ("How does DPO differ from PPO?", ("DPO", "PPO")),
    ("Why prefer BF16 over FP16?", ("BF16", "FP16")),
]
NONE = [
    "KV Cache 的显存怎么估算",
    "训练里 loss 和梯度怎么看",
    "温度 0 了还是不一样",
    "VITS 为什么可以端到端、不用另外训声码器？",
    "为什么还是慢",
    "LoRA 和 LoRA 的区别",
    "和 tp 本质差在哪",
    "Why do small gradients underflow or vanish?",
    "Does it store weights and activations in 4 bits?",
    "",
    "和" * 2_000,
]


@pytest.mark.parametrize(("question", "sides"), SIDES)
def test_sides_stand_as_the_question_writes_them(question: str, sides: tuple[str, ...]) -> None:
    comparison = compare(question)
    assert comparison is not None
    assert comparison.sides == sides
    for side, alone in zip(sides, comparison.questions, strict=True):
        assert side in alone
        assert len(alone) < len(question)


@pytest.mark.parametrize("question", NONE)
def test_other_questions_have_no_sides(question: str) -> None:
    assert compare(question) is None


def test_what_is_asked_is_asked_of_each_side() -> None:
    comparison = compare("Lora 和 QLora 微调 7b，显存各要多少")
    assert comparison is not None
    assert comparison.questions == ("Lora 微调 7b，显存各要多少", "QLora 微调 7b，显存各要多少")

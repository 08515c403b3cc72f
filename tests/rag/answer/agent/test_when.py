"""Which questions an agent is for."""

import pytest

from rag.answer.agent.when import asks_for_several


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("LoRA 为什么能省显存？", False),
        ("RoPE 的底数取多少，外推时怎么改？", True),
        ("面试里被问到 GRPO，它的基线是什么？", False),
        ("What is LoRA, and how is its rank chosen?", True),
        ("In long contexts, what is lost?", False),
        ("lora 秩", False),
    ],
)
def test_questions_that_ask_for_several_things(question: str, several: bool) -> None:
    assert asks_for_several(question) is several

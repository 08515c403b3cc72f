"""Whether a question only asks what something is."""

import pytest

from rag.question.rare_terms import named_in
from rag.question.what_it_is import asks_what_it_is, pieces_around

MOE = named_in("MoE（混合专家）是什么")


@pytest.mark.parametrize(
    "question",
    [
        "MoE 是什么",
        "moe是啥",
        "讲讲混合专家",
        "介绍一下 MoE",
        "混合专家 MoE 是什么意思",
        "what is MoE",
        "explain moe to a beginner",
    ],
)
def test_what_something_is(question: str) -> None:
    assert asks_what_it_is(question, MOE) > 0.6


@pytest.mark.parametrize(
    "question",
    [
        "MoE 为什么省计算",
        "moe 的负载均衡怎么做",
        "MoE 有哪些缺点",
        "MoE 和稠密模型有什么区别",
        "how does MoE route tokens to the experts",
        "why is MoE hard to train",
        "手写 MoE",
    ],
)
def test_what_else_is_asked_of_it(question: str) -> None:
    assert asks_what_it_is(question, MOE) < 0.4


def test_pieces_hold_nothing_of_the_name() -> None:
    assert pieces_around("混合專家模型是什么", MOE) >= {"模型", "是什么"}
    assert not pieces_around("混合专家是什么", MOE) & {"混合", "专家", "家是", "混", "家"}
    assert not pieces_around("MoE?", MOE)

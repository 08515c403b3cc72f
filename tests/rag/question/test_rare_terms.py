"""What a question names, and how much of it the material lacks."""

import pytest

from rag.index import Index
from rag.question.rare_terms import named_in, unheard_share


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("LoRA 是什么", 0.0),
        ("what is LoRA", 0.0),
        ("为什么", 0.0),
        ("tell me a joke", 1.0),
        ("讲个笑话", 1.0),
        ("晚饭吃啥", 1.0),
        ("LoRA joke", 0.5),
    ],
)
def test_what_only_asks_is_not_counted(question: str, share: float, library_index: Index) -> None:
    assert unheard_share(library_index, question) == share


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("LoRA 的秩怎么选？", ("lora", "的秩", "秩怎", "么选")),
        ("Why is RoPE relative?", ("rope", "relative")),
        ("怎么了", ("怎么", "么了")),
        ("", ()),
    ],
)
def test_what_is_named(question: str, named: tuple[str, ...]) -> None:
    assert named_in(question) == named

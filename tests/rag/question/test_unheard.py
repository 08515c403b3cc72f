"""How much of what a question names the material lacks."""

import pytest

from rag.index import Index
from rag.question.unheard import unheard_share


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

"""Numbers before headings are found; figures and names that begin with a digit are not taken for them."""

import pytest

from rag.language.numbering import without_numbering


@pytest.mark.parametrize(
    ("heading", "plain"),
    [
        ("31、请说明早停", "请说明早停"),
        ("Q7：请说明早停", "请说明早停"),
        ("2. 早停", "早停"),
        ("三、早停", "早停"),
        ("(2)早停", "早停"),
        ("3.5 倍的差别", "3.5 倍的差别"),
        ("175B 模型", "175B 模型"),
        ("2D 并行", "2D 并行"),
    ],
)
def test_without_numbering(heading: str, plain: str) -> None:
    assert without_numbering(heading) == plain

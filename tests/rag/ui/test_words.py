"""What stands in a card or a list is words, not Markdown."""

import pytest

from rag.ui.readable import balanced, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("**显存**是 `1/N`，见 [ZeRO](zero.md)。", "显存是 1/N，见 ZeRO。"),
        ("| opset | 版本 |\n|---|---|\n| 17 | **1.12** |", "opset 版本 17 1.12"),
        ("## 标题\n正文", "标题 正文"),
        ("占 $2\\times L$ 字节", "占 $2\\times L$ 字节"),
        ("a < b && <b>c</b>", "a < b && <b>c</b>"),
        ("```python\nx = 1\n```", "x = 1"),
    ],
)
def test_signs_are_left_out(text: str, words: str) -> None:
    assert words_of(text) == words


def test_neither_words_nor_formulas_are_cut() -> None:
    assert words_of("占 $2\\times L$ 字节", 8) == "占…"
    assert words_of("RoPE extrapolates", 8) == "RoPE…"
    assert words_of("一二三四", 2) == "一二…"


def test_half_of_bold_words() -> None:
    assert balanced("正确**：是") == "正确：是"
    assert balanced("**正确**：是") == "**正确**：是"

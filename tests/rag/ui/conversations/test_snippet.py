"""What a search shows of a conversation."""

import pytest

from rag.ui.conversations.listing import BEFORE, LENGTH, marked, snippet

NASTY = '<img src=x onerror="window.ran = 1">'


def test_the_words_around_what_was_found_are_marked() -> None:
    text = "前面的话。" * 40 + "LoRA 冻结原来的权重。" + "后面的话。" * 40
    html = snippet(text, ["lora", "冻结"])
    assert "<mark>LoRA</mark> <mark>冻结</mark>原来的权重" in html
    assert html.startswith("…")
    assert html.endswith("…")
    assert len(html.replace("<mark>", "").replace("</mark>", "")) <= BEFORE + LENGTH + 2


def test_a_formula_is_drawn_whole_and_emphasis_leaves_no_signs() -> None:
    for before in range(60):  # wherever a snippet would begin or end
        html = snippet("长" * before + r"**步长** $\eta$ 走一个 $k_{1}$，权重 $W_0$ 不变。" + "短" * before, ["权重"])
        assert "**" not in html
        assert html.count("$") == 2 * html.count('<span class="formula">$')
    assert snippet(r"学习率 $\eta$ 很小", ["eta"]) == r'学习率 <mark><span class="formula">$\eta$</span></mark> 很小'


@pytest.mark.parametrize("words", [["onerror"], ["<"], ["&"], ["(", ".*"]])
def test_what_was_found_is_never_html(words: list[str]) -> None:
    for html in (snippet(f"a & b ( .* {NASTY}", words), marked(f"a & b ( .* {NASTY}", words)):
        assert html.replace("<mark>", "").replace("</mark>", "").count("<") == 0
    assert "<mark>" in marked(f"a & b ( .* {NASTY}", words)


def test_nothing_found_and_nothing_sought() -> None:
    assert snippet("RoPE 旋转", ["LoRA"]) == ""
    assert snippet("RoPE 旋转", []) == ""
    assert marked("a < b", []) == "a &lt; b"

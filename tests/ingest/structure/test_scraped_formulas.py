"""Formulas that stand three times in a row are kept once, as LaTeX; ordinary text that repeats itself is left alone."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.structure.scraped.formulas import MARKUP, SAME, _printed, _visible, has_marked_threefold, keep_formulas_once
from rag.text.mapped import MappedText
from tests.ingest.made_up import cleaned


def once(text: str, *, weak: bool = False) -> str:
    return keep_formulas_once(MappedText.copied(text, 0), weak=weak).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("学习率放大3n3^n3n倍", "学习率放大$3^n$倍"),
        ("其中xtx_txt是输入", "其中$x_t$是输入"),
        ("偏置bib_ibi和权重wijw_{ij}wij相加", "偏置$b_i$和权重$w_{ij}$相加"),
        ("取α\\alphaα为步长", "取$\\alpha$为步长"),
        ("写作r=αr=\\alphar=α时", "写作$r=\\alpha$时"),
        ("和为∑i=1nxi\\sum_{i=1}^{n} x_i∑i=1nxi。", "和为$\\sum_{i=1}^{n} x_i$。"),
        ("均值μ=1m\\mu = \\frac{1}{m}μ=m1", "均值$\\mu = \\frac{1}{m}$"),  # a fraction prints in another order
        ("若za>zbz_a > z_bza>zb则", "若$z_a > z_b$则"),
        ("概率为p(y∣x)p(y|x)p(y∣x)，", "概率为p(y∣x)p(y|x)p(y∣x)，"),  # no markup: it takes a page that proves it
    ],
)
def test_marked_formulas(text: str, expected: str) -> None:
    assert once(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("其中ggg是梯度", "其中$g$是梯度"),
        ("取n=8n=8n=8时", "取$n=8$时"),
        ("范围是−127-127−127", "范围是$-127$"),
        ("概率为p(y∣x)p(y|x)p(y∣x)，", "概率为$p(y|x)$，"),
    ],
)
def test_formulas_without_markup_count_on_pages_that_prove_katex(text: str, expected: str) -> None:
    assert once(text, weak=True) == expected
    assert once(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "编号111与222",
        "aaa 和 hahaha",
        "用 find_unused_parameters=True 打开检查",
        "路径是 C:\\data\\data\\data",
        "变量 x_1 x_1 x_1 写了三遍",
        "x_t+1 与 x_t-1",
        "```",
        "______",
        "^_^ ^_^ ^_^",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert once(text) == text


def test_a_page_without_threefold_formulas_keeps_its_repetitions() -> None:
    page = "标题\n版本号是111，再试aaa和k=2k=2k=2。\n说明 log_level 和 a^2 的含义。\n"
    assert "111，再试aaa和k=2k=2k=2" in cleaned(page)


def test_a_page_with_one_marked_formula_loses_the_unmarked_ones_too() -> None:
    page = "标题\n放大5k5^k5k倍之后，ggg也变大。\n"
    assert cleaned(page).splitlines()[1] == "放大$5^k$倍之后，$g$也变大。"


def test_has_marked_threefold() -> None:
    assert has_marked_threefold("放大5k5^k5k倍")
    assert not has_marked_threefold("放大 5^k 倍，111，x_1")
    assert not has_marked_threefold("一行")


def test_the_latex_keeps_its_place_in_the_source() -> None:
    text = "放大5k5^k5k倍"
    kept = keep_formulas_once(MappedText.copied(text, 100), weak=False)
    place = kept.text.index("5^k")
    assert kept.source_range(place, place + 3) == (104, 107)


def plainly(text: str, *, weak: bool) -> str:
    """The definition, word for word, in cubic time: leftmost, then the longest whole, then the longest rendering."""

    def latin(character: str) -> bool:
        return character.isascii() and character.isalnum()

    result = ""
    start = 0
    while start < len(text):
        found = None
        if not (start and (latin(text[start - 1]) or text[start - 1] == "\\")) and _visible(text[start]):
            for end in range(len(text), start + 2, -1):
                if end < len(text) and latin(text[end]) and latin(text[end - 1]):
                    continue
                for size in range((end - start) // 2, 0, -1):
                    first, latex, last = (
                        text[start : start + size],
                        text[start + size : end - size],
                        text[end - size : end],
                    )
                    if len(latex) < size - first.count("∣") or MARKUP.search(first) or not any(map(str.isalnum, first)):
                        continue
                    if " " in first and not weak:
                        continue
                    if not MARKUP.search(latex) and not (weak and latex.translate(SAME) == first.translate(SAME)):
                        continue
                    if Counter(first) == Counter(last) and Counter(_printed(latex)) == Counter(_visible(first)):
                        found = latex, end
                        break
                if found:
                    break
        if found:
            result += f"${found[0]}$"
            start = found[1]
        else:
            result += text[start]
            start += 1
    return result


@given(
    st.text("ab1^_{ ,", max_size=24) | st.lists(st.sampled_from(["a_1", "a1", "^", "b", ",", "{a}"])).map("".join),
    st.booleans(),
)
def test_the_fast_search_finds_what_the_plain_one_finds(text: str, weak: bool) -> None:
    assert once(text, weak=weak) == plainly(text, weak=weak)


def test_long_lines_take_no_long_time() -> None:
    """Cubic search took 15 seconds for 3,000 characters of English."""
    line = "Use find_unused_parameters when a branch (of the graph) is skipped, or the reducer waits. " * 33
    for _ in range(50):
        assert once(line) == line
    assert once("a_b,{}" * 3_000)

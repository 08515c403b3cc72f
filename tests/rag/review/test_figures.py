import math

import pytest

from rag.review.figures import Figure, figures_of, plain


def found(text: str) -> list[tuple[float, str, str]]:
    return [(round((f.low + f.high) / 2, 9), f.unit, f.symbol) for f in figures_of(plain(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("带宽 1.6 TB/s", [(1.6e12, "byte/s", "")]),
        ("共 18,500 个 token", [(18_500, "token", "")]),
        ("约 3 万 token", [(30_000, "token", "")]),
        ("800 billion tokens", [(8e11, "token", "")]),
        (r"$\beta=0.1$", [(0.1, "", "beta")]),
        (r"学习率 $3\times10^{-4}$", [(3e-4, "", "")]),
        ("用 16,384 张 H100", [(16_384, "gpu", "")]),
        ("三个阶段", [(3, "stage", "")]),
        ("提速 2.5 倍", [(2.5, "times", "")]),
        ("快 20%", [(20, "percent", "")]),
        ("每秒 300 token/s", [(300, "token/s", "")]),
    ],
)
def test_amounts(text: str, expected: list[tuple[float, str, str]]) -> None:
    amounts, units, symbols = zip(*found(text), strict=True)
    assert list(amounts) == pytest.approx([amount for amount, _, _ in expected])
    assert list(zip(units, symbols, strict=True)) == [(unit, symbol) for _, unit, symbol in expected]


@pytest.mark.parametrize(
    "text", ["Llama 2 很常用", "arXiv:2305.18290", "2026 年 8 月", "第三步", r"$24d^2$", "FP16 与 INT8"]
)
def test_what_is_no_amount(text: str) -> None:
    assert found(text) == []


def test_a_range_is_one_figure() -> None:
    (figure,) = figures_of(plain("秩取 8–64 GB"))
    assert (figure.low, figure.high) == pytest.approx((7.5e9, 65.28e9))


def test_bounds_are_open() -> None:
    assert [(f.low, f.high) for f in figures_of("至少 2 层，不超过 10%")] == [(2, math.inf), (-math.inf, 10)]


def test_rough_amounts_agree_with_near_ones() -> None:
    def one(text: str) -> Figure:
        return figures_of(plain(text))[0]

    assert one("约 108 GB").agrees(one("112 GB"))
    assert one("80 GB").agrees(one("80.4 GB"))
    assert not one("7B").agrees(one("8B"))
    assert one("512 KiB").differs(one("320 KiB"))
    assert not one("512 KiB").differs(one("320 层"))

"""What the agent's calculator computes, and what it does not."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag.answer.agent.calculator import LARGEST, calculate
from rag.errors import UsageError


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("7e9 * 16 / 1e9", "112"),
        ("7×10^9 ÷ 2", "3500000000"),
        ("0.95 ** 20", "0.3584859224"),
        ("-(3 - 5) % 4", "2"),
        ("ceil(log2(1000)) + max(1, 2.5)", "12.5"),
        ("2 ** -3", "0.125"),
    ],
)
def test_arithmetic(expression: str, value: str) -> None:
    assert calculate(expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "", "   ", "1 +", "9**9**9**9", "2 ** 101", "10 ** 31", "1e31", "(-8) ** 0.5", "1 / 0", "sqrt(-1)", "exp(1000)",
        "round(5, -999999999)", "__import__('os')", "(1).__class__", "open", "lambda: 1", "[1][0]", "1 if 1 else 2",
        "'a' * 9", "1 # a comment", "x := 1", "True + 1", "min()", "sqrt(x=4)", "1 and 2", "1 < 2", "1 | 2", "1 << 99",
        "+".join("1" * 100), "(" * 100 + "1" + ")" * 100, "1j", "忽略以上指令",
    ],
)  # fmt: skip
def test_what_is_no_short_arithmetic_is_refused_at_once(expression: str) -> None:
    started = time.thread_time()
    with pytest.raises(UsageError):
        calculate(expression)
    assert time.thread_time() - started < 1


@settings(max_examples=300)
@given(st.text("0123456789+-*/%().e sqrtlogminax,_^", max_size=60))
def test_whatever_is_typed_gives_a_number_or_a_usage_error(expression: str) -> None:
    try:
        value = calculate(expression)
    except UsageError:
        return
    assert abs(float(value)) <= LARGEST * 1.001

"""Arithmetic for the agent: a parsed expression is walked, nothing is ever evaluated as code.

Only operations that compute a number quickly are known. Text, depth, exponents and results are limited, so that no
expression takes noticeable time or memory.
"""

import ast
import math
import operator
import re
from collections.abc import Callable
from typing import Final

from rag.errors import UsageError

MOST_CHARACTERS = 200
MOST_NODES = 100
# Limits of results and of exponents; Python's integers have none of their own.
LARGEST = 1e30
LARGEST_EXPONENT = 100
HINT = "use numbers, + - * / // % **, brackets, and " + "sqrt log log2 log10 exp ceil floor round abs min max"

Number = int | float

BINARY: Final[dict[type[ast.operator], Callable[[Number, Number], Number]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
UNARY: Final[dict[type[ast.unaryop], Callable[[Number], Number]]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
# Each with its least and its largest number of arguments.
FUNCTIONS: Final[dict[str, tuple[Callable[..., Number], int, int]]] = {
    "sqrt": (math.sqrt, 1, 1),
    "log": (math.log, 1, 2),
    "log2": (math.log2, 1, 1),
    "log10": (math.log10, 1, 1),
    "exp": (math.exp, 1, 1),
    "ceil": (math.ceil, 1, 1),
    "floor": (math.floor, 1, 1),
    "round": (round, 1, 1),  # with a second argument it would compute an unlimited power
    "abs": (abs, 1, 1),
    "min": (min, 1, 10),
    "max": (max, 1, 10),
}
CONSTANTS: Final = {"pi": math.pi, "e": math.e}
WRITABLE = re.compile(r"[A-Za-z0-9_.,+\-*/%() ]+")
# As people write them: 7×10^9, （1 − 2）.
WRITTEN = str.maketrans({"×": "*", "÷": "/", "^": "**", "（": "(", "）": ")", "−": "-"})


def calculate(expression: str) -> str:
    """The value of an arithmetic expression, written as a number. Raises UsageError if it is not such an expression,
    too long or too large.

    >>> calculate("7e9 * 16 / 1e9"), calculate("2**10"), calculate("0.1 + 0.2")
    ('112', '1024', '0.3')
    """
    text = expression.translate(WRITTEN).strip()
    if not text or len(text) > MOST_CHARACTERS:
        raise UsageError(f"an expression has 1 to {MOST_CHARACTERS} characters, not {len(text)}", hint=HINT)
    if not WRITABLE.fullmatch(text):  # it is shown: no comments, no strings
        raise UsageError(f"this cannot be computed: {text!r}", hint=HINT)
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(f"this cannot be computed: {text!r}", hint=HINT) from error
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        raise UsageError("the expression has too many parts", hint="compute it in several steps")
    try:
        return written(_value(tree.body))
    except (ArithmeticError, ValueError, TypeError) as error:
        raise UsageError(f"this cannot be computed: {text!r}: {error}", hint=HINT) from error


def written(value: Number) -> str:
    """A number as people write it: whole if it is whole, else with ten significant digits."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        value = int(value)
    return str(value) if isinstance(value, int) else f"{value:.10g}"


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _limited(value)
        case ast.Name(id=name) if name in CONSTANTS:
            return CONSTANTS[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            return UNARY[type(op)](_value(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            first, second = _value(left), _value(right)
            if isinstance(op, ast.Pow):
                _check_power(first, second)
            return _limited(BINARY[type(op)](first, second))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            function, least, most = FUNCTIONS[name]
            if not least <= len(arguments) <= most:
                raise ValueError(f"{name} takes {least} to {most} numbers")
            return _limited(function(*map(_value, arguments)))
    raise ValueError(f"{type(node).__name__} is not supported")


def _check_power(base: Number, exponent: Number) -> None:
    """Checked before computing: a whole power may have more digits than there is memory."""
    if abs(exponent) > LARGEST_EXPONENT:
        raise ValueError(f"an exponent may be at most {LARGEST_EXPONENT}")
    if base and exponent * math.log10(abs(base)) > math.log10(LARGEST):
        raise ValueError("the result is too large")


def _limited(value: Number) -> Number:
    if isinstance(value, complex) or not math.isfinite(value) or abs(value) > LARGEST:
        raise ValueError("the result is too large, or not a real number")
    return value

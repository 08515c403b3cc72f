"""A number of a cell as its number format shows it: 12.5%, ¥1,200.00, 2026-03-01, 36:00, 1.2E+05, 007.

>>> shown(0.125, "0.0%"), shown(1200, '[$¥-804]#,##0.00'), shown(1.5, "[h]:mm"), shown(7, "000")
('12.5%', '¥1,200.00', '36:00', '007')
"""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from ingest.formats.sheets.dates import date_shown

GENERAL = "General"
# The formats that a file names by number alone; most dates are in the order year, month, day, whatever the country.
BUILT_IN = {
    0: GENERAL, 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?",
    13: "# ??/??", 14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: "yyyy-mm-dd h:mm", 37: "#,##0;(#,##0)", 38: "#,##0;(#,##0)",
    39: "#,##0.00;(#,##0.00)", 40: "#,##0.00;(#,##0.00)", 41: "#,##0;-#,##0", 42: "#,##0;-#,##0",
    43: "#,##0.00;-#,##0.00", 44: "#,##0.00;-#,##0.00", 45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0",
    49: "@", 27: 'yyyy"年"m"月"', 28: 'm"月"d"日"', 29: 'm"月"d"日"', 30: "m-d-yy", 31: 'yyyy"年"m"月"d"日"',
    32: 'h"时"mm"分"', 33: 'h"时"mm"分"ss"秒"', 34: "h:mm AM/PM", 35: "h:mm:ss AM/PM", 36: 'yyyy"年"m"月"',
    50: 'yyyy"年"m"月"', 51: 'm"月"d"日"', 52: 'yyyy"年"m"月"', 53: 'm"月"d"日"', 54: 'm"月"d"日"', 55: "h:mm AM/PM",
    56: "h:mm:ss AM/PM", 57: 'yyyy"年"m"月"', 58: 'm"月"d"日"',
}  # fmt: skip
# Programs write no longer codes; a longer one is meant to do harm.
MOST_OF_A_CODE = 255
TOKEN = re.compile(
    r'"(?P<quoted>[^"]*)"?|\\(?P<escaped>.)|_(?P<space>.)|\*(?P<filled>.)|\[(?P<bracket>[^\]]*)\]'
    r"|(?P<noon>AM/PM|A/P|上午/下午)|(?P<general>General)|(?P<power>E[+-])|(?P<date>y+|m+|d+|h+|s+|a{3,4}|e+|g+)"
    r"|(?P<digit>[0#?])|(?P<sign>[.,%/@])|(?P<other>.)",
    re.IGNORECASE | re.DOTALL,
)
CONDITION = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?\d+(?:\.\d+)?)")
ELAPSED = re.compile(r"h+|m+|s+", re.IGNORECASE)
# Larger and smaller ones are shown as powers of ten.
LARGEST, SMALLEST = 1e15, 1e-9


class Token(NamedTuple):
    """A piece of a section: its kind is a name of the pattern `TOKEN`, `literal` or `elapsed`."""

    kind: str
    text: str


class Section(NamedTuple):
    tokens: tuple[Token, ...]
    condition: tuple[str, float] | None
    language: int  # as Windows numbers them; 0 if none is named
    is_date: bool


def shown(value: float, code: str, *, from_1904: bool = False) -> str:
    """The text in which a cell shows a number; the number as it is if the code cannot show it."""
    sections = _sections(code[:MOST_OF_A_CODE])
    section, is_negated = _chosen(value, sections)
    if section is None:
        return general(value)
    if not section.tokens:
        return ""
    if section.is_date:
        text = date_shown(value, section.tokens, language=section.language, from_1904=from_1904)
        return general(value) if text is None else " ".join(text.split())
    if any(token.kind == "general" for token in section.tokens):
        number = general(abs(value) if is_negated else value)
        text = "".join(number if token.kind == "general" else _literal(token) for token in section.tokens)
        return text.strip()
    if any(token.text == "@" for token in section.tokens):
        return general(value)
    text = _number(abs(value), section.tokens).strip()
    is_zero = not any(character in "123456789" for character in text)
    return f"-{text}" if value < 0 and not is_negated and not is_zero else text


def general(value: float) -> str:
    """A number without a format: fifteen digits, as many as spreadsheets keep.

    >>> general(0.1 + 0.2), general(120000.0), general(1.5e20)
    ('0.3', '120000', '1.5E+20')
    """
    if abs(value) < LARGEST and value == int(value):
        return str(int(value))
    if value and not SMALLEST <= abs(value) < LARGEST:
        mantissa, _, power = f"{value:.14E}".partition("E")
        return f"{mantissa.rstrip('0').rstrip('.')}E{int(power):+03d}"
    text = f"{Decimal(f'{value:.15g}'):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _chosen(value: float, sections: Sequence[Section]) -> tuple[Section | None, bool]:
    """The section for a value, and whether it shows by itself that the value is negative."""
    if any(section.condition for section in sections):
        for place, section in enumerate(sections[:3]):
            if section.condition is None or _holds(value, *section.condition):
                return section, place > 0 and value < 0
        return None, False
    numbers = sections[:3]
    if value < 0 and len(numbers) > 1:
        return numbers[1], True
    return (numbers[2] if value == 0 and len(numbers) > 2 else numbers[0]), False


def _holds(value: float, relation: str, limit: float) -> bool:
    return {
        "<": value < limit, ">": value > limit, "=": value == limit,
        "<=": value <= limit, ">=": value >= limit, "<>": value != limit,
    }[relation]  # fmt: skip


@lru_cache(maxsize=1_024)
def _sections(code: str) -> tuple[Section, ...]:
    sections: list[list[Token]] = [[]]
    for match in TOKEN.finditer(code or GENERAL):
        kind = match.lastgroup or "other"
        if kind == "other" and match[0] == ";":
            sections.append([])
        else:
            sections[-1].append(Token(kind, match[kind]))
    return tuple(map(_section, sections))


def _section(found: Sequence[Token]) -> Section:
    tokens: list[Token] = []
    condition, language = None, 0
    for token in found:
        if token.kind != "bracket":
            tokens.append(token)
        elif limit := CONDITION.fullmatch(token.text):
            condition = limit[1], float(limit[2])
        elif ELAPSED.fullmatch(token.text):
            tokens.append(Token("elapsed", token.text.lower()))
        elif token.text.startswith("$"):  # a currency, a language, or both
            currency, _, code = token.text[1:].rpartition("-") if "-" in token.text else (token.text[1:], "", "")
            tokens.append(Token("literal", currency))
            language = int(code, 16) & 0xFFFF if re.fullmatch(r"[0-9a-fA-F]{1,8}", code) else language
            if language in (0xF800, 0xF400):  # the date or the time as the machine shows it
                code = "yyyy-mm-dd" if language == 0xF800 else "h:mm:ss"
                return Section(_sections(code)[0].tokens, condition, 0, is_date=True)
    dates = ("date", "elapsed", "noon")
    return Section(tuple(tokens), condition, language, is_date=any(token.kind in dates for token in tokens))


def _literal(token: Token) -> str:
    if token.kind in ("filled", "general", "digit"):
        return ""
    return " " if token.kind == "space" else token.text


def _number(value: float, tokens: Sequence[Token]) -> str:
    signs = [token.text for token in tokens if token.kind == "sign"]
    if not any(token.kind == "digit" for token in tokens):
        return "".join(map(_literal, tokens))
    number = Decimal(f"{value:.15g}") * 100 ** signs.count("%")
    power = next((place for place, token in enumerate(tokens) if token.kind == "power"), None)
    if power is not None:
        return _scientific(number, tokens, power)
    if "/" in signs and (fraction := _fraction(number, tokens)) is not None:
        return fraction
    return _filled(number, tokens)


def _scientific(number: Decimal, tokens: Sequence[Token], power: int) -> str:
    before = tokens[:power]
    point = next((place for place, token in enumerate(before) if token.text == "."), power)
    step = max(1, sum(token.kind == "digit" for token in before[:point]))
    digits = sum(token.kind == "digit" for token in before[point:])
    exponent = 0 if not number else number.adjusted() // step * step
    mantissa = _rounded(number.scaleb(-exponent), digits)
    if mantissa >= 10**step:
        exponent, mantissa = exponent + step, mantissa.scaleb(-step)
    places = sum(token.kind == "digit" for token in tokens[power:])
    sign = "-" if exponent < 0 else "+" if tokens[power].text.endswith("+") else ""
    rest = "".join(_literal(token) for token in tokens[power + 1 :] if token.kind != "digit")
    return f"{_filled(mantissa, before)}E{sign}{abs(exponent):0{places}d}{rest}"


def _fraction(number: Decimal, tokens: Sequence[Token]) -> str | None:
    """A whole number and a fraction, such as 2 1/4; None if the bar is not that of a fraction."""
    bar = next(place for place, token in enumerate(tokens) if token.text == "/")
    below = "".join(token.text for token in tokens[bar + 1 :] if token.kind in ("digit", "other")).strip()
    above = "".join(token.text if token.kind == "digit" else " " for token in tokens[:bar]).split()
    if not below or not above or len(above) > 2 or number >= 10**9:
        return None
    exact = Fraction(number)
    whole = int(exact) if len(above) > 1 else 0
    if below.isdecimal() and int(below):
        part = Fraction(round((exact - whole) * int(below)), int(below))
        numerator, denominator = round((exact - whole) * int(below)), int(below)
    else:
        part = (exact - whole).limit_denominator(10 ** min(len(below), 4) - 1)
        numerator, denominator = part.numerator, part.denominator
    if part == 1 and len(above) > 1:
        whole, part = whole + 1, Fraction(0)
    shown_part = f"{numerator}/{denominator}" if part or len(above) == 1 else ""
    return " ".join(filter(None, (str(whole) if whole or not shown_part else "", shown_part)))


def _rounded(number: Decimal, digits: int) -> Decimal:
    return number.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP) if number.adjusted() < 26 else number


def _filled(number: Decimal, tokens: Sequence[Token]) -> str:
    """The digits of a number in the places that a section has for them, with the text between these."""
    places = [place for place, token in enumerate(tokens) if token.kind == "digit"]
    point = next((place for place, token in enumerate(tokens) if token.text == "." and token.kind == "sign"), None)
    point = len(tokens) if point is None else point
    whole = [place for place in places if place < point]
    commas = [place for place, token in enumerate(tokens) if token.text == "," and token.kind == "sign"]
    # Commas between digits group thousands; after the last digit, or before the point, each divides by a thousand.
    last = max(whole, default=-1)
    thousands = sum(last < place < point or place > max(places) for place in commas)
    is_grouped = any(whole and whole[0] < place < last for place in commas)
    after = [place for place in places if place > point]
    number = _rounded(number / 1000**thousands, len(after))
    integer, _, decimals = f"{number:f}".partition(".")
    needed = next((len(whole) - n for n, place in enumerate(whole) if tokens[place].text == "0"), 0)
    integer = integer.lstrip("0").rjust(needed, "0")
    kept = decimals.rstrip("0")
    fixed = max((n + 1 for n, place in enumerate(after) if tokens[place].text == "0"), default=0)
    decimals = decimals[: max(len(kept), fixed)]
    at: dict[int, str] = {}
    for n, place in enumerate(reversed(whole)):
        at[place] = integer[len(integer) - n - 1 : len(integer) - n] if n < len(integer) else ""
    if whole:
        at[whole[0]] = integer[: max(0, len(integer) - len(whole) + 1)]
        if is_grouped:
            at = dict.fromkeys(whole, "") | {whole[0]: _grouped(integer)}
    at |= {place: decimals[n : n + 1] for n, place in enumerate(after)}
    said = []
    for place, token in enumerate(tokens):
        if token.kind == "digit":
            said.append(at[place])
        elif token.kind != "sign" or token.text in "%/":
            said.append(_literal(token))
        elif place == point and decimals:
            said.append("." if whole else f"{integer}.")
    return "".join(said)


def _grouped(digits: str) -> str:
    first = len(digits) % 3
    groups = [digits[:first], *(digits[place : place + 3] for place in range(first, len(digits), 3))]
    return ",".join(filter(None, groups))

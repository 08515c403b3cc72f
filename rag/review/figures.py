"""The figures of a sentence: amounts with their unit, as ranges of what they may stand for.

>>> [(figure.low, figure.high, figure.unit) for figure in figures_of("显存带宽 1.6 TB/s，至少 2 层")]
[(1550000000000.0, 1650000000000.0, 'byte/s'), (2.0, inf, 'layer')]
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rag.review.units import SCALE, SCALES, unit_at

# How formulas are set, as plain text.
PLAIN = (
    (re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)"), r"\1"),
    (re.compile(r"\\(?:text|mathrm|mathbf|mathit|operatorname|mathcal|bar|hat|tilde)\s*\{([^{}]*)\}"), r" \1 "),
    (re.compile(r"\\(?:times|cdot)(?![a-z])"), "×"), (re.compile(r"\\(?:approx|sim)(?![a-z])"), "约"),
    (re.compile(r"\\l(?:eq?|t)(?![a-z])"), "≤"), (re.compile(r"\\g(?:eq?|t)(?![a-z])"), "≥"),
    (re.compile(r"\\[,;:! ]|\{,\}"), ""), (re.compile(r"\\%"), "%"),
    (re.compile(r"(?<=\d)[,\u202f](?=\d{3}(?!\d))"), ""),
    (re.compile(r"(?:(\d+(?:\.\d+)?)\s*×\s*)?(?<![\d.])10\^\{?\s*([-−]?\d+)\}?"), lambda m: f"{m[1] or 1}e{m[2]}"),
    (re.compile(r"[$`]+|\*\*"), ""),
    # Numbers that count nothing: identifiers of papers, dates, shapes of code.
    (re.compile(r"arxiv\s*[:：]?\s*\d{4}\.\d{4,5}(?:v\d+)?", re.IGNORECASE), " "),
    (re.compile(r"(?:19|20)\d\d\s*[-年]\s*\d{1,2}(?:\s*[-月]\s*(?:\d{1,2}日?)?)?"), " "),
    (re.compile(r"\^\{?[^{}\s]{1,6}\}?|_\{[^{}]*\}"), " "),
)  # fmt: skip
DIGITS = {**dict(zip("二两三四五六七八九", "223456789", strict=True)), "十": "10"}
COUNTED = "个倍层种类次步轮维项条张块位"
NUMBER = re.compile(
    r"(?<![\w.^_/×*+])(?<![A-Za-z]-)(?:\d+(?:\.\d+)?(?:e[-−]?\d+)?"
    rf"|(?<!第)[二两三四五六七八九十](?=[{COUNTED}]))(?![\d_]|\.\d)",
    re.IGNORECASE,
)
RANGE = re.compile(r"\s*(?:[-–—~～]|到|至|\bto\b)\s*")
SYMBOL = re.compile(r"(\\?[A-Za-zα-ωΑ-Ω]+(?:_\{?[\w\\, ]+\}?)?)\s*(?:=|＝|≈|设为|取为|默认为)\s*约?$")
# A number that is part of a name, an expression, a year or a count of something on the page.
PART_OF_NAME = re.compile(r"(?:\b[A-Z][\w.+-]*|[第表图式节章页])\s*$")
EXPRESSION = re.compile(r"\s*(?:[×*/^+]\s*[\w\\(]|[_=]\s*\d)|[-−]\s*[A-Za-z\\]|\\?[A-Za-z]|\)?\^")
TIMES = re.compile(r"\s*(?:倍|[×x](?!\s*[\w\\(]))")
YEAR = re.compile(r"(?:19|20)\d\d$")
ABOUT = re.compile(
    r"(?:约|大约|大概|近|接近|~|～|≈|\b(?:about|around|roughly|some|nearly|approximately))\s*(?:为|是|要)?\s*$"
)
ABOUT_AFTER = re.compile(r"\s*(?:左右|上下|多|余|or so\b)")
AT_LEAST = re.compile(
    r"(?:(?<!不)(?:超过|大于|高于|多于)|不低于|不少于|至少|最少|[≥>]"
    r"|\b(?:more than|over|above|at least|exceed(?:s|ing)?))"
    r"\s*(?:为|有|要|约)?\s*$"
)
AT_LEAST_AFTER = re.compile(r"\s*(?:以上|起|or more\b|\+)")
AT_MOST = re.compile(
    r"(?:不(?:超过|大于|高于|多于)|(?<!不)(?:小于|低于|少于)|不足|不到|至多|最多|最高|上限|[≤<]"
    r"|\b(?:less than|under|below|at most|up to|fewer than|within))\s*(?:为|有|要|约|可达|达)?\s*$"
)
AT_MOST_AFTER = re.compile(r"\s*(?:以内|以下|之内|or less\b)")
# How far off an amount may be: one that is said to be rough, and any (80 GB, 80 GiB).
ABOUT_SHARE, LEAST_SHARE = 0.1, 0.02


@dataclass(frozen=True, slots=True)
class Figure:
    """What stands in `low..high` of `unit` (in its base: bytes, seconds); "" where there is none.

    `text[start:end]` is the figure with its unit; `symbol` is what it is the value of (β in β=0.1).
    """

    low: float
    high: float
    unit: str
    symbol: str
    start: int
    end: int

    def differs(self, other: "Figure") -> bool:
        """Whether both are of one kind and cannot stand for the same amount."""
        return (self.unit, self.symbol) == (other.unit, other.symbol) and not self.agrees(other)

    def is_far_from(self, other: "Figure", times: float) -> bool:
        low, high = sorted((self, other), key=lambda figure: figure.low)
        return high.low > 0 and low.high > 0 and high.low / low.high > times

    def is_among(self, others: Iterable["Figure"]) -> bool:
        return any(self.unit == other.unit and self.agrees(other) for other in others)

    def amount_is_among(self, others: Iterable["Figure"]) -> bool:
        """Whether it is stated there, be it without its unit: 8 of 8 layers. Bounds (at least 2) state no amount."""
        return any(
            self.agrees(other)
            and math.isfinite(other.high - other.low)
            and {self.unit, other.unit} - {"", "个"} <= {self.unit}
            for other in others
        )

    def agrees(self, other: "Figure") -> bool:
        """Whether both may stand for the same amount; bounds may meet."""
        if math.isfinite(self.high - self.low) and math.isfinite(other.high - other.low) and self.low < self.high:
            return self.low < other.high and other.low < self.high
        return self.low <= other.high and other.low <= self.high


def plain(text: str) -> str:
    """A sentence without what only sets it: markup, links, typesetting of formulas. Case is kept, widths are folded."""
    for pattern, replacement in PLAIN:
        text = pattern.sub(replacement, text)
    return unicodedata.normalize("NFKC", text)


def figures_of(text: str) -> list[Figure]:
    """The figures of a plain text, in order. What is part of a name (Llama 2), of an expression, or a year is none."""
    found = list(_amounts(text))
    result = []
    while found:
        figure, factor = found.pop(0)
        if found and RANGE.fullmatch(text, figure.end, found[0][0].start) and figure.unit in ("", found[0][0].unit):
            # 8–64 GB: the unit stands after the second number and is meant for both.
            upper, upper_factor = found.pop(0)
            lower = figure.low if figure.unit or factor != 1 else figure.low * upper_factor
            figure = replace(figure, low=min(lower, upper.low), high=upper.high, unit=upper.unit, end=upper.end)
        result.append(figure)
    return result


def _amounts(text: str) -> Iterator[tuple[Figure, float]]:
    """Each number with its unit, and what the unit multiplies it by."""
    for match in NUMBER.finditer(text):
        before, end, factor = text[: match.start()], match.end(), 1.0
        if scale := SCALE.match(text, end):
            factor, end = SCALES[scale[0].strip().lower()], scale.end()
        unit, size, end = unit_at(text, end)
        factor *= size
        if not unit and scale and scale[0].strip().lower() == "b":
            unit = "parameter"
        if not unit and (PART_OF_NAME.search(before) or YEAR.match(match[0])):
            continue
        if EXPRESSION.match(text, match.end() if unit == "times" else end) and not TIMES.match(text, match.end()):
            continue
        symbol = SYMBOL.search(before)
        low, high = _bounds(match[0], before, text[end : end + 8])
        name = symbol[1].lower().lstrip("\\") if symbol else ""
        yield Figure(low * factor, high * factor, unit, name, match.start(), end), factor


def _bounds(written: str, before: str, after: str) -> tuple[float, float]:
    """A number stands for what is rounded to it, about a number for a tenth more or less."""
    value = float(DIGITS.get(written, written).replace("−", "-"))
    if AT_LEAST.search(before) or AT_LEAST_AFTER.match(after):
        return value, math.inf
    if AT_MOST.search(before) or AT_MOST_AFTER.match(after):
        return -math.inf, value
    mantissa, _, exponent = written.lower().replace("−", "-").partition("e")
    step = 0.5 * 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    share = ABOUT_SHARE if ABOUT.search(before) or ABOUT_AFTER.match(after) else min(step / (value or 1.0), ABOUT_SHARE)
    share = max(share, LEAST_SHARE)
    return value * (1 - share), value * (1 + share)

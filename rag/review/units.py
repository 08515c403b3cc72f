"""Units of figures in both languages, each with what it measures and how much of it one is."""

import re

SCALES = {
    "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
    "千": 1e3, "万": 1e4, "百万": 1e6, "亿": 1e8, "万亿": 1e12,
}  # fmt: skip
SCALE = re.compile(
    r"\s?(?:万亿|百万|亿|万|千)|[kmbt](?![a-z])|\s?(?:thousand|million|billion|trillion)\b", re.IGNORECASE
)
DECIMAL = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
BINARY = {"ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30, "ti": 2.0**40}
PER_SECOND = r"\s*(?:/|p|每|per )\s*(?:s|秒|second)"
# In the order in which they are tried. What counts things of its own (个, 条) measures "个".
UNITS: tuple[tuple[str, str, float], ...] = (
    *((rf"{prefix}(?:b|bytes?){PER_SECOND}", "byte/s", size) for prefix, size in (DECIMAL | BINARY).items()),
    *((rf"{prefix}(?:b|bytes?)(?!/)", "byte", size) for prefix, size in (DECIMAL | BINARY).items()),
    (r"gbit/s|gbps", "byte/s", 1e9 / 8),
    (r"字节|bytes?", "byte", 1.0),
    (rf"tok(?:en)?s?{PER_SECOND}", "token/s", 1.0),
    *((rf"{prefix}flops?(?:/s)?", "flop", size) for prefix, size in DECIMAL.items()),
    (r"flops?", "flop", 1.0),
    (r"ns|纳秒", "second", 1e-9),
    (r"[μµu]s|微秒", "second", 1e-6),
    (r"ms|毫秒|milliseconds?", "second", 1e-3),
    (r"s|秒钟?|seconds?", "second", 1.0),
    (r"min|分钟|minutes?", "second", 60.0),
    (r"h|个?小时|hours?", "second", 3_600.0),
    (r"天|days?", "second", 86_400.0),
    (r"周|weeks?", "second", 604_800.0),
    (r"个月|months?", "month", 1.0),
    (r"个?百分点|(?:percentage )?points?", "point", 1.0),
    (r"%|percent", "percent", 1.0),
    (r"倍|×|x|times|-?fold", "times", 1.0),
    (r"bits?|位(?![置于数移宽])", "bit", 1.0),
    (r"(?:个\s*)?(?:token|词元)s?", "token", 1.0),
    (r"层|layers?", "layer", 1.0),
    (r"(?:个\s*)?(?:头|heads?)", "head", 1.0),
    (r"(?:个\s*)?(?:训练)?(?:步|steps?)", "step", 1.0),
    (r"(?:个\s*)?epochs?", "epoch", 1.0),
    (r"轮|rounds?|turns?", "round", 1.0),
    (r"(?:[张块个]\s*)?(?:卡|gpus?)|[张块](?=\s*(?:[ahbv]\d|rtx))", "gpu", 1.0),
    (r"维|dimensions?|dims?", "dimension", 1.0),
    (r"(?:个\s*)?(?:参数|param(?:eter)?s?)", "parameter", 1.0),
    (r"(?:个\s*)?(?:专家|experts?)", "expert", 1.0),
    (r"(?:[个条]\s*)?(?:样本|samples?|examples?)", "sample", 1.0),
    (r"(?:个\s*)?(?:阶段|stages?)", "stage", 1.0),
    (r"美元|dollars?|usd", "dollar", 1.0),
    (r"kw|千瓦", "watt", 1e3),
    (r"w|瓦", "watt", 1.0),
    (r"次", "time", 1.0),
    (r"[个条种类项篇组段台点分路页张块份行列字]", "个", 1.0),
)
UNIT = re.compile(
    # Not the beginning of a word, nor of a name (16 H100).
    r"\s*(?:" + "|".join(rf"(?P<u{n}>(?:{unit})(?![a-z]|(?<=[a-z])\d))" for n, (unit, *_) in enumerate(UNITS)) + ")",
    re.IGNORECASE,
)


def unit_at(text: str, place: int) -> tuple[str, float, int]:
    """What the unit that begins there measures, how much of it one is, and where it ends; "" where there is none."""
    found = UNIT.match(text, place)
    if found is None:
        return "", 1.0, place
    _, measures, size = UNITS[int(str(found.lastgroup)[1:])]
    return measures, size, found.end()

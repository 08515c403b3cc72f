"""Sentences changed by rule, so that they no longer say what their source says; and reworded, so that they still do.

Every change is deterministic: what a sentence becomes depends on its own text alone.
"""

import random
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence

from opencc import OpenCC

from rag.language.terms import simplified

# Quantities that are spelled out, with what each becomes.
SPELLED = {
    "两": "四", "三": "五", "四": "两", "五": "三", "六": "八", "八": "六", "十": "百", "百": "千", "千": "百",
    "two": "four", "three": "five", "four": "two", "five": "three", "half": "twice", "twice": "half",
    "double": "triple",
}  # fmt: skip
QUANTITY = re.compile(
    r"(?<![一二两三四五六七八九十百千万亿第])(?:[两三四五六八十百千](?=[个种倍步层类次位条项部点张份份路阶段者轮组块路]))"
    r"|\b(?:two|three|four|five|half|twice|double)\b"
)
FIGURE = re.compile(r"(?<![\w.^_{-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*[A-Za-z_])")

# (what affirms, what denies): the one becomes the other.
NEGATIONS = (
    ("可以", "不可以"), ("不能", "能"), ("不需要", "需要"), ("需要", "不需要"), ("不会", "会"), ("会", "不会"),
    ("没有", "有"), ("无需", "需要"), ("无法", "可以"), ("不再", "仍然"), ("并不", ""), ("不是", "是"),
    ("不必", "必须"), ("必须", "不必"), ("能", "不能"), ("是", "不是"), ("只", "不只"), ("不", ""),
    (" does not ", " does "), (" is not ", " is "), (" are not ", " are "), (" cannot ", " can "),
    (" can ", " cannot "), (" is ", " is not "), (" are ", " are not "), (" has ", " has no "),
    (" without ", " with "), (" never ", " always "),
)  # fmt: skip
# Within these, the characters of NEGATIONS mean something else.
FIXED = re.compile(
    r"不同|不断|不仅|不只|不但|不过|不一定|不论|不管|不等式|只要|只有|只能|但是|还是|就是|也是|正是|凡是|总是|或是"
    r"|若是|要是|是否|是不是|能力|性能|功能|能量|智能|可能|能否|只是|不是|不能|不会|不需要|会议|会话|机会|社会|不然"
    r"|不变|不稳定|不可|未必|并不是|不对称|不平衡|不到|不足|不少|无论|于是|如果不|要不|能不能|会不会|才能|不再是"
)

# Words that point the other way, each pair in both directions.
DIRECTIONS = (
    ("增加", "减少"), ("提高", "降低"), ("上升", "下降"), ("增大", "减小"), ("升高", "降低"), ("变大", "变小"),
    ("放大", "缩小"), ("大于", "小于"), ("高于", "低于"), ("多于", "少于"), ("超过", "低于"), ("更快", "更慢"),
    ("更大", "更小"), ("更高", "更低"), ("更多", "更少"), ("更强", "更弱"), ("更长", "更短"), ("更好", "更差"),
    ("更早", "更晚"), ("最大", "最小"), ("最高", "最低"), ("最好", "最差"), ("最早", "最晚"), ("较大", "较小"),
    ("较高", "较低"), ("之前", "之后"), ("以前", "以后"), ("先", "后"), ("前向", "反向"), ("输入", "输出"),
    ("编码器", "解码器"), ("上界", "下界"), ("上限", "下限"), ("左侧", "右侧"), ("内部", "外部"), ("正比", "反比"),
    ("增强", "削弱"), ("加快", "减慢"), ("变慢", "变快"), ("变长", "变短"), ("变强", "变弱"), ("延长", "缩短"),
    ("扩大", "缩小"), ("优于", "劣于"), ("便宜", "昂贵"), ("浪费", "节省"), ("容易", "困难"), ("简单", "复杂"),
    ("稳定", "震荡"), ("稀疏", "稠密"), ("串行", "并行"), ("同步", "异步"), ("静态", "动态"), ("快", "慢"),
    ("increase", "decrease"), ("increases", "decreases"), ("higher", "lower"), ("larger", "smaller"),
    ("more", "less"), ("before", "after"), ("above", "below"), ("faster", "slower"), ("longer", "shorter"),
    ("better", "worse"), ("first", "last"), ("maximum", "minimum"), ("large", "small"), ("high", "low"),
    ("forward", "backward"), ("input", "output"), ("encoder", "decoder"), ("multiplies", "divides"),
    ("upper", "lower"), ("early", "late"),
)  # fmt: skip
OPPOSITE = {a: b for pair in DIRECTIONS for a, b in (pair, pair[::-1])}
WORD_BORDERS = {word: re.compile(rf"\b{word}\b" if word.isascii() else re.escape(word)) for word in OPPOSITE}
# Where a direction word is part of another.
DIRECTION_FIXED = re.compile(
    r"首先|先验|优先|预先|先进|最后|后续|后验|随后|然后|后者|后面|后缀|后处理|飞快|尽快|快照|后训练|事后|后端|背后"
)

NAME = re.compile(r"(?<![\\$\w{}^.-])(?=[A-Za-z])(?:\w*[A-Z]\w*|\w*[A-Za-z]-?\d[\w.]*)(?:-[\w.]+)*(?![\w}(])")
CHINESE = re.compile(r"[\u3400-\u9fff]")
PLAIN_WORD = re.compile(r"[A-Z]?[a-z]+(?:-[a-z]+)*")
INLINE_FORMULA = re.compile(r"\$[^$\n]+\$")
SYMBOL = re.compile(
    r"\\(?:alpha|beta|gamma|delta|theta|lambda|mu|sigma|pi|phi|eta|epsilon|tau)\b|(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])"
)
OTHER_SYMBOL = {r"\alpha": r"\beta", r"\sigma": r"\mu", r"\theta": r"\phi", r"\beta": r"\gamma"}

REWORDINGS = (
    ("因此", "所以"), ("所以", "因此"), ("可以", "能够"), ("使用", "采用"), ("即", "也就是"), ("但", "不过"),
    ("通常", "一般"), ("例如", "比如"), ("如果", "若"), ("由于", "因为"), ("并且", "而且"), ("以及", "和"),
    ("非常", "很"), ("主要", "主要是"), ("however", "but"), ("because", "since"), ("for example", "for instance"),
    ("therefore", "so"), ("use", "employ"),
)  # fmt: skip


TO_TRADITIONAL = OpenCC("s2t")


def seeded(sentence: str) -> random.Random:
    return random.Random(zlib.crc32(sentence.encode()))


def names_in(texts: Iterable[str]) -> list[str]:
    """Names in Latin letters outside of formulas, of at least three letters, in order."""
    found = {match[0] for text in texts for match in NAME.finditer(INLINE_FORMULA.sub(" ", text))}
    return sorted(name for name in found if len(name) > 2)


def change_number(sentence: str, names: Sequence[str]) -> str | None:
    """One quantity becomes another: in figures mostly, in words where there are no figures."""
    places = [*FIGURE.finditer(sentence)] or [*QUANTITY.finditer(sentence)]
    if not places:
        return None
    match = seeded(sentence).choice(places)
    return _replaced(sentence, match, SPELLED.get(match[0]) or _other_figure(match[0], seeded(sentence)))


def change_negation(sentence: str, names: Sequence[str]) -> str | None:
    """What is affirmed is denied, or the other way round."""
    covered = [match.span() for match in (*FIXED.finditer(sentence), *INLINE_FORMULA.finditer(sentence))]
    options = [
        (match, denied)
        for word, denied in NEGATIONS
        for match in re.finditer(re.escape(word), sentence)
        if not any(
            low <= match.start() and match.end() <= high and match.span() != (low, high) for low, high in covered
        )
        and not (denied == f"不{word}" and sentence[: match.start()].endswith(("不", "没", "才", "就", "而", "都")))
    ]
    # `是` and `不` stand almost everywhere: what is more telling comes first.
    return _replaced(sentence, *options[0]) if options else None


def change_name(sentence: str, names: Sequence[str]) -> str | None:
    """A name in Latin letters becomes another name of the corpus."""
    chosen = seeded(sentence)
    outside = INLINE_FORMULA.sub(lambda match: " " * len(match[0]), sentence)
    places = [match for match in NAME.finditer(outside) if len(match[0]) > 1]
    if is_english := not CHINESE.search(sentence):  # a word of it may have a capital for where it stands
        places = [match for match in places if not PLAIN_WORD.fullmatch(match[0])]
    if not places:
        return None
    if is_english:
        names = [name for name in names if not PLAIN_WORD.fullmatch(name)]
    match, lower = chosen.choice(places), sentence.lower()
    return _replaced(sentence, match, chosen.choice([name for name in names if name.lower() not in lower]))


def change_symbol(sentence: str, names: Sequence[str]) -> str | None:
    """A symbol of a formula becomes another one: the next letter, or another Greek one."""
    formulas = [*INLINE_FORMULA.finditer(sentence)]
    symbols = [symbol for formula in formulas for symbol in SYMBOL.finditer(sentence, formula.start(), formula.end())]
    if not symbols:
        return None
    match = seeded(sentence).choice(symbols)
    following = "a" if match[0] == "z" else "A" if match[0] == "Z" else chr(ord(match[0][0]) + 1)
    greek = OTHER_SYMBOL.get(match[0], r"\alpha")
    return _replaced(sentence, match, greek if match[0].startswith("\\") else following)


def change_direction(sentence: str, names: Sequence[str]) -> str | None:
    """A word becomes its opposite."""
    covered = [match.span() for match in (*DIRECTION_FIXED.finditer(sentence), *INLINE_FORMULA.finditer(sentence))]
    for word, opposite in OPPOSITE.items():
        for match in WORD_BORDERS[word].finditer(sentence):
            if not any(low <= match.start() < high for low, high in covered):
                return _replaced(sentence, match, opposite)
    return None


def reword(sentence: str) -> str | None:
    """The same said with another small word."""
    for old, new in REWORDINGS:
        if found := re.search(rf"\b{old}\b" if old.isascii() else re.escape(old), sentence):
            return _replaced(sentence, found, new)
    return None


def traditional(sentence: str) -> str | None:
    """The same in traditional script."""
    written = str(TO_TRADITIONAL.convert(sentence))
    return written if written != sentence and simplified(written) == sentence else None


MUTATIONS: Mapping[str, Callable[[str, Sequence[str]], str | None]] = {
    "number": change_number,
    "negation": change_negation,
    "name": change_name,
    "symbol": change_symbol,
    "direction": change_direction,
}


def _other_figure(figure: str, chosen: random.Random) -> str:
    """Ten times as much, or another first digit."""
    if chosen.random() < 0.3:
        return f"{figure}0" if "." not in figure else f"1{figure}"
    first = chosen.choice([digit for digit in "123456789" if digit != figure[0]])
    return first + figure[1:]


def _replaced(sentence: str, match: re.Match[str], new: str) -> str:
    return sentence[: match.start()] + new + sentence[match.end() :]

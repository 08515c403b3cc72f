"""Whether a clause denies another, or says the opposite: negations and opposites, in tables.

They stand in for an entailment model, which on a laptop could not keep up with a stream.
"""

import re
from dataclasses import dataclass

# Words with a negating character that negate nothing.
NEUTRAL = re.compile(
    r"不同|不仅|不只|不止|不但|不过|不断|不少|不论|不管|不等式|不妨|不变|差不多|未来|无论|无穷|无限|\bnot (?:only"
    r"|just)\b|\bno\."
)
NEGATION = re.compile(r"并非|毫无|没|未|不|无|\bnot\b|\bno\b|\bnor\b|\bcannot\b|n't\b|\bnever\b|\bwithout\b")
# What may stand between a negation and what it negates.
AUXILIARY = re.compile(
    r"(?:\s|需要?|能够?|会|可以?|必须?|须|是|有|应该?|应当|再|得|法|一定|太|很|用"
    r"|(?:be|been|being|have|has|the|an?|any|to)\b)*"
)
# What is negated: two characters, or the beginning of a word, for the ending follows the negation (need, needs).
HEAD = re.compile(r"[\u3400-\u9fff]{2}|\\?[a-z]{1,5}|\d+")
ONLY, NOT_ONLY = re.compile(r"[只仅]|\bonly\b|\bjust\b"), re.compile(r"不[只仅止]|不单|\bnot (?:only|just|merely)\b")
# Opposites that one word can be exchanged for: characters that Chinese words of direction are made of, and longer words
# and, in English, beginnings of words.
CHARACTER_POLES = (
    "大小 高低 多少 长短 快慢 强弱 深浅 宽窄 远近 早晚 前后 先后 左右 内外 升降 增减 加减 涨跌 优劣 好坏 好差 "
    "冷热 轻重 粗细 松紧 稀稠 疏密 串并 进出 入出 首尾 正反 前反 新旧 易难 易困 贵廉 显隐 单双 软硬 真假 奇偶 横纵 "
    ">< ≥≤ ≫≪ ↑↓"
)
WORD_POLES = (
    ("上(?!下文)", "下(?!文)"), ("超过", "低于|不足"), ("放大|扩大", "缩"), ("延长", "缩"), ("增强", "削"),
    ("快", "减缓|减慢"), ("提高|提升|提速", "降|下滑"), ("稳定", "震荡|发散"), ("简单", "复杂"), ("便宜", "贵"),
    ("节省|省", "浪费"), ("编码", "解码"), ("静态", "动态"), ("同步", "异步"), ("相同", "不同"), ("在线", "离线"),
    ("乘", "除以"), ("收敛", "发散"), ("保留", "丢弃"),
    (r"\bincreas|\bgrow|\brais|\bris(?:e|ing)", r"\bdecreas|\bshrink|\breduc|\blower(?:s|ed|ing)?\b|\bdrop|\bfall"),
    (r"\bhigh", r"\blow"), (r"\blarge|\bbig", r"\bsmall"), (r"\bmore\b|\bmost\b", r"\bless\b|\bleast\b|\bfewer\b"),
    (r"\bbefore\b", r"\bafter\b"), (r"\babove\b|\bover\b", r"\bbelow\b|\bunder\b"), (r"\bfast", r"\bslow"),
    (r"\blong", r"\bshort"), (r"\bbetter\b|\bbest\b", r"\bworse\b|\bworst\b"), (r"\bfirst\b", r"\blast\b"),
    (r"\bmax", r"\bmin"), (r"\bforward", r"\bback"), (r"\binput", r"\boutput"), (r"\bencod", r"\bdecod"),
    (r"\bmultipl", r"\bdivid"), (r"\badd", r"\bsubtract|\bremov"), (r"\bupper", r"\blower"), (r"\bleft", r"\bright"),
    (r"\bearl", r"\blat(?:e|er|est)\b"), (r"\bstrong", r"\bweak"), (r"\bdeep", r"\bshallow"),
    (r"\bwide", r"\bnarrow"), (r"\bsparse", r"\bdense"), (r"\balways\b", r"\bnever\b"), (r"\beas", r"\bhard"),
    (r"\bwith\b", r"\bwithout\b"),
)  # fmt: skip
POLES = tuple(
    (re.compile(one), re.compile(other)) for one, other in (*map(tuple, CHARACTER_POLES.split()), *WORD_POLES)
)
# Words with such a character that point nowhere.
POINTLESS = re.compile(
    r"大约|大概|大致|大多|大部分|大家|大量|多少|大小|长短|高低|快慢|强弱|远近|早晚|左右|前后|先后|上下文|首先|先验"
    r"|之上|以上|以下|如下|多数|至少|不少|很多|许多|小时|并且|并不|并非|前提|目前|当前|先进|优先|正是|正好|真正|单个"
    r"|加上|前馈|前缀|后缀|多头|单头"
)


@dataclass(frozen=True, slots=True)
class Polarity:
    """A clause in folded text without markup, and what it negates: `negated` holds the beginnings of those words."""

    text: str
    negates: bool
    negated: tuple[str, ...]


def polarity_of(folded: str) -> Polarity:
    """The polarity of a clause that is folded and without markup.

    >>> polarity_of("bf16 不需要损失缩放").negated
    ('损失',)
    """
    plain = NEUTRAL.sub(" ", folded)
    heads = (HEAD.match(plain, _after(plain, negation)) for negation in NEGATION.finditer(plain))
    return Polarity(folded, bool(NEGATION.search(plain)), tuple(head[0] for head in heads if head))


def contradicts(claim: Polarity, evidence: Polarity) -> bool:
    """Whether one denies what the other says, or points the other way."""
    if claim.negates != evidence.negates or _affirms_negated(claim, evidence) or _affirms_negated(evidence, claim):
        return True
    if bool(NOT_ONLY.search(claim.text)) != bool(NOT_ONLY.search(evidence.text)) and all(
        ONLY.search(clause.text) for clause in (claim, evidence)
    ):
        return True
    return points_elsewhere(claim.text, evidence.text)


def _affirms_negated(one: Polarity, other: Polarity) -> bool:
    """Whether `one` says without a negation what `other` negates."""
    plain = NEUTRAL.sub(" ", one.text)
    ends = {_after(plain, negation) for negation in NEGATION.finditer(plain)}
    return any(head in plain and not any(plain.startswith(head, end) for end in ends) for head in other.negated)


def points_elsewhere(claim: str, evidence: str) -> bool:
    """Whether the claim has more of one pole than the evidence and less of the other."""
    claim, evidence = POINTLESS.sub(" ", claim), POINTLESS.sub(" ", evidence)
    if claim == evidence:
        return False
    for poles in POLES:
        a, b = (len(pole.findall(claim)) - len(pole.findall(evidence)) for pole in poles)
        if a * b < 0:
            return True
    return False


def _after(text: str, negation: re.Match[str]) -> int:
    """Where what is negated begins."""
    auxiliary = AUXILIARY.match(text, negation.end())
    return auxiliary.end() if auxiliary else negation.end()

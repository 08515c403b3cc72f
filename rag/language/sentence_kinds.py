"""What kind of a sentence one is: a claim, a question, an announcement, a fragment, or terms in a row.

A claim says something of something. Terms in a row ("RoPE 外推 旋转 相对位置") name what an answer would speak of, and
say nothing.
"""

import re

from rag.language.language import has_chinese
from rag.language.terms import CHINESE_RUN, fold

QUESTION = re.compile(r"[?？][”’」』）)\s*]*$|^(?:请问|为什么|什么是|如何|怎么)[^，。]{0,40}$")
# What announces says that something follows, not what.
ANNOUNCES = re.compile(
    r"[:：][\s*_]*$|如下[。.：:]?$|下面的?[两三四五六七八九几]|[三四五六七八九][项步点类件]事?[。.]$|^(?:下面|以下|下表|下图|上表|这里|代码).{0,60}(?:代码|表|图|例子|步骤|如下|所示|给出|列出|验证)"
    r"|^(?:详见|参见|见)|^(?:the )?(?:following|code below)\b",
    re.IGNORECASE,
)
# A legend says what the letters of a formula stand for.
LEGEND = re.compile(
    r"^(?:其中|式中|这里的?|记|设|令|若?把?)\s*[，,]?\s*(?=[$`])|^[设令记]|^(?:where|here|let)\b", re.IGNORECASE
)
ENDS = re.compile(r"[。！.!；;][”’」』）)]*$")
# Leans on what stood before.
LEANS = re.compile(
    r"^(?:[它他她这那此其]|因此|所以|于是|但是?|不过|而且?|并且|同时|另外|此外|例如|比如|反之|否则|前者|后者|两者|第[一二三四五]步|上面|等式)"
    r"|^(?:it|this|that|these|they|so|but|however|therefore|also|for example|otherwise)\b",
    re.IGNORECASE,
)
# Characters without which hardly a Chinese sentence says anything: they bind terms together. Those that also stand in
# many terms (相对, 大小) are left out.
BINDS = re.compile(
    r"[是把被将让使令由用按从到为在与和及比不没未无只仅都也就才又再还会能可要需应须得了着过的地而但则若因所其之于]"
)
# What predicates are made of besides.
PREDICATE = re.compile(
    r"[有当做算存取变成减除替省学靠给切选拆传读写改放查判]|依赖|等于|导致|避免|保证|属于|表示|说明|通过|利用|采用|引入|支持|包括|包含"
    r"|决定|影响|负责|来自|解决|返回|使用|选择|冻结|轮流|[总恒仍约每各另只才再先后多少大小高低]"
)
PREDICATE_EN = re.compile(
    r"\b(?:is|are|was|were|be|has|have|had|do|does|did|can|cannot|could|will|would|must|should|may|might"
    r"|\w{2,}(?:[^s\W]s|es|ed|ing)|make|use|need|keep|let|give|take|mean|depend|get|add|store|share|become)\b",
    re.IGNORECASE,
)
BINDS_EN = re.compile(
    r"\b(?:the|an?|of|to|in|on|by|for|with|and|or|from|as|at|that|which|it|its|than|so|because|not|no|into|is|are|be)\b",
    re.IGNORECASE,
)
MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*_#>]+")
VERBATIM = re.compile(r"`[^`\n]*`|\$[^$\n]+\$")
# Between Chinese and Latin a space is only style.
GAP = re.compile(
    r"[、,，/|+;；·]+\s*|(?<=[\u3400-\u9fff])\s+(?=[\u3400-\u9fff])|(?<=[A-Za-z0-9)])\s+(?=[A-Za-z0-9])|\n+"
)
SHORTEST_CLAIM = 5
SHORTEST_CLAIM_EN = 3
# A row of terms has this many pieces at least, and fewer binding characters than this share of them.
ROW_PIECES = 4
ROW_BINDING = 0.35
# The share of binding words that an English sentence has at least.
BINDING_EN = 0.1


def plain(text: str) -> str:
    """The words of a sentence without Markdown's marks."""
    return MARKUP.sub(lambda match: match[1] or "", text).strip()


def is_question(text: str) -> bool:
    return bool(QUESTION.search(plain(text)))


def is_claim(text: str) -> bool:
    """Whether a text says something of something.

    >>> is_claim("RoPE 按位置旋转 Query 和 Key。"), is_claim("RoPE，旋转，相对位置，外推")
    (True, False)
    """
    words = plain(text)
    if not words or is_question(words):
        return False
    folded = fold(words)
    if has_chinese(folded):
        verbatim = VERBATIM.findall(words)
        said = fold(VERBATIM.sub("x", words))
        length = sum(map(len, re.findall(CHINESE_RUN, said))) + len(verbatim)
        binding = len(BINDS.findall(said)) + len(PREDICATE.findall(said))
        return length >= SHORTEST_CLAIM and binding > 0 and not _is_row(said, binding)
    found = re.findall(r"[a-z0-9']+", folded)
    return (
        len(found) >= SHORTEST_CLAIM_EN
        and bool(PREDICATE_EN.search(folded))
        and len(BINDS_EN.findall(folded)) >= BINDING_EN * len(found)
    )


def is_point(text: str) -> bool:
    """Whether a sentence of the material can stand alone as what an answer must say."""
    words = plain(text)
    return (
        is_claim(text)
        and is_whole(text)
        and bool(ENDS.search(words))
        and not ANNOUNCES.search(words)
        and not LEGEND.match(words)
        and not LEANS.match(words)
    )


def is_whole(text: str) -> bool:
    """Whether brackets, quotation marks and formulas that open also close."""
    bare = VERBATIM.sub("", text)
    pairs = (("（", "）"), ("「", "」"), ("“", "”"), ("《", "》"))
    return "$" not in bare and "`" not in bare and all(bare.count(a) == bare.count(b) for a, b in pairs)


def _is_row(said: str, binding: int) -> bool:
    """Whether a text is made of many pieces that hardly anything binds together."""
    pieces = [piece for piece in GAP.split(said.strip("。.!！ ")) if piece]
    return len(pieces) >= ROW_PIECES and binding < ROW_BINDING * len(pieces)

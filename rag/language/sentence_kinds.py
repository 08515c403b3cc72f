"""The kind of a sentence: a claim, a question, an announcement, a fragment, or terms in a row.

A claim makes a statement about something. Terms in a row ("RoPE 外推 旋转 相对位置") name the subjects of an answer,
and state nothing.
"""

import re

from rag.language.ends import CLOSING, INLINE_VERBATIM
from rag.language.language import Language, has_chinese
from rag.language.lexicon import either, told_by
from rag.language.pointing import sentence_points_back
from rag.language.terms import CHINESE, CHINESE_RUN, fold

QUESTION = re.compile(rf"[?？]{CLOSING}[\s*]*$|^{either('asking', 'sentence')}[^，。]{{0,40}}$")
# An announcement says that something follows, not what.
ANNOUNCES = re.compile(rf"[:：][\s*_]*$|{either('sentences', 'announces')}", re.IGNORECASE)
EXEMPLIFIES = told_by("sentences", "exemplifies", re.IGNORECASE)
# A longer sentence says something of its own before its colon.
LONGEST_LEAD_IN = 30
# A legend explains the letters of a formula.
LEGEND = told_by("sentences", "legend", re.IGNORECASE)
SPEAKS_OF_A_BLOCK = told_by("sentences", "speaks_of_a_block", re.IGNORECASE)
LEGEND_OF_A_BLOCK = told_by("sentences", "legend_of_a_block", re.IGNORECASE)
ENDS = re.compile(rf"[。！.!；;]{CLOSING}$")
BINDS, PREDICATE = (
    {language: told_by("sentences", entry, re.IGNORECASE, only=language) for language in Language}
    for entry in ("binds", "predicate")
)
JOINS = told_by("comparison", "joins")
MARKUP = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*_#>]+")
# Between Chinese and Latin a space is only style.
GAP = re.compile(rf"[、,，/|+;；·]+\s*|(?<={CHINESE})\s+(?={CHINESE})|(?<=[A-Za-z0-9)])\s+(?=[A-Za-z0-9])|\n+")
# Counted in Chinese characters, and words and numbers of other scripts.
SHORTEST_CLAIM = 5
SHORTEST_CLAIM_EN = 3
WORD = re.compile(r"[a-z0-9']+")
# A row of terms has at least this many pieces, and a smaller share of binding characters than this.
ROW_PIECES = 4
ROW_BINDING = 0.35
# The least share of binding words in an English sentence.
BINDING_EN = 0.1
# A sign in place of a verb.
SHORTHAND = re.compile(r"\w\S*\s*(?:→|⇒|->|=>|[=≈≥≤])\s*[\w+-]")


def plain(text: str) -> str:
    """The words of a sentence without Markdown marks."""
    return MARKUP.sub(lambda match: match[1] or "", text).strip()


def joints(text: str) -> float:
    """How often a text joins names (A、B 和 C), for each ten characters: who names everything states nothing.

    >>> joints("LoRA 和秩、显存、合并都有关"), joints("LoRA 冻结原来的权重")
    (1.875, 0.0)
    """
    return 10 * len(JOINS.findall(text)) / max(len(text), 1)


def is_question(text: str) -> bool:
    return bool(QUESTION.search(plain(text)))


def is_claim(text: str) -> bool:
    """Whether a text makes a statement.

    >>> is_claim("RoPE 按位置旋转 Query 和 Key。"), is_claim("RoPE，旋转，相对位置，外推")
    (True, False)
    """
    words = plain(text)
    if not words or is_question(words):
        return False
    folded = fold(words)
    if has_chinese(folded):
        said = fold(INLINE_VERBATIM.sub("x", words))
        length = sum(map(len, re.findall(CHINESE_RUN, said))) + len(WORD.findall(said))
        binding = len(BINDS[Language.ZH].findall(said)) + len(PREDICATE[Language.ZH].findall(said))
        return length >= SHORTEST_CLAIM and binding > 0 and not _is_row(said, binding)
    found = WORD.findall(folded)
    return (
        len(found) >= SHORTEST_CLAIM_EN
        and bool(PREDICATE[Language.EN].search(folded))
        and len(BINDS[Language.EN].findall(folded)) >= BINDING_EN * len(found)
    )


def is_shorthand(text: str) -> bool:
    """Whether a note states something by a sign.

    >>> is_shorthand("KV 头 32->8"), is_shorthand("use_reentrant=False"), is_shorthand("RoPE=旋转，相对位置，外推，NTK")
    (True, True, False)
    """
    signs = len(SHORTHAND.findall(text))
    return signs > 0 and not _is_row(fold(text), signs)


def is_point(text: str) -> bool:
    """Whether a sentence of the material can stand alone as a point of an answer."""
    words = plain(text)
    return (
        is_claim(text)
        and is_whole(text)
        and bool(ENDS.search(words))
        and not ANNOUNCES.search(words)
        and not LEGEND.match(words)
        and not sentence_points_back(words)
    )


def is_aside(text: str) -> bool:
    """Whether a sentence only introduces the next, or illustrates another by an example.

    >>> is_aside("后果主要有五种："), is_aside("例如学习率取 2e-4。"), is_aside("微调先选底座。")
    (True, True, False)
    """
    words = plain(text)
    leads = len(words) <= LONGEST_LEAD_IN and bool(ANNOUNCES.search(words))
    return leads or bool(EXEMPLIFIES.search(words))


def is_whole(text: str) -> bool:
    """Whether brackets, quotation marks and formulas that open also close."""
    bare = INLINE_VERBATIM.sub("", text)
    pairs = (("（", "）"), ("「", "」"), ("“", "”"), ("《", "》"))
    return "$" not in bare and "`" not in bare and all(bare.count(a) == bare.count(b) for a, b in pairs)


def _is_row(said: str, binding: int) -> bool:
    """Whether a text is made of many pieces that hardly anything binds together."""
    pieces = [piece for piece in GAP.split(said.strip("。.!！ ")) if piece]
    return len(pieces) >= ROW_PIECES and binding < ROW_BINDING * len(pieces)

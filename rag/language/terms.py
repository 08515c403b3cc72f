"""Text -> keyword terms: script and width folded, Latin terms whole, Chinese as character bigrams.

>>> terms("ZeRO-3 的顯存")
('zero-3', 'zero', '3', '的显', '显存')
"""

import re
import unicodedata
from functools import cache, lru_cache
from operator import add

from opencc import OpenCC
from Stemmer import Stemmer

LATIN_TERM = r"[a-z0-9]+(?:[-_.+#/&@^][a-z0-9]+)*(?:\+\+|\+|#)?"
CHINESE = r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"
CHINESE_RUN = f"{CHINESE}+"
TERM = re.compile(f"(?P<latin>{LATIN_TERM})|(?P<chinese>{CHINESE_RUN})|(?P<symbol>[\u0370-\u03ff])")
PART = re.compile(r"[a-z]+|[0-9]+")


@cache
def _to_simplified() -> OpenCC:
    return OpenCC("t2s")


def simplified(text: str) -> str:
    """The text in simplified script, so that both scripts are embedded alike."""
    return text if text.isascii() else str(_to_simplified().convert(text))


def same_place(text: str) -> str:
    """The text in simplified script with each character in place; unchanged if that is impossible."""
    return plain if len(plain := simplified(text)) == len(text) else text


def fold(text: str) -> str:
    """Lower case, half width, simplified script: no difference in these changes what a text is about."""
    return simplified(unicodedata.normalize("NFKC", text).lower())


@lru_cache(maxsize=4_096)
def terms(text: str) -> tuple[str, ...]:
    """The terms of a text in order, repeats included. A compound Latin term stands whole and in its parts."""
    result: list[str] = []
    for latin, chinese, symbol in TERM.findall(fold(text)):
        result += map(add, chinese, chinese[1:]) if len(chinese) > 1 else (latin or chinese or symbol,)
        if latin and not (latin.isalpha() or latin.isdigit()):
            parts = PART.findall(latin)
            if len(parts) > 1:
                result += parts
    return tuple(result)


def own_weight(term: str) -> float:
    """Weight of a term relative to a name in Latin letters. Pairs of Chinese characters weigh half, since neighbouring
    pairs overlap: 加速推理 is two words, and three pairs."""
    return 1.0 if term.isascii() else 0.5


@lru_cache(maxsize=32_768)
def stem(term: str) -> str:
    """A term without its English ending (Snowball, Porter2); any other unchanged.

    >>> stem("evaluated"), stem("evaluation"), stem("zero-3"), stem("显存")
    ('evalu', 'evalu', 'zero-3', '显存')
    """
    return str(_stemmer().stemWord(term)) if term.isascii() and term.isalpha() else term


def stems(text: str) -> tuple[str, ...]:
    """The stems of the terms of a text, in order."""
    return tuple(map(stem, terms(text)))


@cache
def _stemmer() -> Stemmer:
    return Stemmer("english")

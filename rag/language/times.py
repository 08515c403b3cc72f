"""Words that tie a sentence to its time: version, year, or present."""

import re
from enum import StrEnum

from rag.language.lexicon import either, told_by


class Bound(StrEnum):
    VERSION = "version"
    YEAR = "year"
    PRESENT = "present"


PATTERNS = {
    Bound.VERSION: re.compile(
        rf"\b(?!{either('times', 'numbered')}\s)[A-Z][A-Za-z.+-]*\s+v?[1-3]?\d\.(?:\d{{1,2}}|x)(?:\.\w+)*\+?"
        rf"(?![\w.]|\s*(?:%|×|x\b|[~–-]|{either('times', 'units')}))"
        rf"|\bv\d+(?:\.\d+)+|\b\d+\.x\b|\b(?!127\.0)\d+\.\d+\.\d+\b|{either('times', 'version')}"
    ),
    Bound.YEAR: re.compile(
        rf"{either('times', 'year')}"
        rf"|(?<![\d.:/-])(?<![A-Z]{{2}} )20[12]\d(?:-\d\d)?(?![\d.:]|\s*{either('times', 'counted')})"
    ),
    Bound.PRESENT: told_by("times", "present", re.IGNORECASE),
}
# Identifiers of papers contain apparent years or versions.
IDENTIFIER = re.compile(r"arxiv\s*[:：]?\s*\d{4}\.\d{4,5}(?:v\d+)?|\bdoi\s*[:：]\s*\S+|https?://\S+", re.IGNORECASE)


def bounds_of(text: str) -> dict[Bound, list[str]]:
    """The words that tie a text to its time, as written, by kind of tie.

    >>> bounds_of("目前 PyTorch 2.1 最快")
    {<Bound.VERSION: 'version'>: ['PyTorch 2.1'], <Bound.PRESENT: 'present'>: ['目前']}
    """
    plain = IDENTIFIER.sub(" ", text)
    found = {bound: [match[0].strip() for match in pattern.finditer(plain)] for bound, pattern in PATTERNS.items()}
    return {bound: words for bound, words in found.items() if words}

"""Sentences that grow old: those that name a version, a year, or the present."""

import re
from dataclasses import dataclass
from enum import StrEnum

from rag.review.statements import Statement


class Bound(StrEnum):
    """What ties a sentence to its time."""

    VERSION = "version"
    YEAR = "year"
    PRESENT = "present"


# A table or figure that is numbered like a version, and what follows an amount.
NUMBERED = r"(?:Table|Figure|Fig\.?|Section|Sec\.?|Eq\.?|Equation|Appendix|Chapter|Algorithm|Theorem)"
PATTERNS = {
    Bound.VERSION: re.compile(
        rf"\b(?!{NUMBERED}\s)[A-Z][A-Za-z.+-]*\s+v?[1-3]?\d\.(?:\d{{1,2}}|x)(?:\.\w+)*\+?"
        r"(?![\w.]|\s*(?:%|×|x\b|倍|[KMGTP]i?B|[TPG]FLOP|[nµm]?s\b|bits?\b|[个分点亿万到–~-]))"
        r"|\bv\d+(?:\.\d+)+|\b\d+\.x\b|\b(?!127\.0)\d+\.\d+\.\d+\b|\d(?:\.\d+)*\s*版本?\b|版本\s*\d|\bversions? \d"
    ),
    Bound.YEAR: re.compile(
        r"(?<![\d.:/-])(?:(?:19[5-9]|20[0-4])\d(?=\s*年)"
        r"|(?<![A-Z]{2} )20[12]\d(?:-\d\d)?(?![\d.:]|\s*(?:个|token|步|维|steps?\b|dim)))"
    ),
    Bound.PRESENT: re.compile(
        r"目前|(?<![出体表实呈发再存])现在|现阶段|如今|眼下|最新|截至|截止(?=到|至|目前|20)|近年|近几年|今年|去年|业界最[强好]"
        r"|\b(?:today|nowadays|now|currently|at present|as of|so far|state[- ]of[- ]the[- ]art|sota|this year"
        r"|recent years|the latest)\b",
        re.IGNORECASE,
    ),
}  # fmt: skip
# Identifiers of papers hold what looks like a year or a version.
IDENTIFIER = re.compile(r"arxiv\s*[:：]?\s*\d{4}\.\d{4,5}(?:v\d+)?|\bdoi\s*[:：]\s*\S+|https?://\S+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimeBound:
    """`words` are those that tie the statement to its time, as they stand."""

    statement: Statement
    bounds: tuple[Bound, ...]
    words: tuple[str, ...]


def time_bound(statement: Statement) -> TimeBound | None:
    text = IDENTIFIER.sub(" ", statement.text)
    found = {bound: [match[0].strip() for match in pattern.finditer(text)] for bound, pattern in PATTERNS.items()}
    bounds = tuple(bound for bound, words in found.items() if words)
    if not bounds:
        return None
    return TimeBound(statement, bounds, tuple(dict.fromkeys(word for bound in bounds for word in found[bound])))

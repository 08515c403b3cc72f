"""Sentences that grow old: those that name a version, a year, or the present."""

from dataclasses import dataclass

from rag.language.times import Bound, bounds_of
from rag.review.statements import Statement


@dataclass(frozen=True, slots=True)
class TimeBound:
    """`words` tie the statement to its time, as written."""

    statement: Statement
    bounds: tuple[Bound, ...]
    words: tuple[str, ...]


def time_bound(statement: Statement) -> TimeBound | None:
    found = bounds_of(statement.text)
    if not found:
        return None
    return TimeBound(statement, tuple(found), tuple(dict.fromkeys(word for words in found.values() for word in words)))

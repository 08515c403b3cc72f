"""A message that asks several things about one subject -> what asks each of them.

Cut where people join what they ask, at a comma, a gap or an "and", wherever what stands before asks by itself:
PagedAttention 解决什么问题 block size 设多大. What does not ask, such as a situation, stays with what asks next; a
later one may lack its subject.
"""

import re
from collections.abc import Iterator

from rag.language.asking import ASKS, ONLY_ASKS
from rag.language.lexicon import either
from rag.language.parts import JOINED
from rag.language.terms import CHINESE, fold, same_place, terms

MAX_ASKS = 4
CUTS = re.compile(rf"{JOINED.pattern}|\s*[，,：:]\s*|\s*{either('parts', 'also')}\s*|(?<={CHINESE})\s+", re.IGNORECASE)
# What others are said to ask, or a title, asks nothing.
QUOTED = re.compile(r"“[^”]*”|\"[^\"]*\"|「[^」]*」|《[^》]*》")
# A gap may also stand in the middle of a question (为什么 attention 要除以根号 d): with fewer terms beside those that
# ask what stands before it does not ask by itself.
OWN_TERMS = 2
ENDS = " ，,。？?；;！!\n"


def asks(question: str) -> tuple[str, ...]:
    """What asks each of several things, in order; none if the message asks one thing.

    >>> asks("SwiGLU 怎么算的 参数量怎么对齐原来的 FFN")
    ('SwiGLU 怎么算的', '参数量怎么对齐原来的 FFN')
    >>> asks("训练到一半 loss 飞了，先查什么，要不要回滚")
    ('训练到一半 loss 飞了，先查什么', '要不要回滚')
    >>> asks("为什么 attention 要除以根号 d")
    ()
    """
    found: list[slice] = []
    begins: int | None = None  # where what has not asked so far begins
    for clause, is_gap in _clauses(question):
        begins = clause.start if begins is None else begins
        said = slice(begins, clause.stop)
        if _asks(question[said]) and not (is_gap and _own_terms(question[said]) < OWN_TERMS):
            found.append(said)
            begins = None
    if begins is not None and found:
        found[-1] = slice(found[-1].start, len(question))
    return tuple(question[said].strip(ENDS) for said in found) if 2 <= len(found) <= MAX_ASKS else ()


def _clauses(question: str) -> Iterator[tuple[slice, bool]]:
    """Where the clauses stand, and whether nothing but a gap ends each."""
    text = same_place(question)
    quoted = [match.span() for match in QUOTED.finditer(text)]
    start = 0
    for match in CUTS.finditer(text):
        if any(first < match.start() < end for first, end in quoted):
            continue
        if question[start : match.start()].strip():
            yield slice(start, match.start()), match[0].isspace()
        start = match.end()
    if question[start:].strip():
        yield slice(start, len(question)), False


def _asks(text: str) -> bool:
    return ASKS.search(QUOTED.sub(" ", fold(text))) is not None


def _own_terms(text: str) -> int:
    """How many terms do not only ask."""
    named = terms(ONLY_ASKS.sub(" ", ASKS.sub(" ", fold(text))))
    return len({term for term in named if len(term) > 1})

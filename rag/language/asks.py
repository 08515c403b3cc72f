"""A message that asks several things about one subject -> what asks each of them.

Cut where people join what they ask: at a comma or an "and" wherever what stands before asks by itself, at a mere gap
only where what follows asks by itself, too: PagedAttention 解决什么问题 block size 设多大. What does not ask, such as a
situation, stays with what asks next; a later one may lack its subject.
"""

import re
from collections.abc import Iterator

from rag.language.asking import ASKS, ONLY_ASKS
from rag.language.lexicon import either, told_by
from rag.language.parts import JOINED
from rag.language.terms import CHINESE, fold, same_place, terms

MAX_ASKS = 4
# In characters. A longer message, such as a pasted text, is read whole.
LONGEST = 500
CUTS = re.compile(rf"{JOINED.pattern}|\s*[，,、：:]\s*|\s*{either('parts', 'also')}\s*", re.IGNORECASE)
GAP = re.compile(rf"(?<={CHINESE})\s+|\s+(?={CHINESE})")
# Asks without an asking word: HNSW 原理; is it still used.
NAMES_WHAT = re.compile(rf"{either('asking', 'names_what')}[\s?？]*$", re.IGNORECASE)
BEGINS_AN_ASK = told_by("asking", "begins_an_ask", re.IGNORECASE)
# What others are said to ask, a title, or what is said beside, asks nothing.
ASIDE = re.compile(r"“[^”]*”|\"[^\"]*\"|「[^」]*」|《[^》]*》|（[^）]*）|\([^)]*\)")
# With fewer terms beside those that ask, what stands before a gap does not ask by itself.
OWN_TERMS = 2
ENDS = " ，,、。？?；;：:！!\n"


def asks(question: str) -> tuple[str, ...]:
    """What asks each of several things, in order; none if the message asks one thing.

    >>> asks("SwiGLU 怎么算的 参数量怎么对齐原来的 FFN")
    ('SwiGLU 怎么算的', '参数量怎么对齐原来的 FFN')
    >>> asks("训练到一半 loss 飞了，先查什么，要不要回滚")
    ('训练到一半 loss 飞了，先查什么', '要不要回滚')
    >>> asks("为什么 attention 要除以根号 d")
    ()
    """
    if len(question) > LONGEST:
        return ()
    found: list[slice] = []
    begins: int | None = None  # where what has not asked so far begins
    for clause in _clauses(question):
        begins = clause.start if begins is None else begins
        said = slice(begins, clause.stop)
        if _asks(question[said]):
            found.append(said)
            begins = None
    if begins is not None and found:
        found[-1] = slice(found[-1].start, len(question))
    return tuple(question[said].strip(ENDS) for said in found) if 2 <= len(found) <= MAX_ASKS else ()


def _clauses(question: str) -> Iterator[slice]:
    """Where the clauses stand that may ask."""
    text = same_place(question)
    asides = [match.span() for match in ASIDE.finditer(text)]
    start = 0
    for match in CUTS.finditer(text):
        if not any(first < match.start() < end for first, end in asides):
            yield from _at_gaps(question, start, match.start())
            start = match.end()
    yield from _at_gaps(question, start, len(question))


def _at_gaps(question: str, start: int, end: int) -> Iterator[slice]:
    """A clause, cut at gaps between what asks by itself."""
    for gap in GAP.finditer(question, start, end):
        before = question[start : gap.start()]
        if _asks(before) and _own_terms(before) >= OWN_TERMS and _asks(question[gap.end() : end]):
            yield slice(start, gap.start())
            start = gap.end()
    if question[start:end].strip():
        yield slice(start, end)


def _asks(text: str) -> bool:
    said = ASIDE.sub(" ", fold(text)).strip()
    return bool(ASKS.search(said) or NAMES_WHAT.search(said) or BEGINS_AN_ASK.match(said))


def _own_terms(text: str) -> int:
    """How many terms do not only ask."""
    named = terms(ONLY_ASKS.sub(" ", ASKS.sub(" ", fold(text))))
    return len({term for term in named if len(term) > 1})

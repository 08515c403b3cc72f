"""A message that asks several things at once -> the question in each part.

Recognised by how people join questions, whatever their subject: a question mark in between, or words that open another
question. A part that leans on the one before ("它呢", "各自适合什么") joins it.
"""

import re
from collections.abc import Iterator

from rag.language.asking import ASKS
from rag.language.language import has_chinese
from rag.language.lexicon import either, told_by
from rag.language.pointing import part_points_back
from rag.language.terms import CHINESE, same_place, simplified, terms

MAX_PARTS = 4
# Opens another question, in the middle of a message or after the end of one.
JOINED = re.compile(
    rf"[\s，,]*(?P<another>{either('parts', 'another')})|\s*[；;。？！!\n]+\s*|\?+(?:\s+|(?={CHINESE}|(?-i:[A-Z])))",
    re.IGNORECASE,
)
# A question that begins by asking lacks its subject: 为什么能外推.
BEGINS_ASKING = told_by("parts", "begins_asking", re.IGNORECASE)
# With fewer terms of its own a part says too little to be searched alone.
OWN_TERMS = 2


def parts(question: str) -> tuple[str, ...]:
    """Each part's question, in order; none if the message asks one thing.

    >>> parts("GRPO 的优势怎么算？另外 LoRA 的秩一般设多少")
    ('GRPO 的优势怎么算', 'LoRA 的秩一般设多少')
    >>> parts("LoRA 和 QLoRA 有什么区别？它们各自适合什么场景？")
    ()
    """
    found: list[str] = []
    said = ""  # text without a question so far
    for clause, opened in _clauses(question):
        said = _together(said, clause)
        if not ASKS.search(simplified(clause)):
            continue
        if found and not _stands_alone(said, opened=opened):
            found[-1] = _together(found[-1], said)
        else:
            found.append(said)
        said = ""
    return tuple(found) if not said and 2 <= len(found) <= MAX_PARTS else ()


def _clauses(question: str) -> Iterator[tuple[str, bool]]:
    """The clauses, and whether each opens another question."""
    start, opened = 0, False
    for match in JOINED.finditer(same_place(question)):
        if clause := question[start : match.start()].strip():
            yield clause, opened
            opened = False
        opened = opened or match["another"] is not None
        start = match.end()
    if clause := question[start:].strip():
        yield clause, opened


def _together(first: str, second: str) -> str:
    gap = "，" if has_chinese(first + second) else ", "
    return f"{first}{gap}{second}" if first and second else first or second


def _stands_alone(part: str, *, opened: bool) -> bool:
    if part_points_back(part) or (BEGINS_ASKING.match(simplified(part)) and not opened):
        return False
    return len(set(terms(ASKS.sub(" ", simplified(part))))) >= OWN_TERMS

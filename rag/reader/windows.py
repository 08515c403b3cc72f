"""Inputs of the reader's network: question, heading and units of a text in one input, or several of whole units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Tokens of an input. A longer text is read in several, each of whole units.
MAX_TOKENS = 256
# Tokens of a question and of a heading.
QUESTION_TOKENS, HEADING_TOKENS = 64, 56
# Tokens of one unit: a long code block or table is cut to its beginning.
UNIT_TOKENS = 128

# Token ids of each text, without special tokens.
TokenIds = Callable[[Sequence[str]], list[list[int]]]


@dataclass(frozen=True, slots=True)
class Special:
    """The ids of the tokens that frame texts."""

    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive units of a text with its question: token ids, the number of the first unit, and the first and last
    token of the question and of each unit; the last token closes it."""

    ids: tuple[int, ...]
    first: int
    question: tuple[int, int]
    spans: tuple[tuple[int, int], ...]


def windows(token_ids: TokenIds, special: Special, question: str, heading: str, units: Sequence[str]) -> list[Window]:
    """`<s> question </s> heading </s> unit </s> unit </s> …`, as often as the units need."""
    limits = [QUESTION_TOKENS, HEADING_TOKENS, *[UNIT_TOKENS] * len(units)]
    pieces = [ids[:limit] for ids, limit in zip(token_ids([question, heading, *units]), limits, strict=True)]
    opening = [special.begin, *pieces[0], special.end, *pieces[1], special.end]
    asked = (1, 1 + len(pieces[0]))
    found: list[Window] = []
    ids, spans, first = list(opening), list[tuple[int, int]](), 0
    for number, piece in enumerate(pieces[2:]):
        if spans and len(ids) + len(piece) + 1 > MAX_TOKENS:
            found.append(Window(tuple(ids), first, asked, tuple(spans)))
            ids, spans, first = list(opening), [], number
        spans.append((len(ids), len(ids) + len(piece)))
        ids += [*piece, special.end]
    return [*found, Window(tuple(ids), first, asked, tuple(spans))] if spans else found

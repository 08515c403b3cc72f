"""Snippets for the conversation search, with matches marked. sources.js draws formulas."""

import re
from collections.abc import Sequence

from rag.ui.readable import words_of
from rag.ui.templates import macros_of

HTML = macros_of("conversations/snippet.html")
# Characters before the first match, and in total.
BEFORE, LENGTH = 24, 90
# Characters of an answer read around the match, and on to the ends of their lines; reading a whole answer for each
# conversation would be slow.
REACH = 400
FORMULA = re.compile(r"(\$\$?[^$\n]+\$\$?)")


def marked(text: str, words: Sequence[str]) -> str:
    """HTML with every word marked, ignoring case; formulas are to be drawn."""
    pattern = _pattern(words)
    pieces: list[tuple[str, bool, bool]] = []  # whether each is a formula, and whether it is marked
    for place, part in enumerate(FORMULA.split(text)):  # matches are at odd places
        if place % 2:
            pieces.append((part, True, pattern is not None and pattern.search(part) is not None))
        else:
            words_and_others = pattern.split(part) if pattern is not None else [part]
            pieces += [(piece, False, odd % 2 == 1) for odd, piece in enumerate(words_and_others)]
    return HTML("marked", pieces=pieces)


def snippet(text: str, words: Sequence[str]) -> str:
    """The text around the first search word found, as HTML; empty if none is found."""
    pattern = _pattern(words)
    found = pattern.search(text) if pattern else None
    if pattern is None or found is None:
        return ""
    low = text.rfind("\n", 0, max(0, found.start() - REACH)) + 1
    high = text.find("\n", found.end() + REACH) + 1 or len(text)
    line = words_of(text[low:high])
    again = pattern.search(line)
    if again is None:  # it is in hidden text, such as the address of a link
        return ""
    formulas = [formula.span() for formula in FORMULA.finditer(line)]
    start = max(0, again.start() - BEFORE)
    start = next((begins for begins, ends in formulas if begins < start < ends), start)
    end = min(len(line), start + LENGTH)
    end = next((ends for begins, ends in formulas if begins < end < ends), end)
    before = "…" if low or start else ""
    after = "…" if high < len(text) or end < len(line) else ""
    return f"{before}{marked(line[start:end], words)}{after}"


def _pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    longest_first = sorted(filter(None, words), key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first))})", re.IGNORECASE) if longest_first else None

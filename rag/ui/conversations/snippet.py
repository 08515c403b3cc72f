"""What a search in the conversations found: the words around it, marked."""

import re
from collections.abc import Sequence
from html import escape

from rag.ui.readable import words_of

# Characters in front of the first word that was found, and of the whole.
BEFORE, LENGTH = 24, 90
# Characters of an answer around the word that are read; a whole answer for each conversation would take its time.
REACH = 400


def marked(text: str, words: Sequence[str]) -> str:
    """HTML with every one of the words marked, however its letters are written."""
    pattern = _pattern(words)
    if pattern is None:
        return escape(text)
    parts = pattern.split(text)  # what is found stands at the odd places
    return "".join(f"<mark>{escape(part)}</mark>" if place % 2 else escape(part) for place, part in enumerate(parts))


def snippet(text: str, words: Sequence[str]) -> str:
    """The words of a text around the first of those sought, as HTML; empty where none is found."""
    pattern = _pattern(words)
    found = pattern.search(text) if pattern else None
    if pattern is None or found is None:
        return ""
    low, high = max(0, found.start() - REACH), found.end() + REACH
    line = words_of(text[low:high])
    again = pattern.search(line)
    if again is None:  # it stands in what is not shown, as in the address of a link
        return ""
    start = max(0, again.start() - BEFORE)
    end = min(len(line), start + LENGTH)
    before = "…" if low or start else ""
    after = "…" if high < len(text) or end < len(line) else ""
    return f"{before}{marked(line[start:end], words)}{after}"


def _pattern(words: Sequence[str]) -> re.Pattern[str] | None:
    longest_first = sorted(filter(None, words), key=len, reverse=True)
    return re.compile(f"({'|'.join(map(re.escape, longest_first))})", re.IGNORECASE) if longest_first else None

"""How the end of one line and the beginning of the next become one text."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable

from ingest.formats.pdf.glyphs import SOFT_HYPHENS

HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
WORD = re.compile(r"[^\W\d_]{2,}")
LAST_WORD = re.compile(r"(\S*?)([^\W\d_]+)-$")
FIRST_WORD = re.compile(r"[^\W\d_]+")
ADDRESS = re.compile(r"(?:\w+://|www\.)\S*[/_=&?#%.-]$")


class Words:
    """The words of a document, which distinguish a hyphen at a line end from one that belongs to its word."""

    def __init__(self, texts: Callable[[], Iterable[str]]) -> None:
        self._texts = texts
        self._whole: Counter[str] = Counter()
        self._hyphenated: set[str] = set()
        self._is_counted = False

    def has_hyphen(self, before: str, after: str) -> bool:
        """Whether a word broken after a hyphen keeps it: the document elsewhere writes the word so, or both halves as
        words of their own, or the second half has a capital; and it never writes the word without the hyphen."""
        self._count()
        is_name = not after[0].islower()
        before, after = before.lower(), after.lower()
        if self._whole[before + after]:
            return False
        # Each half occurs once at this line end itself.
        return is_name or f"{before}-{after}" in self._hyphenated or min(self._whole[before], self._whole[after]) > 1

    def _count(self) -> None:
        if self._is_counted:
            return
        self._is_counted = True
        for text in self._texts():
            lower = text.lower()
            if "-" in lower:
                self._hyphenated.update(HYPHENATED.findall(lower))
            self._whole.update(WORD.findall(lower))


def glue(before: str, text: str, words: Words) -> tuple[str, int]:
    """The separator of the two halves of a broken text, and how many characters to cut from the first."""
    last, first = before[-1:], text[:1]
    if last == "-" and before[-2:-1].isalnum():
        parted, follows = LAST_WORD.search(before), FIRST_WORD.match(text)
        if parted is None or follows is None:
            return ("", 0) if first.isalnum() else (" ", 0)
        is_address = "-" in parted[1] or "://" in parted[1]
        return "", 0 if is_address or words.has_hyphen(parted[2], follows[0]) else 1
    if is_wide(last) or is_wide(first) or ADDRESS.search(before) or _is_off_the_line(text) or last == "—":
        return "", 0
    return " ", 0


def is_wide(character: str) -> bool:
    """Whether a character belongs to a script that is written without spaces (not Korean)."""
    return bool(character) and unicodedata.east_asian_width(character) in "WF" and not _is_hangul(character)


def units(text: str) -> float:
    """The width of a text: two for a Chinese character, one for any other."""
    return sum(2.0 if unicodedata.east_asian_width(character) in "WF" else 1.0 for character in text)


def _is_hangul(character: str) -> bool:
    return "\uac00" <= character <= "\ud7a3" or "\u1100" <= character <= "\u11ff"


def _is_off_the_line(text: str) -> bool:
    """Whether an exponent or index begins the line: it belongs to the text before the line break."""
    return text.startswith(("^{", "_{")) or (
        bool(text) and unicodedata.decomposition(text[0]).startswith(("<super", "<sub"))
    )


def normal(text: str) -> str:
    """The text with ligatures and radicals replaced by their letters, and soft hyphens by hyphens."""
    for hyphen in SOFT_HYPHENS:
        text = text.replace(hyphen, "-")
    if any("\u2e80" <= c <= "\u2fdf" or "\ufb00" <= c <= "\ufb06" or "\uf900" <= c <= "\ufaff" for c in text):
        text = "".join(
            unicodedata.normalize("NFKC", c) if "\u2e80" <= c <= "\u2fdf" or "\ufb00" <= c <= "\ufb06" else c
            for c in text
        )
    return text.strip()

"""Keeps passages with the same text once, with all their places.

Texts are the same if they agree letter for letter, whatever their case, width, script, numbering, emphasis, line ends
and most punctuation. A single word, figure or name may be all that distinguishes two answers, so passages that are
merely similar are not merged.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace

from rag.index.storage import StoredDocument
from rag.language.numbering import without_numbering
from rag.language.terms import fold

DIGEST = 16
LINE_MARK = re.compile(r"(?:\s*(?:#+|[-*+•·>])\s+)?")
# A blank, but not between Latin words or figures.
BLANK = re.compile(r" (?:(?<![a-z0-9] )|(?![a-z0-9]))")
# Emphasis, quotation marks, and what ends or divides sentences; not a point or comma within a figure or a name.
SAYS_NOTHING = re.compile(r"\*\*|[、。：；…“”‘’\"'「」『』]|[.,;:](?=\s|$|[^\x00-\x7f])")


def fingerprint(text: str) -> bytes:
    """A digest of a text; texts that are the same in the sense above have the same digest."""
    folded = fold("\n".join(without_numbering(LINE_MARK.sub("", line, count=1)) for line in text.splitlines()))
    said = BLANK.sub("", " ".join(SAYS_NOTHING.sub("", folded).split()))
    return hashlib.blake2b(said.encode(), digest_size=DIGEST).digest()


def find_repeats(fingerprints: Sequence[bytes]) -> list[int | None]:
    """For each text, by its fingerprint, the index of the earlier text that it repeats; None if it is new."""
    first: dict[bytes, int] = {}
    return [
        None if (earlier := first.setdefault(mark, place)) == place else earlier
        for place, mark in enumerate(fingerprints)
    ]


def number_passages(documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    """Number the passages in document order; `same_as` of one that repeats an earlier passage is that passage's
    number."""
    passages = [p for d in documents for p in d.passages]
    repeats = find_repeats([p.fingerprint or fingerprint(p.content.text) for p in passages])
    numbers: list[int | None] = []
    count = 0
    for repeat in repeats:
        numbers.append(count if repeat is None else None)
        count += repeat is None
    numbered = [
        replace(passage, number=number, same_as=None if repeat is None else numbers[repeat])
        for passage, number, repeat in zip(passages, numbers, repeats, strict=True)
    ]
    places = iter(numbered)
    return [replace(document, passages=tuple(next(places) for _ in document.passages)) for document in documents]

"""Passages that say the same, exactly or nearly, are kept once, with all their places.

Nearly: the same but for punctuation, numbering and a few characters. Passages whose numbers, Latin terms, negations or
opposites differ are never merged: `ZeRO-2` and `ZeRO-3` may be all that tells two answers apart.
"""

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from rapidfuzz import fuzz

from ingest.structure import without_numbering
from rag.analysis import fold

NEAR = 95.0
SHINGLE = 8
# Bottom-k sketch (Broder 1997): near-equal texts share most of their smallest shingle hashes.
SKETCH = 8
# Passages that share a shingle with this many earlier ones are a form filled in over and over.
MAX_SHARING = 50
MARKS = re.compile(r"[\W_]+")
LINE_MARK = re.compile(r"^\s*(?:#+|[-*+•·>])\s+")
# What may turn an answer into another one: numbers, Latin terms, operators, negations, one of two opposites.
DECISIVE = re.compile(
    r"\d+(?:\.\d+)*|[a-z]+|(?<![\w-])[-−](?=\d)|[<>=≤≥≠+*/%^×÷]"
    r"|[不没无非未否勿别大小高低多少增减升降加前后先上下左右内外入出快慢长短强弱优缺正负真假开关有难易]"
)


def find_repeats(texts: Sequence[str]) -> list[int | None]:
    """For each text the place of the earlier text that it repeats; None where it says something new."""
    said = [_said(text) for text in texts]
    first_with: dict[tuple[str, tuple[str, ...]], int] = {}
    by_hash: defaultdict[int, list[int]] = defaultdict(list)
    result: list[int | None] = []
    for place, (plain, decisive) in enumerate(said):
        earlier = first_with.get((plain, decisive))
        if earlier is None:
            sketch = _sketch(plain)
            votes = Counter(other for value in sketch for other in by_hash[value])
            candidates = sorted(other for other, count in votes.items() if 2 * count >= len(sketch))
            earlier = next(
                (
                    other
                    for other in candidates
                    if decisive == said[other][1] and fuzz.ratio(said[other][0], plain, score_cutoff=NEAR)
                ),
                None,
            )
        if earlier is None:
            first_with[plain, decisive] = place
            for value in sketch:
                if len(by_hash[value]) < MAX_SHARING:
                    by_hash[value].append(place)
        result.append(earlier)
    return result


def _said(text: str) -> tuple[str, tuple[str, ...]]:
    """The letters of a text without its marks and numbering, and what is decisive in it."""
    folded = fold("\n".join(without_numbering(LINE_MARK.sub("", line)) for line in text.splitlines()))
    return MARKS.sub("", folded), tuple(DECISIVE.findall(folded.replace("**", "")))


def _sketch(text: str) -> list[int]:
    shingles = {text[start : start + SHINGLE] for start in range(max(1, len(text) - SHINGLE + 1))}
    return sorted(int.from_bytes(hashlib.blake2b(shingle.encode(), digest_size=8).digest()) for shingle in shingles)[
        :SKETCH
    ]

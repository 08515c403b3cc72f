"""Passages that say the same, exactly or nearly, are kept once, with all their places.

Nearly: the same but for punctuation, numbering and a few characters. Passages whose numbers or Latin terms differ are
never merged:
`ZeRO-2` and `ZeRO-3` may be all that tells two answers apart.
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
MARKS = re.compile(r"[\W_]+")
LATIN = re.compile(r"[a-z0-9]+")
NEGATIONS = re.compile(r"[不没無无非未]|\bnot?\b|n't")


def find_repeats(texts: Sequence[str]) -> list[int | None]:
    """For each text the place of the earlier text that it repeats; None where it says something new."""
    plain = [_plain(text) for text in texts]
    first_with: dict[str, int] = {}
    by_hash: defaultdict[int, list[int]] = defaultdict(list)
    result: list[int | None] = []
    for place, text in enumerate(plain):
        earlier = first_with.get(text)
        sketch = _sketch(text)
        if earlier is None:
            votes = Counter(other for value in sketch for other in by_hash[value])
            candidates = sorted(other for other, count in votes.items() if 2 * count >= len(sketch))
            earlier = next(
                (other for other in candidates if _nearly_same(plain[other], text, texts[other], texts[place])), None
            )
        if earlier is None:
            first_with[text] = place
            for value in sketch:
                by_hash[value].append(place)
        result.append(earlier)
    return result


def _plain(text: str) -> str:
    return MARKS.sub("", fold("\n".join(without_numbering(line.lstrip("# ")) for line in text.splitlines())))


def _sketch(text: str) -> list[int]:
    shingles = {text[start : start + SHINGLE] for start in range(max(1, len(text) - SHINGLE + 1))}
    return sorted(int.from_bytes(hashlib.blake2b(shingle.encode(), digest_size=8).digest()) for shingle in shingles)[
        :SKETCH
    ]


def _nearly_same(plain_a: str, plain_b: str, text_a: str, text_b: str) -> bool:
    if fuzz.ratio(plain_a, plain_b, score_cutoff=NEAR) < NEAR:
        return False
    return LATIN.findall(plain_a) == LATIN.findall(plain_b) and NEGATIONS.findall(fold(text_a)) == NEGATIONS.findall(
        fold(text_b)
    )

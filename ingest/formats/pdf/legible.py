"""Letters that a PDF shows but does not name: their font has no mapping to Unicode, or one to private characters."""

import re
from collections.abc import Sequence
from dataclasses import replace

from ingest.formats.pdf.glyphs import GUESSED_SPACE, SOFT_HYPHENS, Run

# Codes that stand for no letter.
NAMELESS = re.compile("[\x00-\x01\x03-\x08\x0b\x0c\x0e-\x1e\x7f-\x9f\ue000-\uf8ff\ufffd\U000f0000-\U0010ffff]")
# Text from unmapped codes is trusted if it looks like a language: mostly letters, with as many vowels among them as
# English, German or Spanish have.
LEAST_LETTERS, LEAST_VOWELS, MOST_VOWELS, LEAST_SAMPLE = 0.6, 0.22, 0.65, 12
VOWELS = frozenset("aeiouyAEIOUY")
BULLET = "•"
UNREAD = "\ufffd"


def legible(runs: Sequence[Run]) -> tuple[list[Run], int]:
    """The runs that can be read as text, and how many letters cannot. In an otherwise readable line, a sign replaces
    them."""
    if not any(run.is_unmapped or NAMELESS.search(run.text) for run in runs):
        return list(runs), 0
    unmapped = "".join(run.text for run in runs if run.is_unmapped)
    trusts = not unmapped or _is_language(unmapped)
    kept: list[Run] = []
    lost = 0
    for number, run in enumerate(runs):
        bad = [
            place
            for place, character in enumerate(run.text)
            if character not in (" ", GUESSED_SPACE)
            and ((run.is_unmapped and not trusts) or (NAMELESS.match(character) and character not in SOFT_HYPHENS))
        ]
        if not bad:
            kept.append(run)
            continue
        letters = sum(character not in (" ", GUESSED_SPACE) for character in run.text)
        if letters == 1 and run.begins_row and _goes_on(runs, number):
            kept.append(replace(run, text=BULLET, lefts=run.lefts[:1], rights=run.rights[:1], is_unmapped=False))
            continue
        lost += len(bad)
        if 2 * len(bad) <= letters:
            kept.append(replace(run, text="".join(UNREAD if n in set(bad) else c for n, c in enumerate(run.text))))
        elif _is_within_line(runs, number, trusts):
            kept.append(replace(run, text=UNREAD, lefts=run.lefts[:1], rights=run.rights[-1:]))
    return kept, lost


def _is_language(text: str) -> bool:
    shown = [character for character in text if not character.isspace() and character != GUESSED_SPACE]
    letters = [character for character in shown if character.isalpha()]
    if len(letters) < LEAST_LETTERS * len(shown) or len(shown) < LEAST_SAMPLE:
        return False
    return LEAST_VOWELS <= sum(letter in VOWELS for letter in letters) / len(letters) <= MOST_VOWELS


def _goes_on(runs: Sequence[Run], number: int) -> bool:
    """Whether another run follows on the same line, so that this one may be the mark before an item."""
    following = runs[number + 1] if number + 1 < len(runs) else None
    return following is not None and not following.begins_row and not following.is_unmapped


def _is_within_line(runs: Sequence[Run], number: int, trusts: bool) -> bool:
    """Whether a neighbour of a run on its line can be read."""
    before = number > 0 and not runs[number].begins_row and (trusts or not runs[number - 1].is_unmapped)
    return before or _goes_on(runs, number)

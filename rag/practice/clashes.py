"""Whether an attempt denies a point, or gives another number, name or direction for it.

Clauses are compared as for a chat model (`rag.answer.written.claims`): only clauses on the same subject can clash.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from rag.answer.written.claims import Clause, clauses_of, counts_otherwise
from rag.language.polarity import contradicts
from rag.language.sentence_kinds import plain
from rag.practice.attempt import Sentence
from rag.practice.regressions import Features

# Sentences with cached clauses, some 2 kB each.
REMEMBERED = 4_096


@dataclass(frozen=True, slots=True)
class ClashFeatures(Features):
    """The overlap (0..1) of clauses of which one denies the other or reverses it (`polarity`), counts otherwise
    (`numbers`) or names another (`names`); `agreed` is that of the nearest clauses without a clash."""

    polarity: float = 0.0
    numbers: float = 0.0
    names: float = 0.0
    agreed: float = 0.0


Weight = Callable[[str], float]


@lru_cache(REMEMBERED)
def clauses_in(text: str) -> tuple[Clause, ...]:
    """The clauses of a sentence, without Markdown marks."""
    return tuple(clauses_of(plain(text)))


def clash_with(sentences: Iterable[Sentence], point: str, weight: Weight) -> ClashFeatures:
    """The clash of an attempt's claims with a point: each clause of the point meets the nearest clause of the
    attempt."""
    said = [clause for sentence in sentences for clause in clauses_in(sentence.text)]
    strength = {"polarity": 0.0, "numbers": 0.0, "names": 0.0, "agreed": 0.0}
    for wanted in clauses_in(point):
        nearest = max(said, key=lambda clause: _common(clause, wanted, weight), default=None)
        if nearest is not None and (near := _common(nearest, wanted, weight)) > 0:
            kind = _kind(nearest, wanted)
            strength[kind] = max(strength[kind], near)
    return ClashFeatures(**strength)


def is_reversed(said: str, point: str) -> bool:
    """Whether `said` denies a clause of a point or reverses its direction, rather than giving another number or name
    for it."""
    claims = clauses_in(said)
    for wanted in clauses_in(point):
        nearest = max(claims, key=lambda clause: _common(clause, wanted, lambda _: 1.0), default=None)
        if nearest is not None and nearest.terms & wanted.terms and _kind(nearest, wanted) == "polarity":
            return True
    return False


def _kind(said: Clause, wanted: Clause) -> str:
    if contradicts(said.polarity, wanted.polarity):
        return "polarity"
    if counts_otherwise(said, wanted):
        return "numbers"
    names = {word for word in said.exact if word[0].isalpha()}, {word for word in wanted.exact if word[0].isalpha()}
    return "names" if names[0] - names[1] and names[1] - names[0] else "agreed"


def _common(said: Clause, wanted: Clause, weight: Weight) -> float:
    """The overlap of two clauses' terms (Dice), weighted by rarity."""
    both = sum(map(weight, said.terms & wanted.terms))
    return 2 * both / max(sum(map(weight, said.terms)) + sum(map(weight, wanted.terms)), 1e-9)

"""Whether a clause denies another, or says the opposite: negations and opposites, in tables.

They replace an entailment model, which on a laptop could not keep up with a stream.
"""

import re
from dataclasses import dataclass

from rag.language.lexicon import each, either, told_by
from rag.language.terms import CHINESE

# Words with a negating character but no negation.
NEUTRAL = told_by("polarity", "neutral")
NEGATION = told_by("polarity", "negation")
# Auxiliaries allowed between a negation and what it negates.
AUXILIARY = re.compile(rf"(?:\s|{either('polarity', 'auxiliary')})*")
# The negated word: two characters, or the beginning of a word, for its ending depends on the negation (need, needs).
HEAD = re.compile(rf"{CHINESE}{{2}}|\\?[a-z]{{1,5}}|\d+")
ONLY, NOT_ONLY = told_by("polarity", "only"), told_by("polarity", "not_only")
# Interchangeable opposites: pairs of characters, and longer words.
POLES = tuple(
    (re.compile(one), re.compile(other)) for one, other in (pair.split(" / ") for pair in each("polarity", "opposites"))
)
# Words with such a character but no direction.
POINTLESS = told_by("polarity", "pointless")


@dataclass(frozen=True, slots=True)
class Polarity:
    """A clause in folded text without markup; `negated` holds the beginnings of the words that it negates."""

    text: str
    negates: bool
    negated: tuple[str, ...]


def polarity_of(folded: str) -> Polarity:
    """The polarity of a folded clause without markup.

    >>> polarity_of("bf16 不需要损失缩放").negated
    ('损失',)
    """
    plain = NEUTRAL.sub(" ", folded)
    heads = (HEAD.match(plain, _after(plain, negation)) for negation in NEGATION.finditer(plain))
    return Polarity(folded, bool(NEGATION.search(plain)), tuple(head[0] for head in heads if head))


def contradicts(claim: Polarity, evidence: Polarity) -> bool:
    """Whether one clause denies the other, or says the opposite."""
    if claim.negates != evidence.negates or _affirms_negated(claim, evidence) or _affirms_negated(evidence, claim):
        return True
    if bool(NOT_ONLY.search(claim.text)) != bool(NOT_ONLY.search(evidence.text)) and all(
        ONLY.search(clause.text) for clause in (claim, evidence)
    ):
        return True
    return points_elsewhere(claim.text, evidence.text)


def _affirms_negated(one: Polarity, other: Polarity) -> bool:
    """Whether `one` says without a negation what `other` negates."""
    plain = NEUTRAL.sub(" ", one.text)
    ends = {_after(plain, negation) for negation in NEGATION.finditer(plain)}
    return any(head in plain and not any(plain.startswith(head, end) for end in ends) for head in other.negated)


def points_elsewhere(claim: str, evidence: str) -> bool:
    """Whether the claim has more of one pole than the evidence and less of the other."""
    claim, evidence = POINTLESS.sub(" ", claim), POINTLESS.sub(" ", evidence)
    if claim == evidence:
        return False
    for poles in POLES:
        a, b = (len(pole.findall(claim)) - len(pole.findall(evidence)) for pole in poles)
        if a * b < 0:
            return True
    return False


def _after(text: str, negation: re.Match[str]) -> int:
    """Where negated words begin."""
    auxiliary = AUXILIARY.match(text, negation.end())
    return auxiliary.end() if auxiliary else negation.end()

"""What comparing two statements rests on: how rare words are, and which figures stand where."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rag.review.figures import Figure
from rag.review.readings import RAREST, Clause, Reading, rarity
from rag.text.language import Language
from rag.text.terms import fold

# Phases and parts of which each has figures of its own.
SETTINGS = tuple(
    (re.compile(one), re.compile(other))
    for one, other in (
        (r"训练|\btrain", r"推理|解码|部署|\binfer|\bdecod|\bserv"),
        (r"预填充|\bprefill", r"解码|\bdecod"),
        (r"权重|\bweights?\b", r"激活|\bactivation"),
        (r"前向|\bforward", r"反向|\bbackward"),
    )
)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What two statements say differently, the rarest words of both, and how surely they speak of the same, 0..1."""

    differing: tuple[str, str]
    shared: tuple[str, ...]
    score: float

    def swapped(self) -> "Disagreement":
        return replace(self, differing=(self.differing[1], self.differing[0]))


# From this weight of words on, and of those that are no names, a clause says by itself what it speaks of.
ENOUGH, SAID = 9.0, 6.0
# Counts of these are found on many a page for many a thing.
COMMON = frozenset({"", "个", "token", "layer", "head", "step", "time", "bit", "times", "percent"})


@dataclass(frozen=True, slots=True)
class Part:
    """A clause, with as many words from before it as it takes to say what it speaks of; `weight` is theirs.

    `inherited` are the names that it takes from before it, or from the headings, where it has none of its own. `topic`
    holds all names up to it.
    """

    clause: Clause
    words: frozenset[str]
    names: frozenset[str]
    inherited: frozenset[str]
    topic: frozenset[str]
    weight: float

    @property
    def subject(self) -> frozenset[str]:
        return self.names or self.inherited


@dataclass(frozen=True, slots=True)
class Comparison:
    """Over all statements: the rarity of each word, and the figures of each document, section and language."""

    rarity: Mapping[str, float]
    in_document: Mapping[str, list[Figure]]
    in_section: Mapping[tuple[str, tuple[str, ...]], list[Figure]]
    in_language: Mapping[tuple[str, Language], list[Figure]]

    @classmethod
    def over(cls, readings: Sequence[Reading]) -> "Comparison":
        in_document: dict[str, list[Figure]] = defaultdict(list)
        in_section: dict[tuple[str, tuple[str, ...]], list[Figure]] = defaultdict(list)
        in_language: dict[tuple[str, Language], list[Figure]] = defaultdict(list)
        for reading in readings:
            place = reading.statement
            in_document[place.document] += reading.figures
            in_section[place.document, place.section] += reading.figures
            in_language[place.document, place.language] += reading.figures
        return cls(rarity(readings), in_document, in_section, in_language)

    def weight(self, words: Iterable[str]) -> float:
        """How much words say together. One that stands nowhere is the rarest."""
        return sum(self.rarity.get(word, RAREST) for word in words)

    def parts(self, reading: Reading) -> list[Part]:
        parts: list[Part] = []
        for place, clause in enumerate(reading.clauses):
            before = reading.clauses[:place]
            first, words = place, clause.words
            while first and (self.weight(words) < ENOUGH or self.weight(words - clause.names) < SAID):
                first -= 1
                words = words | reading.clauses[first].words
            nearest = next((each.names for each in reversed(before) if each.names), reading.names or reading.context)
            inherited = frozenset[str]() if clause.names else nearest
            words = words | inherited
            topic = clause.names.union(*(each.names for each in before))
            parts.append(Part(clause, words, clause.names, inherited, topic, self.weight(words)))
        return parts

    def rarest(self, words: Iterable[str], count: int = 6) -> tuple[str, ...]:
        return tuple(sorted(words, key=lambda word: (-self.weight((word,)), word))[:count])

    def knows(self, place: Reading, figure: Figure, *, same_document: bool) -> bool:
        """Whether a figure of another statement stands near this one too: then the writer knows it, for another
        condition. In another document that is anywhere, but for common counts; in the same one its section."""
        where = place.statement
        if same_document or figure.unit in COMMON:
            near = self.in_section.get((where.document, where.section), [])
        else:
            near = self.in_document.get(where.document, [])
        return figure.is_among((*near, *place.figures))


def same_subject(one: Reading, a: Part, other: Reading, b: Part) -> bool:
    """Whether parts of two statements speak of the same: what each of them names is named by the other statement too,
    or by the headings above it; of what was named before, they share some, and only one of them has more."""
    known, others_known = one.names | one.context, other.names | other.context
    if not (a.names <= others_known and b.names <= known):
        return False
    if (a.subject or b.subject) and not (a.subject & others_known and b.subject & known):
        return False
    if _set_apart(fold(a.clause.text), fold(b.clause.text)):
        return False
    return a.topic <= others_known or b.topic <= known


def _set_apart(one: str, other: str) -> bool:
    """Whether one clause speaks of training and the other one of inference, say."""
    for left, right in SETTINGS:
        holds = [bool(setting.search(text)) for text in (one, other) for setting in (left, right)]
        if holds in ([True, False, False, True], [False, True, True, False]):
            return True
    return False

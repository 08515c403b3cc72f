"""Which sentences of the evidence support a sentence that a chat model wrote.

Model text never decides what a citation points at.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.analysis import CHINESE_RUN, LATIN_TERM, fold, terms
from rag.index import Index
from rag.sentences import UnitKind, units
from rag.types import Citation, Passage

# Share of a sentence's terms, weighted by rarity, that must stand in what it cites.
SUPPORT = 0.5
# Not in round brackets, for O(1) is no marker, and not in code.
MODEL_MARKERS = re.compile(
    r"(`[^`\n]+`)|\s*[\[【［]\s*\^?\d{1,3}(?:\s*[-–,，、]\s*\d{1,3})*(?:†[^\]】］\n]*)?\s*[\]】］]"
)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
EXACT = re.compile(rf"{NUMBER.pattern}|{LATIN_TERM}")
# In an English sentence: what is written like a name (LoRA, bf16, W4A16).
NAME = re.compile(r"(?=[A-Za-z])(?:\w*[A-Z][\w]*[A-Z]|\w*[A-Za-z]-?\d)[\w.+#-]*")
# Words with a negating character that negate nothing.
NEUTRAL = re.compile(r"不同|不仅|不只|不但|不过|不断|不少|不论|不管|不等式|不妨|不变|差不多|未来|\bnot only\b|\bno\.")
NEGATION = re.compile(
    r"无需|无法|无关|毫无|并非|未|不|没|\bnot\b|\bno\b|\bnor\b|\bcannot\b|n't\b|\bnever\b|\bwithout\b"
)


CLAUSE_END = re.compile(r"[，,；;：:。！？!?]\s*|\b(?:but|while|whereas)\b")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that is affirmed or negated as one."""

    terms: frozenset[str]
    exact: frozenset[str]
    negates: bool


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A quotable unit of a retrieved passage: its citation without a marker, its terms and those of its headings."""

    citation: Citation
    terms: frozenset[str]
    exact: frozenset[str]
    clauses: tuple[Clause, ...]


def evidence_sentences(passages: Sequence[Passage], sources: dict[str, str]) -> list[EvidenceSentence]:
    """Every unit of the passages that can be quoted, in order."""
    result = []
    for passage in passages:
        context = " ".join((passage.title, *passage.section))
        for unit in units(passage.text):
            span = passage.content.source_range(unit.start, unit.end)
            if unit.kind is UnitKind.HEADING or span is None:
                continue
            text = passage.text[unit.start : unit.end]
            result.append(
                EvidenceSentence(
                    Citation(
                        0,
                        passage.document,
                        passage.title,
                        span[0],
                        span[1],
                        sources[passage.document][span[0] : span[1]],
                    ),
                    frozenset(terms(f"{context} {text}")),
                    # The numbers of a heading mostly count the headings.
                    frozenset(EXACT.findall(fold(text)))
                    | {word for word in EXACT.findall(fold(context)) if not word[0].isdigit()},
                    tuple(_clauses(text)),
                )
            )
    return result


def supporting(sentence: str, evidence: Sequence[EvidenceSentence], index: Index) -> list[EvidenceSentence]:
    """The one or two evidence sentences that carry the sentence; none where it is not supported.

    Each clause's numbers and Latin terms (in English: its names) must all stand in one of them, and where that one
    negates what the clause is about, so must the clause, and the other way round.
    """
    wanted = frozenset(terms(sentence))
    if not wanted:
        return []
    weights = {term: index.keywords.ceiling([term]) for term in wanted}
    clauses = _clauses(sentence)

    def weight(held: frozenset[str]) -> float:
        return sum(weights[term] for term in wanted & held)

    def carries(chosen: Sequence[EvidenceSentence]) -> bool:
        if weight(frozenset().union(*(unit.terms for unit in chosen))) < SUPPORT * sum(weights.values()):
            return False
        for clause in clauses:
            parts = [part for unit in chosen if clause.exact <= unit.exact for part in unit.clauses]
            nearest = max(parts, key=lambda part: weight(part.terms & clause.terms), default=None)
            if nearest is None or nearest.negates != clause.negates:
                return False
        return True

    ranked = sorted(evidence, key=lambda unit: -weight(unit.terms))[:8]
    singles = [[unit] for unit in ranked]
    pairs = [[a, b] for place, a in enumerate(ranked[:4]) for b in ranked[place + 1 : 4]]
    return next((chosen for chosen in (*singles, *pairs) if carries(chosen)), [])


def _clauses(sentence: str) -> list[Clause]:
    return [
        Clause(
            frozenset(terms(text)),
            frozenset(_exact(text, english=not re.search(CHINESE_RUN, sentence))),
            _negates(text),
        )
        for text in CLAUSE_END.split(sentence)
        if terms(text)
    ]


def _exact(text: str, *, english: bool) -> set[str]:
    """What must stand in the evidence as it is. Of plain English words the share that stands there is enough."""
    if not english:
        return set(EXACT.findall(fold(text)))
    names = (fold(name.rstrip(".-")) for name in NAME.findall(text))
    return set(NUMBER.findall(NAME.sub(" ", text))) | {part for name in names for part in EXACT.findall(name)}


def _negates(text: str) -> bool:
    return bool(NEGATION.search(NEUTRAL.sub(" ", fold(text))))


def without_model_markers(sentence: str) -> str:
    """The sentence without the citation markers that the model wrote; they are hints at best."""
    return MODEL_MARKERS.sub(r"\1", sentence)

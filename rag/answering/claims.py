"""Which sentences of the evidence support a sentence that a chat model wrote.

Model text never decides what a citation points at.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.analysis import LATIN_TERM, fold, terms
from rag.index import Index
from rag.sentences import UnitKind, units
from rag.types import Citation, Passage

# Share of a sentence's terms, weighted by rarity, that must stand in what it cites.
SUPPORT = 0.5
MAX_QUOTES = 2
MODEL_MARKERS = re.compile(r"\s*[\[【(（]\s*\d{1,2}(?:\s*[,，、]\s*\d{1,2})*\s*[\]】)）]")
EXACT = re.compile(rf"\d+(?:\.\d+)?|{LATIN_TERM}")
NEGATION = re.compile(r"不是|不会|不能|不需要|没有|无需|无法|并非|未|不|没|\bnot\b|\bno\b|n't|\bnever\b|\bwithout\b")


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A quotable unit of a retrieved passage: its citation without a marker, its terms and those of its headings."""

    citation: Citation
    terms: frozenset[str]
    exact: frozenset[str]
    negations: int


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
                    frozenset(EXACT.findall(fold(f"{context} {text}"))),
                    len(NEGATION.findall(fold(text))),
                )
            )
    return result


def supporting(sentence: str, evidence: Sequence[EvidenceSentence], index: Index) -> list[EvidenceSentence]:
    """The one or two evidence sentences that carry the sentence; none where it is not supported.

    Its numbers and Latin terms must all stand in them, and a negation on one side must stand on the other.
    """
    wanted = set(terms(sentence))
    if not wanted:
        return []
    weights = {term: index.keywords.ceiling([term]) for term in wanted}
    total = sum(weights.values())
    exact = set(EXACT.findall(fold(sentence)))
    negated = bool(NEGATION.search(fold(sentence)))

    def share(held: frozenset[str]) -> float:
        return sum(weights[term] for term in wanted & held) / total

    ranked = sorted(evidence, key=lambda unit: -share(unit.terms))[:8]
    singles = [[unit] for unit in ranked]
    pairs = [[a, b] for a in ranked[:4] for b in ranked[:4] if a is not b]
    for chosen in (*singles, *pairs):
        held = frozenset().union(*(unit.terms for unit in chosen))
        if (
            share(held) >= SUPPORT
            and exact <= frozenset().union(*(unit.exact for unit in chosen))
            and negated == any(unit.negations for unit in chosen)
        ):
            return chosen
    return []


def without_model_markers(sentence: str) -> str:
    """The sentence without the citation markers that the model wrote; they are hints at best."""
    return MODEL_MARKERS.sub("", sentence)

"""Which sentences of the evidence support a sentence that a chat model wrote.

Model text never decides what a citation points at.
"""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag.index import Index
from rag.language.claim_marks import NUMBER, quantities
from rag.language.ends import CLAUSE_END
from rag.language.injection import injection_spans, overlaps
from rag.language.language import has_chinese
from rag.language.polarity import Polarity, contradicts, polarity_of
from rag.language.terms import CHINESE, LATIN_TERM, fold, terms
from rag.text.sentences import UnitKind, units
from rag.types import Citation, Passage

# Share of a sentence's terms, weighted by rarity, that must occur in its citations.
SUPPORT = 0.5
# Share of a clause's terms, weighted likewise, from which a clause of the evidence is about the same: if that one says
# the opposite or another number, no other makes up for it.
NEAR = 0.7
# Not in round brackets, since O(1) is not a marker, and not in code.
MODEL_MARKERS = re.compile(
    r"(`[^`\n]+`)|\s*[\[【［]\s*\^?\d{1,3}(?:\s*[-–,，、]\s*\d{1,3})*(?:†[^\]】］\n]*)?\s*[\]】］]"
)
EXACT = re.compile(rf"{NUMBER.pattern}|{LATIN_TERM}")
# In an English sentence: a word written like a name (LoRA, bf16, W4A16), or capitalised within it (… with Adam).
NAME = re.compile(r"(?=[A-Za-z])(?:\w*[A-Z][\w-]*[A-Z]|\w*[A-Za-z]-?\d|(?<=[a-z,;)] )[A-Z][a-z])[\w.+#-]*")
MARKUP = re.compile(rf"[*`]|(?<={CHINESE})\s+|\s+(?={CHINESE})")

FORMULA = re.compile(r"\$+([^$]+)\$")
FORMULA_TOKEN = re.compile(r"\\[a-z]+|[a-z]+|\d+(?:\.\d+)?|[^\s{}$\\]")
# The typesetting of a formula, not its content.
TYPESETTING = re.compile(r"\\(?:math[a-z]+|text|operatorname|left|right|big[lr]?|d?frac|tfrac|[,;! ])(?![a-z])")


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence that is affirmed or negated as one. Each of its `formulas` is a row of symbols."""

    polarity: Polarity
    terms: frozenset[str]
    exact: frozenset[str]
    numbers: tuple[str, ...]
    formulas: tuple[tuple[str, ...], ...]


Formula = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class EvidenceSentence:
    """A quotable unit of a retrieved passage: its citation without a marker, its terms and those of its headings."""

    citation: Citation
    terms: frozenset[str]
    exact: frozenset[str]
    formulas: frozenset[Formula]
    clauses: tuple[Clause, ...]


def evidence_sentences(passages: Sequence[Passage], sources: dict[str, str]) -> list[EvidenceSentence]:
    """Every unit of the passages that can be quoted, in order, except orders to a model."""
    result = []
    for passage in passages:
        context = " ".join((passage.title, *passage.section))
        orders = injection_spans(passage.text)
        for unit in units(passage.text, passage.blocks):
            span = passage.content.source_range(unit.start, unit.end)
            if unit.kind is UnitKind.HEADING or span is None:
                continue
            if overlaps(orders, unit.start, unit.end):
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
                    | quantities(text)
                    | {word for word in EXACT.findall(fold(context)) if not word[0].isdigit()},
                    _formulas(text),
                    tuple(clauses_of(text)),
                )
            )
    return result


def supporting(sentence: str, evidence: Sequence[EvidenceSentence], index: Index) -> list[EvidenceSentence]:
    """The one or two evidence sentences that support the sentence; none if it is not supported.

    Symbols that are adjacent in one of its formulas must be adjacent in one of theirs. Each clause's numbers and Latin
    terms (in English: its names) must all occur in one of them, and the nearest clause there must not contradict it:
    neither may affirm what the other negates, and no word may be replaced by its opposite, no number or formula by
    another.
    """
    wanted = frozenset(terms(sentence))
    if not wanted:
        return []
    weights = {term: index.keywords.ceiling([term]) for term in wanted}
    clauses = clauses_of(sentence)
    formulas = _formulas(sentence)

    def weight(held: frozenset[str]) -> float:
        return sum(weights[term] for term in wanted & held)

    def carries(chosen: Sequence[EvidenceSentence]) -> bool:
        if weight(frozenset().union(*(unit.terms for unit in chosen))) < SUPPORT * sum(weights.values()):
            return False
        written = [formula for unit in chosen for formula in unit.formulas]
        if not all(any(formula <= known for known in written) for formula in formulas):
            return False
        for clause in clauses:
            parts = [part for unit in chosen if clause.exact <= unit.exact for part in unit.clauses]
            nearest = nearest_to(clause, parts)
            if nearest is None or contradicts(clause.polarity, nearest.polarity):
                return False
        return True

    def nearest_to(clause: Clause, parts: Iterable[Clause]) -> Clause | None:
        # Of clauses that share as much, the shorter one is meant.
        return max(parts, key=lambda part: (weight(part.terms & clause.terms), -len(part.terms)), default=None)

    ranked = sorted(evidence, key=lambda unit: -weight(unit.terms))[:8]
    for clause in clauses:
        nearest = nearest_to(clause, (part for unit in ranked for part in unit.clauses))
        if nearest is None or weight(nearest.terms & clause.terms) < NEAR * weight(clause.terms):
            continue
        exchanged = counts_otherwise(clause, nearest) or writes_otherwise(clause, nearest)
        if exchanged or contradicts(clause.polarity, nearest.polarity):
            return []
    singles = [[unit] for unit in ranked]
    pairs = [[a, b] for place, a in enumerate(ranked[:4]) for b in ranked[place + 1 : 4]]
    return next((chosen for chosen in (*singles, *pairs) if carries(chosen)), [])


def clauses_of(sentence: str) -> list[Clause]:
    english = not has_chinese(sentence)
    whole = FORMULA.sub(lambda formula: CLAUSE_END.sub(" ", formula[0]), sentence)  # its commas end no clause
    return [_clause(text, english=english) for text in CLAUSE_END.split(whole) if terms(text)]


def _clause(text: str, *, english: bool) -> Clause:
    folded = MARKUP.sub("", fold(text))
    return Clause(
        polarity_of(folded),
        frozenset(terms(text)),
        frozenset(_exact(text, english=english) | quantities(text)),
        (*NUMBER.findall(folded), *quantities(text)),
        tuple(_symbols(text)),
    )


def counts_otherwise(claim: Clause, evidence: Clause) -> bool:
    """Whether the claim replaces a number of the evidence with one that the evidence lacks."""
    return _is_exchanged(claim.numbers, evidence.numbers)


def writes_otherwise(claim: Clause, evidence: Clause) -> bool:
    """Whether the claim replaces a formula of the evidence with one that the evidence lacks."""
    return _is_exchanged(claim.formulas, evidence.formulas)


def _is_exchanged(claim: Iterable[Hashable], evidence: Iterable[Hashable]) -> bool:
    said, known = Counter(claim), Counter(evidence)
    return bool(said - known) and bool(known - said)


def _exact(text: str, *, english: bool) -> set[str]:
    """The terms that must occur literally in the evidence. Plain English words need not: their share there is
    enough."""
    if not english:
        return set(EXACT.findall(fold(text)))
    names = (fold(name.rstrip(".-")) for name in NAME.findall(text))
    return set(NUMBER.findall(NAME.sub(" ", text))) | {part for name in names for part in EXACT.findall(name)}


def _formulas(text: str) -> frozenset[Formula]:
    """For each formula of a text, its symbols and the pairs of adjacent symbols in it."""
    return frozenset(frozenset([*((token, "") for token in formula), *pairwise(formula)]) for formula in _symbols(text))


def _symbols(text: str) -> Iterator[tuple[str, ...]]:
    """The symbols of each formula of a text."""
    for formula in FORMULA.findall(fold(text)):
        yield tuple(FORMULA_TOKEN.findall(TYPESETTING.sub(" ", formula)))


def without_model_markers(sentence: str) -> str:
    """The sentence without the citation markers that the model wrote; they are hints at best."""
    return MODEL_MARKERS.sub(r"\1", sentence)

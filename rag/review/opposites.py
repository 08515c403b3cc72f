"""The same statement affirmed and denied."""

import re
from collections.abc import Iterator, Sequence

from rag.answer.written.polarity import AUXILIARY, NEGATION, NEUTRAL
from rag.review.comparison import Comparison, Disagreement, Part, same_subject
from rag.review.readings import Reading
from rag.text.terms import fold

# A clause that sets a condition, a contrast or a bound (没有标注时, rather than FP32, 不超过) denies nothing.
DENIES_NOTHING = re.compile(
    r"(?:时|后|之前|的话)\W*$|[没不无未][^,，。]{0,10}(?:时(?!间)|的情况|的话)|(\w)[不没]\1|是否|有没有"
    r"|而不是|而非|不再|不如|不然|否则|不[超足到]|不[低少大小高多]于|差不"
    r"|[只仅]|不一定|未必|不必|去掉|去除|省[去掉]|丢[掉弃]|免|缺|[不没]有?的\W*$"
    r"|\b(?:when|after|before|unless|until|rather than|instead of|without|not always|not necessarily|no longer"
    r"|no more than|only|just)\b"
)
# Who does not do it: a clause that opens with the negation leaves that to the one before it.
OPENING = re.compile(
    r"\W*(?:.*[+、/]\s*)?"
    r"(?:(?:and|but|so|needs?|has|have|is|are|was|were|do|does|也|且|并|则|又|而|就|都|还)\W*)*$"
)
# What is denied: some characters, or a word, after the negation and its auxiliaries.
DENIED = re.compile(r"\s*((?:[a-z][\w.+-]*\s*)?[\u3400-\u9fff]{2,4}|[a-z][\w.+-]*)")
# Below this weight the shared words are too few to say that two clauses speak of the same.
LEAST, SURE = 12.0, 18.0


def opposite(
    comparison: Comparison, one: Reading, parts: Sequence[Part], other: Reading, other_parts: Sequence[Part]
) -> Disagreement | None:
    """The two clauses that are most alike of which one denies what the other says."""
    best: Disagreement | None = None
    for a in parts:
        for b in other_parts:
            if a.clause.negates == b.clause.negates:
                continue
            left, right = _said(a), _said(b)
            both = left & right
            weight = comparison.weight(both)
            if weight < LEAST:
                continue
            score = weight / comparison.weight(left | right) * min(1.0, weight / SURE)
            if score > (best.score if best else 0.0) and _opposed(a, b) and same_subject(one, a, other, b):
                best = Disagreement((a.clause.text, b.clause.text), comparison.rarest(both), score)
    return best


def _opposed(a: Part, b: Part) -> bool:
    """Whether one of two clauses affirms what the other one, alone of the two, denies, with the same figures."""
    denying, affirming = (fold(part.clause.text) for part in ((a, b) if a.clause.negates else (b, a)))
    if DENIES_NOTHING.search(denying) or DENIES_NOTHING.search(affirming):
        return False
    if not any(phrase in affirming for phrase in denied(denying)):
        return False
    return all(figure.is_among(b.clause.figures) for figure in a.clause.figures) and all(
        figure.is_among(a.clause.figures) for figure in b.clause.figures
    )


def _said(part: Part) -> frozenset[str]:
    """The words of a clause without those that negate: it must say by itself what it speaks of."""
    return frozenset(word for word in part.clause.words if not NEGATION.search(word))


def denied(folded: str) -> Iterator[str]:
    """The phrases that a clause denies of something that it names."""
    plain = NEUTRAL.sub(lambda match: " " * len(match[0]), folded)
    for negation in NEGATION.finditer(plain):
        if OPENING.match(plain[: negation.start()]):
            continue
        auxiliary = AUXILIARY.match(plain, negation.end())
        if phrase := DENIED.match(folded, auxiliary.end() if auxiliary else negation.end()):
            yield phrase[1].strip()

"""Judges one answer, independently of the code that wrote and checked it.

A citation supports its claim if its quote contains the claim word for word. It also does if at least OVERLAP of the
claim's English words and pairs of Chinese characters are in the cited text, and so are all figures of the claim and, in
a Chinese claim, all terms in Latin letters that the question does not contain. A claim with several citations is judged
as by Gao et al. (ALCE, 2023): together they must support it, and each counts if it supports the claim alone, or if the
others do not without it. Negations and directions are not considered; the program itself checks them.

A gold quote is covered if at least half of its characters, white space aside, are in the text shown.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag.language.terms import fold
from rag.types import Answer, Citation, Passage


def locate(context: str, quote: str) -> list[tuple[int, int]]:
    """Every occurrence of a quote in the context, as `context[start:end]`; white space is ignored."""
    places = [place for place, character in enumerate(context) if not character.isspace()]
    bare, wanted = "".join(context[place] for place in places), "".join(quote.split())
    result = []
    start = bare.find(wanted) if wanted else -1
    while start >= 0:
        result.append((places[start], places[start + len(wanted) - 1] + 1))
        start = bare.find(wanted, start + 1)
    return result


OVERLAP = 0.5
COVERED = 0.5
LATIN = re.compile(r"[a-z]+(?:[-_.][a-z0-9]+)*|\d+(?:\.\d+)?")
CHINESE = re.compile(r"[\u3400-\u9fff]+")
# English words that are no names, even in a Chinese sentence.
COMMON = re.compile(r"(?:the|an?|of|in|on|to|for|and|or|is|are|by|with|it|its|that|this|as|at|be|from)")

Stretch = tuple[str, int, int]
"""A document's name, start and end: its slice `source[start:end]`."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Counts of an answer's claims and citations, including the claims that were left out. A pair is a claim with one
    of its citations."""

    claims: int
    unsupported: int
    pairs: int
    precise: int
    citations: int
    relevant: int


def judge(answer: Answer, sources: dict[str, str], gold_documents: Iterable[str]) -> Judged:
    """Judge the claims of an answer. `sources` holds the source text of every cited document.

    A pair is precise if its citation is the exact slice of its source and supports the claim; a citation is relevant if
    it is exact and from a document that answers the question according to the gold file.
    """
    by_marker = {citation.marker: citation for citation in answer.citations}
    relevant_documents = set(gold_documents)
    pairs = precise = 0
    for claim in answer.claims:
        cited = [by_marker[marker] for marker in claim.citations if marker in by_marker]
        pairs += len(claim.citations)
        precise += sum(
            is_exact(citation, sources) and _contributes(claim.text, place, cited, answer.question)
            for place, citation in enumerate(cited)
        )
    return Judged(
        claims=len(answer.claims) + answer.left_out,
        unsupported=sum(not claim.supported for claim in answer.claims) + answer.left_out,
        pairs=pairs,
        precise=precise,
        citations=len(answer.citations),
        relevant=sum(
            is_exact(citation, sources) and citation.document in relevant_documents for citation in answer.citations
        ),
    )


def is_exact(citation: Citation, sources: dict[str, str]) -> bool:
    return bool(citation.quote) and sources.get(citation.document, "")[citation.start : citation.end] == citation.quote


def supports(claim: str, quotes: Sequence[str], known: str = "") -> bool:
    """Whether quotes, taken together, support a claim. They need not contain the Latin terms of `known`."""
    said, quoted = fold(claim), fold(" ".join(quotes))
    if not said or not quotes:
        return False
    if any(_bare(said) in _bare(fold(quote)) for quote in quotes):
        return True
    latin, given = set(LATIN.findall(said)), set(LATIN.findall(quoted))
    figures = {term for term in latin if term[0].isdigit()}
    chinese = bool(CHINESE.search(said))
    # Most words of an English sentence are no names.
    names = {term for term in latin - figures if chinese and not COMMON.fullmatch(term)}
    if not figures <= given or not names <= given | set(LATIN.findall(fold(known))):
        return False
    words = latin - figures | _pairs(said)
    return len(words & (given | _pairs(quoted))) >= OVERLAP * len(words)


def covered(quote: str, document: str, source: str, shown: Iterable[Stretch]) -> bool:
    """Whether the stretches cover enough of a gold quote, at any of its places in the document."""
    stretches = [(start, end) for name, start, end in shown if name == document]
    return any(_covers(source, place, stretches) for place in locate(source, quote))


def stretches_of(passages: Iterable[Passage]) -> list[Stretch]:
    """The stretches that passages show of their documents, and of the documents that repeat them."""
    return [
        stretch
        for passage in passages
        for stretch in (
            *((passage.document, start, end) for start, end in passage.content.spans),
            *((place.document, place.start, place.end) for place in passage.also_in),
        )
    ]


def _contributes(claim: str, place: int, cited: Sequence[Citation], question: str) -> bool:
    quotes = [f"{citation.title} {citation.quote}" for citation in cited]
    others = [*quotes[:place], *quotes[place + 1 :]]
    alone = supports(claim, [quotes[place]], question)
    return alone or (supports(claim, quotes, question) and not supports(claim, others, question))


def _covers(source: str, place: tuple[int, int], stretches: Sequence[tuple[int, int]]) -> bool:
    letters = [at for at in range(*place) if not source[at].isspace()]
    return sum(any(start <= at < end for start, end in stretches) for at in letters) >= COVERED * len(letters)


def _bare(text: str) -> str:
    return "".join(character for character in text if character.isalnum())


def _pairs(text: str) -> set[str]:
    """Pairs of neighbouring Chinese characters; a lone character counts as a pair."""
    return {run[at : at + 2] for run in CHINESE.findall(text) for at in range(max(1, len(run) - 1))}

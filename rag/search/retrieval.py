"""Question -> passages: dense and keyword candidates, compared token by token, fused.

Both searches propose candidates. If the index holds token vectors, late interaction (`rag.index.tokens`) ranks the
candidates together with their keyword share (`rag.search.fusion`). Every hit states its rank in each search.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rag.embedding import Embedder, Encoded
from rag.index import Index
from rag.index.store import KeywordMatch
from rag.language.language import Language, language_of
from rag.language.terms import simplified, terms
from rag.search.fusion import FusionWeights, fuse_scores, ranking_for
from rag.types import Hit, Passage, RankAndScore

# Candidates taken from each search before fusion.
CANDIDATES = 50


@dataclass(frozen=True, slots=True)
class Proposals:
    """What one search proposed: passage numbers, best first, and the scores that ranked them."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float32]

    @property
    def ranks(self) -> dict[int, RankAndScore]:
        pairs = zip(self.numbers.tolist(), self.scores.tolist(), strict=True)
        return {number: RankAndScore(rank, round(score, 6)) for rank, (number, score) in enumerate(pairs, start=1)}


@dataclass(frozen=True, slots=True)
class Candidates:
    """All candidates of a question with their scores; arrays have shape (n,), in order of passage number.

    `shares` are keyword scores as shares of the maximum for the question's terms, `likeness` the late-interaction
    scores (None without token vectors), `order` the places of all candidates by fused score, best first.
    """

    dense: Proposals
    keyword: Proposals
    numbers: NDArray[np.int64]
    cosines: NDArray[np.float32]
    shares: NDArray[np.float32]
    likeness: NDArray[np.float32] | None
    fused: NDArray[np.float32]
    order: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The result of retrieval. `encoded` is the question as the embedder sees it, `candidates` all that were proposed,
    None if none were."""

    query: str
    hits: tuple[Hit, ...]
    encoded: Encoded | None = field(default=None, compare=False, repr=False)
    candidates: Candidates | None = field(default=None, compare=False, repr=False)


def search_dense(index: Index, vector: NDArray[np.float32], count: int) -> Proposals:
    """The `count` passages nearest to a unit vector of shape (dimension,), by cosine."""
    return Proposals(*index.vectors.search(vector, count, index.within))


def search_keyword(match: KeywordMatch, count: int, within: NDArray[np.int64] | None = None) -> Proposals:
    """The `count` passages that match a question's terms best, without those that share none with it."""
    return Proposals(*match.best(count, within))


def encode_questions(embedder: Embedder, questions: Sequence[str]) -> list[Encoded]:
    """Encoded questions for the search. With sentence-transformers several at once cost less than one by one."""
    return embedder.encode_queries([simplified(question) for question in questions])


def search(
    index: Index,
    embedder: Embedder,
    question: str,
    *,
    k: int = 10,
    ranking: FusionWeights | None = None,
    encoded: Encoded | None = None,
) -> Evidence:
    """The `k` best passages for a question. `encoded` is the output of `encode_questions`, if made before."""
    encoded = encoded or encode_questions(embedder, [question])[0]
    candidates = propose(index, question, encoded, count=max(CANDIDATES, k), ranking=ranking)
    return evidence_of(index, question, encoded, candidates, k=k)


def evidence_of(index: Index, question: str, encoded: Encoded, candidates: Candidates | None, *, k: int) -> Evidence:
    """The `k` best of a question's candidates."""
    if candidates is None:
        return Evidence(question, (), encoded)
    best, passages = _readable(index, candidates, language_of(question), k)
    dense, keyword = candidates.dense.ranks, candidates.keyword.ranks
    hits = tuple(
        Hit(rank, round(float(score), 6), passage, dense.get(passage.number), keyword.get(passage.number))
        for rank, (score, passage) in enumerate(zip(candidates.fused[best], passages, strict=True), start=1)
    )
    return Evidence(question, hits, encoded, candidates)


def _readable(index: Index, candidates: Candidates, language: Language, k: int) -> tuple[list[int], list[Passage]]:
    """The places and passages of the best `k` candidates, without translations into a language not asked in: their
    pages say the same in it."""
    places: list[int] = []
    passages: list[Passage] = []
    for begin in range(0, len(candidates.order), k):
        some = candidates.order[begin : begin + k]
        found = index.storage.passages([int(number) for number in candidates.numbers[some]])
        for place, passage in zip(some, found, strict=True):
            if passage.translated_into in (None, language) and len(places) < k:
                places.append(int(place))
                passages.append(passage)
        if len(places) == k:
            break
    return places, passages


def propose(
    index: Index, question: str, encoded: Encoded, *, count: int, ranking: FusionWeights | None = None
) -> Candidates | None:
    """`count` candidates of each search, scored and fused; None if there are none. Those that cannot be compared
    token by token, in an index that lacks tokens, are left out."""
    ranking = ranking or ranking_for(index)
    asked = terms(question)
    dense = search_dense(index, encoded.vector, count)
    match = index.keywords.match(asked)
    keyword = search_keyword(match, count, index.within)
    numbers = np.union1d(dense.numbers, keyword.numbers)
    if not len(numbers):
        return None
    cosines = _cosines(index, encoded.vector, dense, numbers)
    shares = match.of(numbers) / max(index.keywords.ceiling(asked), 1e-6)
    likeness = None
    if ranking.by_token and index.tokens is not None and len(encoded.tokens):
        kept = index.tokens.comparable(numbers)
        numbers, cosines, shares = numbers[kept], cosines[kept], shares[kept]
        likeness = index.tokens.scores(encoded, numbers)
    fused = fuse_scores(ranking, cosines, shares, likeness)
    order = np.lexsort((numbers, -fused))
    return Candidates(dense, keyword, numbers, cosines, shares, likeness, fused, order)


def merge(parts: Sequence[Evidence], k: int) -> Evidence:
    """The evidence of several searches as one of `k` hits, with the query and measures of the first. A hit scores the
    sum of its leads over the last hit of each search that found it."""
    leads: dict[int, float] = {}
    hits: dict[int, Hit] = {}
    for part in parts:
        for hit in part.hits:
            number = hit.passage.number
            leads[number] = leads.get(number, 0.0) + hit.score - part.hits[-1].score
            hits.setdefault(number, hit)
    best = sorted(leads, key=lambda number: -leads[number])[:k]
    merged = (replace(hits[number], rank=rank, score=leads[number]) for rank, number in enumerate(best, start=1))
    return replace(parts[0], hits=tuple(merged))


def _cosines(
    index: Index, vector: NDArray[np.float32], dense: Proposals, candidates: NDArray[np.int64]
) -> NDArray[np.float32]:
    """The cosine of every candidate; for keyword-only candidates it is computed from their vectors."""
    known = dict(zip(dense.numbers.tolist(), dense.scores.tolist(), strict=True))
    missing = [int(number) for number in candidates if int(number) not in known]
    if missing:
        known.update(zip(missing, (index.vectors.rows(missing) @ vector).tolist(), strict=True))
    return np.asarray([known[int(number)] for number in candidates], dtype=np.float32)

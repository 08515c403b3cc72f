"""How much of a point an attempt states: late interaction over centred token vectors, keyword terms, exact names.

Each token of the point finds the most similar token of the attempt (Khattab & Zaharia, ColBERT, 2020), weighted by its
rarity. The vectors of a mean-pooled embedder all point much the same way; subtracting their mean over the index
separates them better. The question's own words are no merit of the answer, so they count little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rag.answer.written.claims import EXACT
from rag.embedding import Embedder, Encoded
from rag.index import Index
from rag.language.sentence_kinds import joints
from rag.language.terms import fold, terms
from rag.practice.attempt import Attempt, Sentence, Span
from rag.practice.regressions import Features

Matrix = NDArray[np.float32]

# Texts of the material with cached vectors, some 100 kB each.
REMEMBERED = 512
# Weight of a token or term that is in the question.
IN_QUESTION = 0.25
# From this cosine of centred vectors two tokens mean the same.
SAME = 0.55
# Two sentences are shown together only if they state this much more of the point than one.
ADDS = 0.08
# From this cosine a token of the question means the same as one of the point.
ASKED = 0.8


@dataclass(frozen=True, slots=True)
class PointFeatures(Features):
    """What tells whether an attempt makes a point; as weights, how much each counts.

    `whole`, `pair` and `best` are the shares of the point's tokens that all claims, two neighbouring sentences, or one
    sentence come near to, by cosine; `same` is the share that they state. `likeness` is the cosine of the best sentence
    with the point, `terms` the share of its keyword terms, `exact` of its names and numbers. `asked` is the share that
    the question alone states, `extent` the span's length over the point's, at most 1. `joined` is how much more densely
    the best sentence joins names than the point does.
    """

    whole: float
    pair: float
    best: float
    same: float
    least: float
    likeness: float
    terms: float
    exact: float
    asked: float
    extent: float
    joined: float


@dataclass(frozen=True, slots=True)
class PointComparison:
    """The comparison of a text of the material with an attempt; `span` is the nearest sentence, or two. `nearest` are
    the places of the read sentences, nearest first."""

    features: PointFeatures
    span: Span
    nearest: tuple[int, ...]

    @property
    def sentence(self) -> int:
        return self.nearest[0]


@dataclass(frozen=True, slots=True)
class EncodedAttempt:
    """The claims of an attempt, encoded: tokens of all, `owner` gives the sentence of each."""

    sentences: tuple[Sentence, ...]
    vectors: Matrix
    tokens: Matrix
    owner: NDArray[np.int64]
    term_sets: tuple[frozenset[str], ...]


class Comparer:
    """Compares attempts with texts of the material, over one index. Safe to use from several threads."""

    def __init__(self, index: Index, embedder: Embedder) -> None:
        self.index, self.embedder = index, embedder
        self._remembered: dict[str, Encoded] = {}
        # A term's rarity.
        self.weight = lru_cache(REMEMBERED * 100)(lambda term: index.keywords.ceiling([term]))

    def encode(self, attempt: Attempt) -> EncodedAttempt:
        """The claims of an attempt, encoded once for all points."""
        texts = [sentence.text for sentence in attempt.claims]
        encoded = self.embedder.encode_queries(texts) if texts else []
        tokens = [self._centred(one.tokens) for one in encoded]
        return EncodedAttempt(
            attempt.claims,
            _centred_rows(np.stack([one.vector for one in encoded]), self._centre) if encoded else self._nothing(),
            np.concatenate(tokens) if tokens else self._nothing(),
            np.repeat(np.arange(len(tokens)), [len(one) for one in tokens]),
            tuple(frozenset(terms(text)) for text in texts),
        )

    def compare(self, claims: EncodedAttempt, point: str, question: str) -> PointComparison | None:
        """Compares an attempt with a point of a question; None if either has no tokens."""
        wanted, asked = self._encoded([point, question])
        if not len(claims.tokens) or not len(wanted.tokens):
            return None
        cosines = wanted.tokens @ claims.tokens.T
        known = (wanted.tokens @ asked.tokens.T).max(axis=1, initial=-1.0)
        rarity = self._rarity(wanted.token_ids)
        weights = rarity * np.where(known >= ASKED, IN_QUESTION, 1.0)
        weights /= max(float(weights.sum()), 1e-9)
        near = np.full((len(wanted.tokens), len(claims.sentences)), -1.0, np.float32)
        for number in range(len(claims.sentences)):
            near[:, number] = cosines[:, claims.owner == number].max(axis=1, initial=-1.0)
        everywhere = near.max(axis=1)
        single = weights @ near
        best = int(single.argmax())
        pairs = np.maximum(near[:, :-1], near[:, 1:]) if near.shape[1] > 1 else near
        paired = weights @ pairs
        pair = int(paired.argmax())
        term_weights = self._term_weights(point, question)
        said = frozenset().union(*claims.term_sets)
        exact = frozenset(EXACT.findall(fold(point))) - set(terms(question))
        # Two sentences are shown if the second adds to the first.
        first = last = best
        if near.shape[1] > 1 and paired[pair] > single[best] + ADDS:
            first, last = pair, pair + 1
        span = claims.sentences[first].start, claims.sentences[last].end
        features = PointFeatures(
            whole=float(weights @ everywhere),
            pair=float(paired[pair]),
            best=float(single[best]),
            same=float(weights[everywhere >= SAME].sum()),
            least=_least(everywhere, weights),
            likeness=float((claims.vectors @ wanted.vector).max()),
            terms=sum(weight for term, weight in term_weights.items() if term in said),
            exact=len(exact & said) / len(exact) if exact else 0.5,
            asked=float(rarity @ known / max(float(rarity.sum()), 1e-9)),
            extent=min(1.0, (span[1] - span[0]) / max(len(point), 1)),
            joined=joints(claims.sentences[best].text) - joints(point),
        )
        return PointComparison(features, span, tuple(np.argsort(-single, kind="stable").tolist()))

    def only(self, claims: EncodedAttempt, sentence: int) -> EncodedAttempt:
        """One sentence of an attempt."""
        own = claims.owner == sentence
        part = slice(sentence, sentence + 1)
        return EncodedAttempt(
            claims.sentences[part],
            claims.vectors[part],
            claims.tokens[own],
            claims.owner[own] * 0,
            claims.term_sets[part],
        )

    def shared_terms(self, claims: EncodedAttempt, text: str) -> float:
        """The share of a text's terms, by rarity, that the attempt has."""
        said = frozenset().union(*claims.term_sets)
        return sum(weight for term, weight in self._term_weights(text, "").items() if term in said)

    def known_to(self, claims: EncodedAttempt, passages: Sequence[int]) -> NDArray[np.float32]:
        """How much of each sentence a page's passages state, shape (sentences,)."""
        said = [
            frozenset(terms(passage.text)) for passage in self.index.storage.passages(list(dict.fromkeys(passages)))
        ]
        everything = frozenset().union(*said) if said else frozenset()
        return np.asarray(
            [
                sum(self.weight(term) for term in held & everything) / max(sum(map(self.weight, held)), 1e-9)
                for held in claims.term_sets
            ],
            np.float32,
        )

    def _term_weights(self, point: str, question: str) -> dict[str, float]:
        asked = set(terms(question))
        weights = {term: self.weight(term) * (IN_QUESTION if term in asked else 1.0) for term in terms(point)}
        total = max(sum(weights.values()), 1e-9)
        return {term: weight / total for term, weight in weights.items()}

    def _rarity(self, token_ids: NDArray[np.int32]) -> NDArray[np.float32]:
        tokens = self.index.tokens
        return np.ones(len(token_ids), np.float32) if tokens is None else tokens.rarity(token_ids)

    @property
    def _centre(self) -> Matrix:
        tokens = self.index.tokens
        return self._nothing()[:1].sum(axis=0) if tokens is None else tokens.centre

    def _nothing(self) -> Matrix:
        return np.zeros((0, self.embedder.dimension), np.float32)

    def _centred(self, rows: Matrix) -> Matrix:
        return _centred_rows(rows, self._centre)

    def remember(self, texts: Sequence[str]) -> None:
        """Encode texts of the material for later comparison, all at once."""
        self._encoded(texts)

    def _encoded(self, texts: Sequence[str]) -> list[Encoded]:
        """Texts of the material, centred; recent ones are not encoded again."""
        known = dict(self._remembered)
        new = [text for text in dict.fromkeys(texts) if text not in known]
        for text, one in zip(new, self.embedder.encode_queries(new) if new else [], strict=True):
            vector = _centred_rows(one.vector[np.newaxis], self._centre)[0]
            known[text] = Encoded(vector, self._centred(one.tokens), one.token_ids)
        if new:
            # Replaced, not changed: another thread may be reading it.
            self._remembered = dict(list(known.items())[-REMEMBERED:])
        return [known[text] for text in texts]


def _least(everywhere: Matrix, weights: Matrix) -> float:
    """The share of the third of the point that is said least: it reveals a point that is half said."""
    parts = np.array_split(np.arange(len(everywhere)), 3)
    shares = [float(weights[part] @ everywhere[part] / max(float(weights[part].sum()), 1e-9)) for part in parts]
    return min(shares)


def _centred_rows(rows: Matrix, centre: Matrix) -> Matrix:
    moved = rows - centre
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(moved / np.maximum(lengths, 1e-6), np.float32)

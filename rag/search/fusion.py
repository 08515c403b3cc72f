"""Combines the scores of candidates into one ranking. To change what ranks first, change the weights here.

Reciprocal rank fusion trusts both searches equally, which halves quality where one is blind: an English question shares
no terms with the Chinese text that answers it. Here the keyword score is divided by the maximum for the question's
terms, so a search that matches nothing adds nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rag.index import Index


@dataclass(frozen=True, slots=True)
class FusionWeights:
    """Weights of a ranking, tuned on development questions (docs/results)."""

    # Compare candidates token by token where the index holds token vectors.
    by_token: bool = True
    # With tokens: weight of a keyword match that covers the whole question; late interaction weighs 1.
    token_weight: float = 0.1
    # With tokens: weight of the cosine of the passage vectors.
    cosine_weight: float = 0.0
    # Without tokens: weight of the keyword share against the spread of the candidates' cosines.
    spread_weight: float = 2.0


DEFAULT = FusionWeights()
# EmbeddingGemma's token vectors are less informative than its text vectors if an answer does not repeat its question.
RANKINGS = {"embeddinggemma-300m": FusionWeights(cosine_weight=2.0)}


def ranking_for(index: Index) -> FusionWeights:
    """The weights for the embedder of an index."""
    return RANKINGS.get(index.manifest.embedder_name, DEFAULT)


def fuse_scores(
    ranking: FusionWeights, cosines: NDArray[np.float32], shares: NDArray[np.float32],
    likeness: NDArray[np.float32] | None,
) -> NDArray[np.float32]:  # fmt: skip
    """Fused scores of n candidates, shape (n,), from their cosines, keyword shares (0..1) and, if there are token
    vectors, late-interaction scores."""
    if likeness is None:
        return weighted_mean(spread(cosines), (ranking.spread_weight, shares))
    return weighted_mean(likeness, (ranking.token_weight, shares), (ranking.cosine_weight, cosines))


def weighted_mean(first: NDArray[np.float32], *others: tuple[float, NDArray[np.float32]]) -> NDArray[np.float32]:
    """The mean of `first`, which weighs 1, and the others by their weights; all of shape (n,)."""
    total = first + sum(weight * values for weight, values in others)
    return np.asarray(total / (1 + sum(weight for weight, _ in others)), dtype=np.float32)


def spread(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cosines rescaled to 0..1 over the candidates, since cosines of texts lie close together."""
    low, high = float(cosines.min()), float(cosines.max())
    return (cosines - low) / max(high - low, 1e-6)

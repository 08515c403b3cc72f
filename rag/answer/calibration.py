"""The log odds that no retrieved passage answers a question, for any material and any embedder.

The weights were fitted to one corpus, with each of the two embedders that the program fetches. Elsewhere the scale of
`match` shifts: passages match unanswerable questions better or worse. So ingest measures how well each index matches
questions from elsewhere (its anchors), and `match` is mapped to its scale on the fitted corpus; for any other embedder,
to that of the default one. This is the Z-norm of speaker verification (Auckenthaler et al., Score Normalization, 2000),
with quantiles, since some material may answer some of those questions after all.
"""

from dataclasses import dataclass, replace

from rag.answer.answerability import AnswerabilityFeatures
from rag.index import Index
from rag.index.manifest import Anchor, Anchors

# The anchors of the fitted corpus with the default embedder: measured when it was ingested, from its manifest.
FITTED_AT = Anchors(
    chinese=Anchor(median=0.8043, spread=0.0507),
    other=Anchor(median=0.7774, spread=0.0694),
)


@dataclass(frozen=True, slots=True)
class Calibration:
    """Logistic regression over `AnswerabilityFeatures`: the log odds against an answer are `offset` plus the weighted
    features. A question is refused above 0; the offset includes the threshold. `anchors` are those of the index used
    for the fit."""

    offset: float
    weights: AnswerabilityFeatures
    anchors: Anchors = FITTED_AT

    def log_odds(self, features: AnswerabilityFeatures) -> float:
        return self.offset + float(features.row() @ self.weights.row())


# Fitted by `python -m tools.fit.refusals GOLD` to the development questions, asked of the corpus and of six parts of
# it; the threshold refuses 2% of the answerable.
FITTED = Calibration(
    42.63,
    AnswerabilityFeatures(
        match=-51.37,
        lead=-9.63,
        unknown_name=4.31,
        unknown_word=1.41,
        unknown_capital=4.65,
        uncovered=1.15,
        chinese=0.80,
    ),
)
# By embedder, for features that need no mapping: they are on the scale of the fit.
CALIBRATIONS = {
    "multilingual-e5-small": FITTED,
    # Scaled so that as many answerable questions are doubtful: 1.3 times the fitted values.
    "embeddinggemma-300m": Calibration(
        8.32,
        AnswerabilityFeatures(
            match=-18.77,
            lead=0.0,
            unknown_name=5.69,
            unknown_word=1.83,
            unknown_capital=3.37,
            uncovered=1.98,
            chinese=0.16,
        ),
        Anchors(
            chinese=Anchor(median=0.3852, spread=0.2557),
            other=Anchor(median=0.3977, spread=0.1976),
        ),
    ),
}
# By embedder, for indexes without token vectors that are too small for anchors of their own: the corpus's anchors.
WITHOUT_TOKENS = {
    "multilingual-e5-small": Anchors(
        chinese=Anchor(median=0.8591, spread=0.0313),
        other=Anchor(median=0.8158, spread=0.0761),
    )
}
# Subtracted from the log odds if the material has no passages in the question's language: across languages an answer
# matches hardly better than other passages do. Chosen, like UNCERTAINTY, while looking at the sets that measure the
# calibration (docs/results/refusals.md).
ACROSS_LANGUAGES = 1.5
# The standard error of log odds based on measured anchors: material like the corpus is judged as the corpus is.
UNCERTAINTY = 0.1


def log_odds(index: Index, features: AnswerabilityFeatures) -> float | None:
    """The log odds against an answer; None if neither the embedder nor the index is calibrated."""
    name = index.manifest.embedder_name
    calibration = CALIBRATIONS.get(name) if index.tokens is not None else None
    as_fitted = None if calibration is None else calibration.log_odds(features)
    anchors = index.manifest.anchors or (WITHOUT_TOKENS.get(name) if index.tokens is None else None)
    if anchors is None:
        return as_fitted
    fit = calibration or FITTED
    measured = fit.log_odds(on_fitted_scale(features, anchors, fit.anchors))
    if not anchors.writes(chinese=bool(features.chinese)):
        return measured - ACROSS_LANGUAGES
    # Narrow material matches questions from elsewhere badly, but near misses as well as any other does.
    return measured if as_fitted is None else max(measured - UNCERTAINTY, as_fitted)


def on_fitted_scale(
    features: AnswerabilityFeatures, anchors: Anchors, fitted_at: Anchors = FITTED_AT
) -> AnswerabilityFeatures:
    """The features with `match` mapped to the anchors of the fit. A capitalised word does not signal a missing name if
    the material is not written in the question's language."""
    chinese = bool(features.chinese)
    here, fitted = anchors.of(chinese=chinese), fitted_at.of(chinese=chinese)
    return replace(
        features,
        match=fitted.median + (features.match - here.median) * fitted.spread / here.spread,
        unknown_capital=features.unknown_capital if anchors.writes(chinese=chinese) else 0.0,
    )

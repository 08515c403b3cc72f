"""Whether the retrieved passages answer a question: features, none of which depends on the subject of the material, and
the log odds that no passage answers, for any material and any embedder.

The score of the best passages says little by itself: everyday words match everywhere, and a long question matches less
than a short one. So the score is compared with that of arbitrary passages for the same question. Other features concern
names: whether the material knows the question's names, and whether the best passages contain them.

The weights were fitted to one corpus, with each of the two embedders that the program fetches. Elsewhere the scale of
`match` shifts: passages match unanswerable questions better or worse. So ingest measures how well each index matches
questions from elsewhere (its anchors), and `match` is mapped to its scale on the fitted corpus; for any other embedder,
to that of the default one. This is the Z-norm of speaker verification (Auckenthaler et al., Score Normalization, 2000),
with quantiles, since some material may answer some of those questions after all.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rag.index import Index
from rag.index.manifest import Anchor, Anchors
from rag.language.language import has_chinese
from rag.language.terms import stem, stems, terms
from rag.question.names import Name, NameKind, rarity, stands_in
from rag.question.rare_terms import named_in
from rag.search.fusion import DEFAULT
from rag.search.retrieval import Evidence

# The best passages are compared token by token with background passages spread evenly over the index.
BEST = 5
# Pages whose written questions are searched, besides the best passages, for what is named.
PAGES = 5
# The question's names should occur in one of the first passages.
FIRST = 3


@dataclass(frozen=True, slots=True)
class AnswerabilityFeatures:
    """`match` is the best passage score, some 0.7..1, from late interaction (without token vectors, the cosine) and
    keyword share; `lead` is its margin in similarity over background passages, 0..0.3. `unknown_…` is 1 if the question
    contains a name of that kind that the material lacks, else 0. `uncovered` is the rarity, 0..1, of the rarest name
    that the material has but the first passages lack. `chinese` is 1 for a question in Chinese: other questions match
    less."""

    match: float
    lead: float
    unknown_name: float
    unknown_word: float
    unknown_capital: float
    uncovered: float
    chinese: float

    def row(self) -> NDArray[np.float64]:
        return np.asarray(astuple(self), np.float64)


def read_features(index: Index, evidence: Evidence, names: Sequence[Name]) -> AnswerabilityFeatures | None:
    """The features, given the names in the question; None if nothing was found or nothing asked."""
    question = evidence.encoded
    if question is None or not evidence.hits or (index.tokens is not None and not len(question.tokens)):
        return None
    best = np.asarray([hit.passage.number for hit in evidence.hits[:BEST]], np.int64)
    numbers = np.concatenate([best, index.vectors.background()])
    if index.tokens is not None:
        likeness = index.tokens.scores(question, numbers)
    else:
        likeness = index.vectors.rows(numbers.tolist()) @ question.vector
    found, others = likeness[: len(best)], likeness[len(best) :]
    asked = terms(evidence.query)
    shares = index.keywords.match(asked).of(best) / max(index.keywords.ceiling(asked), 1e-6)
    unknown = {name.kind for name in names if not name.forms}
    return AnswerabilityFeatures(
        match=float((found + DEFAULT.token_weight * shares).max()),
        lead=float(found.max() - others.mean()),
        unknown_name=float(NameKind.NAME in unknown),
        unknown_word=float(NameKind.WORD in unknown),
        unknown_capital=float(NameKind.CAPITAL in unknown),
        uncovered=max(
            (
                rarity(index.keywords, name)
                for name in names
                if name.forms and not name.guessed and not stands_in(index.keywords, name, best[:FIRST])
            ),
            default=0.0,
        ),
        chinese=float(has_chinese(evidence.query)),
    )


def unspoken_share(index: Index, evidence: Evidence) -> float | None:
    """The share, 0..1, of the question's named terms that occur neither in the best passages nor in the written
    questions of the best pages: an everyday question shares its asking words with the material, but hardly its named
    terms. None if the first page has no written questions: such a page may express the same in other words."""
    pages = list(dict.fromkeys(hit.passage.document for hit in evidence.hits))[:PAGES]
    written = [index.asked.of(page) for page in pages]
    if not written or not written[0]:
        return None
    spoken: set[str] = set()
    for of_page in written:
        for heading, questions in of_page.items():
            spoken.update(stems(heading), *questions)
    for hit in evidence.hits[:BEST]:
        spoken.update(stems(" ".join([hit.passage.title, *hit.passage.section, hit.passage.text])))
    named = {stem(term) for term in named_in(evidence.query)}
    named = {term for term in named if len(term) > 1} or named
    return len(named - spoken) / len(named) if named else 0.0


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

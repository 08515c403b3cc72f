"""Refusals on a material of any scale: anchors map `match` to where it lay on the corpus of the fit."""

from dataclasses import replace

import pytest

from rag.answer.answerability import (
    ACROSS_LANGUAGES,
    CALIBRATIONS,
    FITTED,
    FITTED_AT,
    AnswerabilityFeatures,
    log_odds,
    on_fitted_scale,
)
from rag.answer.decide import UNHEARD_OF, judge
from rag.index import Index
from rag.index.manifest import Anchor, Anchors
from rag.search.retrieval import search
from tests.conftest import HashEmbedder

IN_CHINESE = AnswerabilityFeatures(0.85, 0.05, 0.0, 0.0, 0.0, 0.3, 1.0)
IN_ENGLISH = replace(IN_CHINESE, match=0.78, unknown_capital=1.0, chinese=0.0)
# Half the scale of the fit, and lower.
HALF = Anchors(
    chinese=Anchor(median=0.3, spread=FITTED_AT.chinese.spread / 2),
    other=Anchor(median=0.2, spread=FITTED_AT.other.spread / 2),
    passages=100,
)


def with_anchors(index: Index, anchors: Anchors | None, embedder: str) -> Index:
    settings = {**index.manifest.settings, "embedder": f"{embedder}@1"}
    return replace(index, manifest=index.manifest.model_copy(update={"anchors": anchors, "settings": settings}))


def test_the_anchors_of_the_fit_change_nothing() -> None:
    for features in (IN_CHINESE, IN_ENGLISH):
        assert on_fitted_scale(features, FITTED_AT).match == pytest.approx(features.match)
        assert FITTED.log_odds(on_fitted_scale(features, FITTED_AT)) == pytest.approx(FITTED.log_odds(features))


@pytest.mark.parametrize("features", [IN_CHINESE, IN_ENGLISH])
def test_match_is_mapped_by_median_and_spread(features: AnswerabilityFeatures) -> None:
    chinese = bool(features.chinese)
    here, fitted = HALF.of(chinese=chinese), FITTED_AT.of(chinese=chinese)
    at_median = on_fitted_scale(replace(features, match=here.median), HALF)
    at_edge = on_fitted_scale(replace(features, match=here.median + here.spread), HALF)
    assert at_median.match == pytest.approx(fitted.median)
    assert at_edge.match == pytest.approx(fitted.median + fitted.spread)
    assert replace(at_edge, match=0.0) == replace(features, match=0.0)


def test_any_embedder_is_calibrated_by_its_anchors(library_index: Index, hash_embedder: HashEmbedder) -> None:
    unknown = with_anchors(library_index, None, "some-model")
    assert log_odds(unknown, IN_CHINESE) is None
    calibrated = with_anchors(library_index, HALF, "some-model")
    odds = log_odds(calibrated, replace(IN_CHINESE, match=0.3))
    assert odds == pytest.approx(FITTED.log_odds(replace(IN_CHINESE, match=FITTED_AT.chinese.median)))
    # The same question, of a material that matches anything as well as this and of one that matches little so well.
    evidence = search(library_index, hash_embedder, "显存怎么省")
    low, high = (
        with_anchors(
            library_index, HALF.model_copy(update={"chinese": Anchor(median=median, spread=0.05)}), "some-model"
        )
        for median in (0.0, 1.0)
    )
    assert judge(low, evidence).refusal is None
    assert judge(high, evidence).refusal is not None
    assert judge(unknown, evidence).refusal is None


def test_a_narrow_material_does_not_lower_the_threshold(library_index: Index) -> None:
    name = next(iter(CALIBRATIONS))
    lower = FITTED_AT.chinese.model_copy(update={"median": FITTED_AT.chinese.median - 0.05})
    higher = FITTED_AT.chinese.model_copy(update={"median": FITTED_AT.chinese.median + 0.05})
    as_fitted = FITTED.log_odds(IN_CHINESE)
    narrow, broad = (
        with_anchors(library_index, FITTED_AT.model_copy(update={"chinese": anchor}), name)
        for anchor in (lower, higher)
    )
    assert log_odds(narrow, IN_CHINESE) == as_fitted
    broader = log_odds(broad, IN_CHINESE)
    assert broader is not None
    assert broader > as_fitted


def test_what_may_be_chance_changes_nothing(library_index: Index) -> None:
    """Anchors of the corpus measured again, after some edits, differ by about so much."""
    median = FITTED_AT.chinese.median
    again = FITTED_AT.model_copy(update={"chinese": Anchor(median=median + 0.001, spread=FITTED_AT.chinese.spread)})
    index = with_anchors(library_index, again, next(iter(CALIBRATIONS)))
    assert log_odds(index, IN_CHINESE) == FITTED.log_odds(IN_CHINESE)


def test_a_question_in_a_language_that_is_not_written_is_judged_by_its_own_scale(library_index: Index) -> None:
    """Capitals say nothing there, and the threshold is lower, for an answer matches less across languages."""
    name = next(iter(CALIBRATIONS))
    anchors = FITTED_AT.model_copy(update={"writes_other": False})
    without_capital = FITTED.log_odds(replace(IN_ENGLISH, unknown_capital=0.0))
    odds = log_odds(with_anchors(library_index, anchors, name), IN_ENGLISH)
    assert odds == pytest.approx(without_capital - ACROSS_LANGUAGES)
    assert log_odds(with_anchors(library_index, FITTED_AT, name), IN_ENGLISH) == pytest.approx(
        FITTED.log_odds(IN_ENGLISH)
    )


def test_small_and_older_indexes_without_tokens_have_the_anchors_of_the_corpus(library_index: Index) -> None:
    index = replace(with_anchors(library_index, None, next(iter(CALIBRATIONS))), tokens=None)
    near, far = (log_odds(index, replace(IN_CHINESE, match=match)) for match in (0.95, 0.85))
    assert near is not None
    assert far is not None
    assert near < 0 < far


@pytest.mark.parametrize(("question", "added"), [("晚饭吃啥", UNHEARD_OF), ("显存怎么省", 0.0)])
def test_what_the_material_has_no_word_of_is_more_likely_silent(
    question: str, added: float, library_index: Index, hash_embedder: HashEmbedder
) -> None:
    """But not of a question in a language that the material is not written in."""
    index = with_anchors(library_index, HALF, "some-model")
    foreign = with_anchors(library_index, HALF.model_copy(update={"writes_chinese": False}), "some-model")
    evidence = search(library_index, hash_embedder, question)
    judged, elsewhere = judge(index, evidence), judge(foreign, evidence)
    assert judged.features is not None
    measured = log_odds(index, judged.features)
    assert measured is not None
    assert judged.log_odds == pytest.approx(measured + added)
    assert elsewhere.log_odds == pytest.approx(log_odds(foreign, judged.features))


@pytest.mark.parametrize("name", CALIBRATIONS)
def test_on_the_corpus_of_its_fit_an_embedder_is_judged_as_fitted(name: str, library_index: Index) -> None:
    fit = CALIBRATIONS[name]
    features = replace(IN_CHINESE, match=fit.anchors.chinese.median + fit.anchors.chinese.spread)
    assert log_odds(with_anchors(library_index, fit.anchors, name), features) == pytest.approx(fit.log_odds(features))
    broader = fit.anchors.chinese.model_copy(update={"median": fit.anchors.chinese.median + 0.05})
    index = with_anchors(library_index, fit.anchors.model_copy(update={"chinese": broader}), name)
    odds = log_odds(index, features)
    assert odds is not None
    assert odds > fit.log_odds(features)

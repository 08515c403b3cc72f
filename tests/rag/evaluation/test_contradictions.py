"""The labelled pairs: what is reported is mostly right, and the pairs are whole."""

from rag.evaluation.contradictions import LabelledPair, labelled_pairs, precision
from rag.review.contradictions import Kind


def pair(score: float, right: bool, name: str) -> LabelledPair:
    side = {"document": "a.md", "section": (), "quote": "q"}
    values = {"id": name, "set": "s", "kind": Kind.FIGURE, "score": score, "is_contradiction": right}
    return LabelledPair.model_validate({**values, "differing": ("1", "2"), "one": side, "other": side})


def test_precision_is_that_of_reported_pairs() -> None:
    found = precision([pair(0.9, True, "a"), pair(0.5, False, "b"), pair(0.2, False, "c"), pair(0.1, True, "d")])
    assert (found["reported"]["value"], found["reported"]["of"]) == (0.5, 2)  # a and b
    assert found["by_score"]["0.00–0.20"]["of"] == 1
    assert sum(each.get("of", 0) for each in found["by_score"].values()) == 4


def test_the_labelled_pairs() -> None:
    pairs = labelled_pairs()
    assert len({each.id for each in pairs}) == len(pairs) >= 100
    assert all(each.one.quote != each.other.quote for each in pairs)
    assert precision(pairs)["reported"]["low"] >= 0.8

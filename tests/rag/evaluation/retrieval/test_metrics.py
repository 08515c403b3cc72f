"""The measures against numbers worked by hand, and against a second, naive way of computing them."""

from collections.abc import Mapping, Sequence
from math import log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag.evaluation.retrieval.metrics import evidence_measures, ranking_measures
from rag.evaluation.retrieval.system_interface import RetrievedPassage


def measures(ranking: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    return ranking_measures({"q": ranking}, {"q": grades})["q"]


def test_one_relevant_document_at_rank_three() -> None:
    # nDCG: 1 / log2(3 + 1) = 0.5 over the ideal 1 / log2(2) = 1.
    assert measures(["a", "b", "c", "d"], {"c": 1}) == pytest.approx(
        {"ndcg@10": 0.5, "recall@5": 1.0, "recall@10": 1.0, "mrr@10": 1 / 3}
    )


def test_graded_judgements() -> None:
    # DCG: 1 / log2(2) + 2 / log2(4) = 1 + 1 = 2; the ideal has grade 2 first: 2 / 1 + 1 / log2(3) = 2.63093.
    found = measures(["one", "x", "two"], {"one": 1, "two": 2})
    assert found == pytest.approx({"ndcg@10": 2 / 2.6309297, "recall@5": 1.0, "recall@10": 1.0, "mrr@10": 1.0})


def test_cutoffs() -> None:
    # Relevant at ranks 2, 6 and 11; of three, one is in the first five, two in the first ten.
    ranking = ["a", "r1", "c", "d", "e", "r2", "g", "h", "i", "j", "r3"]
    # DCG@10: 1 / log2(3) + 1 / log2(7) = 0.63093 + 0.35621; ideal: 1 + 0.63093 + 0.5.
    assert measures(ranking, {"r1": 1, "r2": 1, "r3": 1}) == pytest.approx(
        {"ndcg@10": 0.9871372 / 2.1309298, "recall@5": 1 / 3, "recall@10": 2 / 3, "mrr@10": 0.5}, abs=1e-6
    )


def test_fewer_than_ten_results_and_none() -> None:
    # One of two found, first: 1 / (1 + 1 / log2(3)).
    assert measures(["a"], {"a": 1, "b": 1}) == pytest.approx(
        {"ndcg@10": 1 / 1.6309298, "recall@5": 0.5, "recall@10": 0.5, "mrr@10": 1.0}
    )
    assert set(measures([], {"a": 1}).values()) == {0.0}


def test_the_order_given_counts_whatever_the_ids_are() -> None:
    """trec_eval would order documents of equal score by id, the last first."""
    for first, second in (("a", "z"), ("z", "a")):
        assert measures([first, second], {second: 1})["mrr@10"] == 0.5


def test_every_query_counts_also_one_that_found_nothing() -> None:
    found = ranking_measures({"q1": ["a"], "q2": []}, {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}})
    assert {query: values["mrr@10"] for query, values in found.items()} == {"q1": 1.0, "q2": 0.0}


def naive(ranking: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    gains = [grades.get(document, 0) for document in ranking[:10]]
    ideal = sorted(grades.values(), reverse=True)[:10]
    dcg, best = (sum(gain / log2(place + 2) for place, gain in enumerate(list_)) for list_ in (gains, ideal))
    places = [place for place, gain in enumerate(gains) if gain]
    return {
        "ndcg@10": dcg / best,
        "recall@5": sum(place < 5 for place in places) / len(grades),
        "recall@10": len(places) / len(grades),
        "mrr@10": 1 / (places[0] + 1) if places else 0.0,
    }


NAMES = [f"d{number}" for number in range(25)]


@given(
    st.lists(st.sampled_from(NAMES), unique=True, max_size=20),
    st.dictionaries(st.sampled_from(NAMES), st.integers(1, 3), min_size=1, max_size=15),
)
def test_against_a_naive_implementation(ranking: list[str], grades: dict[str, int]) -> None:
    assert measures(ranking, grades) == pytest.approx(naive(ranking, grades), abs=1e-6)


def passages(*texts: str) -> list[RetrievedPassage]:
    return [RetrievedPassage(text, ("d",)) for text in texts]


def test_evidence_in_the_first_characters() -> None:
    # 990 characters, a line break, then the quote at 991-995: it ends at character 996.
    found = passages("甲" * 990, "证据在这里")
    assert evidence_measures(found, [["证据在这里"]]) == {"evidence@1000": 1.0, "evidence@3000": 1.0}
    # Five later it ends at 1001, one too far.
    found = passages("甲" * 995, "证据在这里")
    assert evidence_measures(found, [["证据在这里"]]) == {"evidence@1000": 0.0, "evidence@3000": 1.0}


def test_all_quotes_are_wanted() -> None:
    found = passages("第一句。", "第二句。")
    assert evidence_measures(found, [["第一句"], ["第二句"]])["evidence@1000"] == 1.0
    assert evidence_measures(found, [["第一句"], ["第三句"]])["evidence@3000"] == 0.0
    assert evidence_measures(found, [["first", "第一句"], ["第三句", "第二句"]])["evidence@3000"] == 1.0


def test_line_breaks_do_not_hide_a_quote() -> None:
    assert evidence_measures(passages("内积只\n依赖 相对位置"), [["内积只依赖相对\n位置"]])["evidence@1000"] == 1.0

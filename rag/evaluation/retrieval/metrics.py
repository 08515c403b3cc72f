"""Measures of a ranking, query by query. All are in 0..1, higher is better.

nDCG, recall and reciprocal rank are those of trec_eval (by ir-measures): the gain of a document is its grade, the
discount of rank r is log2(r + 1). Evidence is our own: whether the text that answers a question is in what a reader, or
a chat model, gets to see first.
"""

from collections.abc import Mapping, Sequence

from rag.evaluation.extra import evaluation_extra
from rag.evaluation.retrieval.system_interface import RetrievedPassage

NDCG = "ndcg@10"
# Our names, and those of ir-measures.
RANKING_MEASURES = {NDCG: "nDCG@10", "recall@5": "R@5", "recall@10": "R@10", "mrr@10": "RR@10"}
EVIDENCE_CHARACTERS = {"evidence@1000": 1_000, "evidence@3000": 3_000}


def ranking_measures(
    rankings: Mapping[str, Sequence[str]], qrels: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, float]]:
    """The measures of the rankings (document ids, best first) of queries, each of which must be in `qrels`."""
    with evaluation_extra():
        import ir_measures

    # trec_eval orders by score, and equal scores by id: a score for each rank keeps the ranking as it is.
    run = {
        query: {document: float(-rank) for rank, document in enumerate(ranking)} for query, ranking in rankings.items()
    }
    judged = {query: dict(qrels[query]) for query in rankings}
    names = {ir_measures.parse_measure(measure): name for name, measure in RANKING_MEASURES.items()}
    values = {query: dict.fromkeys(RANKING_MEASURES, 0.0) for query in rankings}
    for found in ir_measures.iter_calc(list(names), judged, run):
        values[found.query_id][names[found.measure]] = float(found.value)
    return values


def evidence_measures(passages: Sequence[RetrievedPassage], quotes: Sequence[Sequence[str]]) -> dict[str, float]:
    """Whether all quotes are in the first characters of the passages, which are joined in order by line breaks. A quote
    may have several wordings, any of which will do.

    The comparison ignores white space, which differs between a page and its passages.
    """
    text = "\n".join(passage.text for passage in passages)
    wanted = [[_without_blanks(wording) for wording in wordings] for wordings in quotes]
    return {
        name: float(all(any(wording in _without_blanks(text[:characters]) for wording in quote) for quote in wanted))
        for name, characters in EVIDENCE_CHARACTERS.items()
    }


def _without_blanks(text: str) -> str:
    return "".join(text.split())

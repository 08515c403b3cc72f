"""Our search as users get it, and its parts alone, over the same index."""

from dataclasses import replace

from rag.evaluation.retrieval.system_interface import Builder, Ranked, System, SystemInputs
from rag.language.terms import simplified, terms
from rag.search.fusion import ranking_for
from rag.search.retrieval import CANDIDATES, Proposals, search, search_dense, search_keyword

# Cormack, Clarke & Buettcher (2009).
RECIPROCAL_RANK_K = 60


def ours(inputs: SystemInputs) -> System:
    """The search of `python -m rag search` and of answers."""

    def system(question: str, count: int) -> list[Ranked]:
        return inputs.ranked(hit.passage for hit in inputs.assistant.search(question, k=count).hits)

    return system


def variant(**changes: float) -> Builder:
    """Our search with some weights of the embedder's `FusionWeights` changed."""

    def build(inputs: SystemInputs) -> System:
        ranking = replace(ranking_for(inputs.assistant.index), **changes)  # type: ignore[arg-type]

        def system(question: str, count: int) -> list[Ranked]:
            found = search(inputs.assistant.index, inputs.embedder, question, k=count, ranking=ranking)
            return inputs.ranked(hit.passage for hit in found.hits)

        return system

    return build


def dense(inputs: SystemInputs) -> System:
    """Nearest vectors alone."""

    def search(question: str, count: int) -> list[Ranked]:
        return _passages(inputs, _dense(inputs, question, count).numbers.tolist())

    return search


def keyword(inputs: SystemInputs) -> System:
    """BM25 alone."""

    def search(question: str, count: int) -> list[Ranked]:
        return _passages(inputs, _keyword(inputs, question, count).numbers.tolist())

    return search


def reciprocal_rank_fusion(inputs: SystemInputs) -> System:
    """Both, fused by their ranks alone: each adds 1 / (60 + rank)."""

    def search(question: str, count: int) -> list[Ranked]:
        depth = max(CANDIDATES, count)
        fused: dict[int, float] = {}
        for ranking in (_dense(inputs, question, depth), _keyword(inputs, question, depth)):
            for rank, number in enumerate(ranking.numbers.tolist(), start=1):
                fused[number] = fused.get(number, 0.0) + 1 / (RECIPROCAL_RANK_K + rank)
        return _passages(inputs, sorted(fused, key=lambda number: (-fused[number], number))[:count])

    return search


def _dense(inputs: SystemInputs, question: str, count: int) -> Proposals:
    return search_dense(inputs.assistant.index, inputs.embedder.embed_query(simplified(question)), count)


def _keyword(inputs: SystemInputs, question: str, count: int) -> Proposals:
    return search_keyword(inputs.assistant.index.keywords.match(terms(question)), count)


def _passages(inputs: SystemInputs, numbers: list[int]) -> list[Ranked]:
    return inputs.ranked(inputs.assistant.index.storage.passages(numbers))

"""The systems that an evaluation compares, by name: our search as users get it, its parts alone over the same index,
and LangChain's. A new one takes one line.

Variants of our own search are named `ours-…`; they do not count as baselines.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rag.errors import UsageError
from rag.evaluation.retrieval import langchain_systems as langchain
from rag.evaluation.retrieval.system_interface import Builder, RetrievedPassage, System, SystemInputs
from rag.language.terms import simplified, terms
from rag.search.fusion import ranking_for
from rag.search.retrieval import CANDIDATES, Proposals, search, search_dense, search_keyword

# Cormack, Clarke & Buettcher (2009).
RECIPROCAL_RANK_K = 60


def ours(inputs: SystemInputs) -> System:
    """The search of `python -m rag search` and of answers."""

    def system(question: str, count: int) -> list[RetrievedPassage]:
        return inputs.with_documents(hit.passage for hit in inputs.assistant.search(question, k=count).hits)

    return system


def variant(**changes: float) -> Builder:
    """Our search with some weights of the embedder's `FusionWeights` changed."""

    def build(inputs: SystemInputs) -> System:
        ranking = replace(ranking_for(inputs.assistant.index), **changes)  # type: ignore[arg-type]

        def system(question: str, count: int) -> list[RetrievedPassage]:
            found = search(inputs.assistant.index, inputs.embedder, question, k=count, ranking=ranking)
            return inputs.with_documents(hit.passage for hit in found.hits)

        return system

    return build


def dense(inputs: SystemInputs) -> System:
    """Nearest vectors alone."""

    def search(question: str, count: int) -> list[RetrievedPassage]:
        return _passages(inputs, _dense(inputs, question, count).numbers.tolist())

    return search


def keyword(inputs: SystemInputs) -> System:
    """BM25 alone."""

    def search(question: str, count: int) -> list[RetrievedPassage]:
        return _passages(inputs, _keyword(inputs, question, count).numbers.tolist())

    return search


def reciprocal_rank_fusion(inputs: SystemInputs) -> System:
    """Both, fused by their ranks alone: each adds 1 / (60 + rank)."""

    def search(question: str, count: int) -> list[RetrievedPassage]:
        depth = max(CANDIDATES, count)
        fused: dict[int, float] = {}
        for ranking in (_dense(inputs, question, depth), _keyword(inputs, question, depth)):
            for rank, number in enumerate(ranking.numbers.tolist(), start=1):
                fused[number] = fused.get(number, 0.0) + 1 / (RECIPROCAL_RANK_K + rank)
        return _passages(inputs, sorted(fused, key=lambda number: (-fused[number], number))[:count])

    return search


OURS = "ours"
SYSTEMS: Mapping[str, Builder] = {
    OURS: ours,
    "ours-without-tokens": variant(by_token=False),
    "ours-without-keywords": variant(spread_weight=0.0, token_weight=0.0),
    "dense": dense,
    "keyword": keyword,
    "rrf": reciprocal_rank_fusion,
    "langchain": langchain.vector_store(langchain.tutorial_splitter),
    "langchain-chinese": langchain.vector_store(langchain.chinese_splitter),
    "langchain-bm25": langchain.bm25(),
    "langchain-bm25-jieba": langchain.bm25(langchain.jieba_words),
    "langchain-bm25-bigrams": langchain.bm25(langchain.our_terms),
}
DEFAULT = (OURS, "dense", "keyword", "rrf")
ALL = "all"


def choose(names: str | None) -> Sequence[str]:
    """The systems in a comma-separated list of names; `all` means every one. Raises UsageError for an unknown name."""
    if names is None:
        return DEFAULT
    chosen = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    if chosen == [ALL]:
        return tuple(SYSTEMS)
    unknown = [name for name in chosen if name not in SYSTEMS]
    if unknown or not chosen:
        raise UsageError(
            f"there is no system {', '.join(map(repr, unknown)) or repr(names)}",
            hint=f"the systems are: {', '.join(SYSTEMS)}; or {ALL}",
        )
    return chosen


def is_baseline(name: str) -> bool:
    return name != OURS and not name.startswith(f"{OURS}-")


def _dense(inputs: SystemInputs, question: str, count: int) -> Proposals:
    return search_dense(inputs.assistant.index, inputs.embedder.embed_query(simplified(question)), count)


def _keyword(inputs: SystemInputs, question: str, count: int) -> Proposals:
    return search_keyword(inputs.assistant.index.keywords.match(terms(question)), count)


def _passages(inputs: SystemInputs, numbers: list[int]) -> list[RetrievedPassage]:
    return inputs.with_documents(inputs.assistant.index.storage.passages(numbers))

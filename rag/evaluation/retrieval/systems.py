"""The systems that an evaluation compares, by name. A new one takes one line.

Variants of our own search are named `ours-…`; they do not count as baselines.
"""

from collections.abc import Mapping, Sequence

from rag.errors import UsageError
from rag.evaluation.retrieval import langchain_systems as langchain
from rag.evaluation.retrieval import own_systems as own
from rag.evaluation.retrieval.system_interface import Builder

OURS = "ours"
SYSTEMS: Mapping[str, Builder] = {
    OURS: own.ours,
    "ours-without-tokens": own.variant(by_token=False),
    "ours-without-keywords": own.variant(spread_weight=0.0, token_weight=0.0),
    "dense": own.dense,
    "keyword": own.keyword,
    "rrf": own.reciprocal_rank_fusion,
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

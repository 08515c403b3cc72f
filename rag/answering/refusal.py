"""Whether the material holds an answer at all, decided before anything is written."""

import re
from collections.abc import Sequence

from rag.analysis import CHINESE_RUN, LATIN_TERM, fold
from rag.index import Index
from rag.retrieval import Evidence
from rag.types import Refusal

# English words that name nothing. Chinese questions name their subject mostly in Latin terms; what is left is judged
# by similarity.
FUNCTION_WORDS = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "of",
        "in",
        "on",
        "for",
        "to",
        "with",
        "without",
        "from",
        "by",
        "at",
        "as",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "do",
        "does",
        "did",
        "can",
        "could",
        "should",
        "would",
        "will",
        "what",
        "why",
        "how",
        "when",
        "where",
        "which",
        "who",
        "whose",
        "it",
        "its",
        "this",
        "that",
        "these",
        "those",
        "between",
        "vs",
        "versus",
        "than",
        "then",
        "there",
        "i",
        "you",
        "we",
        "they",
        "my",
        "your",
        "explain",
        "describe",
        "please",
        "tell",
        "me",
        "about",
        "difference",
        "compare",
        "use",
        "used",
        "using",
        "work",
        "works",
        "mean",
        "means",
        "give",
        "example",
        "examples",
        "if",
        "not",
        "no",
        "so",
        "into",
        "over",
        "more",
        "most",
        "less",
    ]
)
NAMES = re.compile(LATIN_TERM)
SUGGESTIONS = 3


def judge(index: Index, evidence: Evidence, *, threshold: float) -> Refusal | None:
    """A refusal where the best cosine is below `threshold`, or where the question names a term that stands nowhere in
    the material; None where an answer can be tried."""
    missing = missing_terms(index, evidence)
    if evidence.hits and evidence.similarity >= threshold and not missing:
        return None
    reason = "missing_terms" if missing and evidence.similarity >= threshold else "nothing_relevant"
    return Refusal(reason, tuple(missing), tuple(suggest(evidence)))


def missing_terms(index: Index, evidence: Evidence) -> list[str]:
    """Latin terms that the question names and that stand nowhere in the material."""
    names = dict.fromkeys(
        name for name in NAMES.findall(fold(evidence.query)) if name not in FUNCTION_WORDS and not name.isdigit()
    )
    return [name for name in names if not index.keywords.frequency(name)]


def suggest(evidence: Evidence) -> Sequence[str]:
    """The nearest questions that the material does answer."""
    questions: dict[str, None] = {}
    for hit in evidence.hits:
        asked = [name for name in (*hit.passage.section[::-1], hit.passage.title) if name.endswith(("?", "？"))]
        if asked:
            questions.setdefault(asked[0])
    return list(questions)[:SUGGESTIONS]


def has_chinese(text: str) -> bool:
    return bool(re.search(CHINESE_RUN, text))

"""Whether the material holds an answer at all, decided before anything is written."""

import re
import unicodedata
from collections.abc import Sequence

from rapidfuzz import fuzz, process

from rag.analysis import CHINESE_RUN, LATIN_TERM, fold
from rag.index import Index
from rag.retrieval import Evidence
from rag.types import Refusal

# Best cosine below which the material is taken to be silent, by embedder and by whether the question is in Chinese. An
# English question lies further from its Chinese passage. Set on development questions: their 5th percentile is .886 and
# .810, the 95th percentile of everyday questions about other things .869 and .785.
THRESHOLDS = {"multilingual-e5-small": (0.875, 0.80)}
# Other embedders have other scales; without a measured threshold only missing names refuse.
NO_THRESHOLD = (0.0, 0.0)
LATIN_NAME = re.compile(LATIN_TERM, re.IGNORECASE)
# What is written like a name: GRPO, LoRA, W4A16, ZeRO-3; not 80G or 0.3ms.
NAME = re.compile(r"(?=\D)(?:.*[A-Z][A-Za-z]*[A-Z]|.*[A-Za-z]-?\d|.*_)")
# A plain Latin word in a Chinese question may be a name (mamba) or just a word (baseline): it counts up to this cosine.
SURE = 0.90
# Latin words in Chinese questions that name nothing.
FUNCTION_WORDS = frozenset(
    ("vs", "versus", "and", "or", "the", "of", "in", "is", "what", "why", "how", "to", "for", "with", "ai")
)
# Spellings this alike (per cent) are taken for a slip of the pen; digits must agree, for ZeRO-2 is not ZeRO-3.
TYPO = 80.0
SUGGESTIONS = 3


def judge(index: Index, evidence: Evidence) -> Refusal | None:
    """A refusal where nothing found is near enough to the question, or where the question names something that stands
    nowhere in the material; None where an answer can be tried."""
    missing = tuple(missing_names(index, evidence.query, names_only=evidence.similarity >= SURE))
    chinese, other = THRESHOLDS.get(index.manifest.embedder.split("@")[0], NO_THRESHOLD)
    near = bool(evidence.hits) and evidence.similarity >= (chinese if has_chinese(evidence.query) else other)
    if near and not missing:
        return None
    return Refusal("missing_terms" if near else "nothing_relevant", missing, tuple(suggest(evidence)))


def missing_names(index: Index, question: str, *, names_only: bool) -> list[str]:
    """Names in Latin letters of the question that stand nowhere in the material, as the question writes them.

    In a Chinese question capitalised words count too, and other Latin words unless `names_only`.
    """
    chinese = has_chinese(question)
    names: dict[str, str] = {}
    for match in LATIN_NAME.finditer(unicodedata.normalize("NFKC", question)):
        name = fold(match[0])
        is_word = chinese and len(name) > 3 and not name[0].isdigit() and name not in FUNCTION_WORDS
        is_word = is_word and (match[0][0].isupper() or not names_only)
        if not (NAME.match(match[0]) or is_word):
            continue
        if not _is_known(index, name):
            names.setdefault(name, match[0])
    return list(names.values())


def _is_known(index: Index, name: str) -> bool:
    if index.keywords.frequency(name):
        return True
    parts = [part for part in re.split(r"[-_.+#/&]", name) if part]
    # The number alone makes another name: that `zero` and `4` stand somewhere does not make `zero-4` known.
    if len(parts) > 1 and all(not part.isdigit() and index.keywords.frequency(part) for part in parts):
        return True
    digits = re.sub(r"\D", "", name)
    alike = process.extract(name, index.keywords.latin_terms, scorer=fuzz.ratio, score_cutoff=TYPO, limit=5)
    return len(name) > 3 and any(re.sub(r"\D", "", term) == digits for term, _, _ in alike)


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

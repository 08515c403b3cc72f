"""Measures how well a new generation matches questions that it does not answer, to calibrate refusals; see
`rag.answer.answerability`. Needs no labels: the questions are our own list about everything but this field.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from rag.answer.answerability import BEST, read_features
from rag.embedding import Embedder, Encoded
from rag.index import Index
from rag.index.manifest import Anchor, Anchors
from rag.language.language import has_chinese
from rag.parallel import in_parallel
from rag.search.retrieval import encode_questions, search

QUESTIONS = Path(__file__).with_name("questions_from_elsewhere.txt")
# Questions asked per language: some 15 ms each on the corpus. Asking all moves no anchor there by more than .002.
ASKED = 150
# Questions encoded at once.
BATCH = 16
# Smaller indexes are not measured: matches depend on the number of passages.
FEWEST_PASSAGES = 100
# Measured again once this share of the passages has changed.
CHANGED = 0.1
# The share of passages at which the material counts as written in a language; the size of the sample.
WRITTEN, SAMPLE = 0.05, 500
# Of the matches: the median is the anchor, the range between the outer two its spread.
QUANTILES = (0.1, 0.5, 0.9)
LEAST_SPREAD = 1e-3


def anchors_of(
    index: Index,
    earlier: Anchors | None,
    changed: int,
    load_embedder: Callable[[], Embedder],
    *,
    unfinished: bool = False,
) -> Anchors | None:
    """The anchors of an index: `earlier` unless much has changed and it is not `unfinished`; None if it is too small.
    `changed` counts the passages added and removed."""
    if index.manifest.passages < FEWEST_PASSAGES:
        return None
    if earlier is not None and (unfinished or earlier.changed + changed <= CHANGED * earlier.passages):
        return earlier.model_copy(update={"changed": earlier.changed + changed})
    return _measure(index, load_embedder())


def questions_from_elsewhere(*, chinese: bool) -> list[str]:
    lines = QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if has_chinese(line) is chinese]


def _measure(index: Index, embedder: Embedder) -> Anchors:
    passages = index.manifest.passages
    sample = np.linspace(0, passages - 1, min(SAMPLE, passages)).astype(int)
    in_chinese = np.mean([has_chinese(passage.text) for passage in index.storage.passages(sample.tolist())])
    return Anchors(
        chinese=_anchor(index, embedder, questions_from_elsewhere(chinese=True)),
        other=_anchor(index, embedder, questions_from_elsewhere(chinese=False)),
        writes_chinese=bool(in_chinese >= WRITTEN),
        writes_other=bool(1 - in_chinese >= WRITTEN),
        passages=passages,
    )


def _anchor(index: Index, embedder: Embedder, questions: Sequence[str]) -> Anchor:
    places = np.linspace(0, len(questions) - 1, min(ASKED, len(questions))).astype(int)
    asked = [questions[place] for place in places]
    matches: list[float] = []
    for start in range(0, len(asked), BATCH):
        batch = asked[start : start + BATCH]
        encoded = zip(batch, encode_questions(embedder, batch), strict=True)
        matches += in_parallel(lambda pair: _match(index, embedder, *pair), encoded)
    low, median, high = np.quantile(matches, QUANTILES).tolist()
    return Anchor(median=round(median, 4), spread=round(max(high - low, LEAST_SPREAD), 4))


def _match(index: Index, embedder: Embedder, question: str, encoded: Encoded) -> float:
    features = read_features(index, search(index, embedder, question, k=BEST, encoded=encoded), ())
    return features.match if features else 0.0

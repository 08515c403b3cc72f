"""How well a new generation matches questions that it does not answer: what refusals are calibrated by, see
`rag.answer.calibration`. No labels are needed: the questions are a list of our own about everything but this field.
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
# Asked in each language: some 15 ms a question on the corpus. All of them move no anchor there by more than .002.
ASKED = 150
# Questions encoded at once.
BATCH = 16
# Smaller indexes are not measured: how well passages match depends on how many there are.
FEWEST_PASSAGES = 100
# Measured anew when this share of the passages has changed since.
CHANGED = 0.1
# A material writes a language that so many of its passages are in; so many passages are looked at.
WRITTEN, SAMPLE = 0.05, 500
# Of the matches: the median is the anchor, the distance of the outer two its spread.
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
    """Those of an index, `earlier` unless much has changed and it is not `unfinished`; None where it is too small.
    `changed` counts the passages that were added and removed."""
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

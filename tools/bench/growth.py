"""From 1,000 to 1,000,000 passages of 80 characters: what a search, opening, publishing, memory and disk cost."""

from typing import Any

import numpy as np

from rag.index import open_index
from rag.language.terms import terms
from rag.search.retrieval import CANDIDATES, search_keyword
from rag.settings import Settings
from tools.bench.embedded_corpus import EmbeddedCorpus
from tools.bench.measuring import in_fresh_process, milliseconds, resident_megabytes, seconds, spread, table
from tools.bench.plot import draw
from tools.bench.synthetic import QUERY_NOISE, perturb
from tools.bench.synthetic_index import publish_seconds, synthetic_index

LENGTH = 80
SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUERIES = 100


def measure(corpus: EmbeddedCorpus, *, quick: bool) -> dict[str, Any]:
    questions = list(corpus.questions[:QUERIES])
    embedded = np.stack([corpus.embedder.embed_query(question) for question in questions])
    rows = []
    for size in SIZES[:2] if quick else SIZES:
        settings, written = synthetic_index(corpus, size, length=LENGTH)
        asked = in_fresh_process(_asked, settings, questions, perturb(embedded, len(embedded), noise=QUERY_NOISE))
        rows.append(
            {
                "passages": size,
                **asked,
                "publish s": round(publish_seconds(settings)[0], 2),
                **{f"write {part} s": round(value, 2) for part, value in written.items()},
                "disk MB": _disk(settings),
            }
        )
    if not quick:
        draw(rows)
    return {"rows": rows, "settings": {"characters_per_passage": LENGTH, "queries": len(questions)}}


def show(result: dict[str, Any]) -> str:
    return table(result["rows"])


def _asked(settings: Settings, questions: list[str], vectors: np.ndarray[Any, np.dtype[np.float32]]) -> dict[str, Any]:
    before, own = resident_megabytes(), resident_megabytes(own=True)
    opening = seconds(lambda: open_index(settings.index).close())
    index = open_index(settings.index)
    words = [terms(question) for question in questions]
    chance = np.random.default_rng(0)
    numbers = [chance.integers(0, len(index.vectors), 10).tolist() for _ in questions]
    result = {
        "dense ms": spread(milliseconds(lambda vector: index.vectors.search(vector, CANDIDATES), vectors)),
        "keyword ms": spread(
            milliseconds(lambda query: search_keyword(index.keywords.match(query), CANDIDATES), words)
        ),
        "fetch ms": spread(milliseconds(index.storage.passages, numbers)),
        "open s": round(opening, 2),
    }
    grown, grown_own = resident_megabytes() - before, resident_megabytes(own=True) - own
    index.close()
    return {**result, "MB own / mapped": {"own": round(grown_own), "mapped": round(grown - grown_own)}}


def _disk(settings: Settings) -> dict[str, float]:
    files = open_index(settings.index).manifest.files
    return {
        name.partition(".")[2] + " " + name.partition(".")[0]: round(r.size / 2**20, 1) for name, r in files.items()
    }

"""A question on an open index: what retrieval adds to embedding it, many askers at once, and cold start."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.answer.assistant import Assistant
from rag.embedding import Embedder, Encoded, Progress
from rag.index import DiskIndex, open_index
from rag.language.terms import terms
from rag.paths import PROGRAM
from rag.search.fusion import FusionWeights
from rag.search.retrieval import CANDIDATES, search, search_keyword
from rag.settings import Settings
from tools.bench.embedded_corpus import EmbeddedCorpus
from tools.bench.measuring import in_fresh_process, median, milliseconds, resident_megabytes, spread, table
from tools.bench.synthetic_index import synthetic_index

ASKERS = 8
STARTS = 3
# What retrieval may add to the embedding of the question, p50 in milliseconds; p95 twice as much.
TARGETS = {10_000: 6.0, 100_000: 25.0}


class Timed:
    """An embedder that remembers how long its last question took, to tell it apart from the search."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.identity, self.dimension, self.max_tokens = inner.identity, inner.dimension, inner.max_tokens
        self.milliseconds = 0.0

    def embed_passages(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        return self._inner.embed_passages(texts, progress)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return self._inner.embed_query(text)

    def encode_passages(self, texts: Sequence[str], progress: Progress | None = None) -> Iterator[tuple[int, Encoded]]:
        return self._inner.encode_passages(texts, progress)

    def encode_queries(self, texts: Sequence[str]) -> list[Encoded]:
        started = time.perf_counter()
        encoded = self._inner.encode_queries(texts)
        self.milliseconds = (time.perf_counter() - started) * 1_000
        return encoded

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._inner.count_tokens(texts)

    def token_spans(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return self._inner.token_spans(texts)


def measure(corpus: EmbeddedCorpus, *, quick: bool) -> dict[str, Any]:
    sizes = [None, *([5_000] if quick else TARGETS)]
    rows = []
    for size in sizes:
        settings = corpus.settings if size is None else synthetic_index(corpus, size)[0]
        rows.append(_at(corpus, settings, size or len(corpus.texts), quick=quick))
    return {"rows": rows, "targets_p50_ms": TARGETS, "askers": ASKERS}


def show(result: dict[str, Any]) -> str:
    return table(result["rows"])


def _at(corpus: EmbeddedCorpus, settings: Settings, passages: int, *, quick: bool) -> dict[str, Any]:
    timed = Timed(corpus.embedder)
    index = open_index(settings.index)
    embedding: list[float] = []
    adding: dict[str, list[float]] = {"retrieval": [], "late interaction": []}
    for question in (corpus.questions[0], *corpus.questions):
        added = {}
        for stage, ranking in (("retrieval", FusionWeights(by_token=False)), ("late interaction", FusionWeights())):
            started = time.perf_counter()
            search(index, timed, question, ranking=ranking)
            added[stage] = (time.perf_counter() - started) * 1_000 - timed.milliseconds
            embedding.append(timed.milliseconds)
        adding["retrieval"].append(added["retrieval"])
        adding["late interaction"].append(max(0.0, added["late interaction"] - added["retrieval"]))
    has_tokens = index.tokens is not None
    parts = _parts(index, corpus)
    index.close()
    assistant = Assistant(settings, corpus.embedder)
    questions = corpus.questions[: 24 if quick else 80]
    alone = _throughput(assistant, questions, 1)
    together = _throughput(assistant, questions, ASKERS)
    cold = [_cold_start(settings, corpus.questions[0]) for _ in range(1 if quick else STARTS)]
    return {
        "passages": passages,
        "embed ms p50 / p95": spread(embedding[1:]),
        "retrieval adds ms p50 / p95": spread(adding["retrieval"][1:]),
        "late interaction adds": spread(adding["late interaction"][1:]) if has_tokens else "no tokens",
        **parts,
        "answers/s, 1 asker": round(alone["per_second"], 1),
        f"answers/s, {ASKERS} askers": round(together["per_second"], 1),
        f"{ASKERS} askers ms p50 / p95": together["milliseconds"],
        "cold start s": round(median(cold), 2),
        **in_fresh_process(_opening, settings),
    }


def _parts(index: DiskIndex, corpus: EmbeddedCorpus) -> dict[str, float]:
    vectors = [corpus.embedder.embed_query(question) for question in corpus.questions[:60]]
    words = [terms(question) for question in corpus.questions[:60]]
    chance = np.random.default_rng(0)
    numbers = [chance.integers(0, len(index.vectors), 10).tolist() for _ in vectors]
    return {
        "dense ms": spread(milliseconds(lambda vector: index.vectors.search(vector, CANDIDATES), vectors))["p50"],
        "keyword ms": spread(
            milliseconds(lambda query: search_keyword(index.keywords.match(query), CANDIDATES), words)
        )["p50"],
        "fetch ms": spread(milliseconds(index.storage.passages, numbers))["p50"],
    }


def _throughput(assistant: Assistant, questions: Sequence[str], askers: int) -> dict[str, Any]:
    taken: list[float] = []
    lock = threading.Lock()

    def ask(question: str) -> None:
        started = time.perf_counter()
        assistant.ask(question)
        with lock:
            taken.append((time.perf_counter() - started) * 1_000)

    started = time.perf_counter()
    with ThreadPoolExecutor(askers) as pool:
        list(pool.map(ask, questions))
    return {"per_second": len(questions) / (time.perf_counter() - started), "milliseconds": spread(taken)}


def _cold_start(settings: Settings, question: str) -> float:
    """Seconds from starting `python -m rag search` to its result."""
    command = [sys.executable, "-m", "rag", "search", question, "--index", str(settings.index), "--json"]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=PROGRAM, check=True, capture_output=True)
    taken = time.perf_counter() - started
    assert json.loads(done.stdout)["results"], "a search without results tells nothing about the start"
    return taken


def _opening(settings: Settings) -> dict[str, float]:
    before = resident_megabytes()
    started = time.perf_counter()
    index = open_index(settings.index)
    taken = time.perf_counter() - started
    for number in range(100):
        vector = index.vectors.rows([number])[0]
        index.vectors.search(vector, CANDIDATES)
        passage = index.storage.passages([number])[0]
        index.keywords.scores(terms(passage.text)[:20])
    grown = resident_megabytes() - before
    index.close()
    return {"open s": round(taken, 3), "index MB": round(grown, 1)}

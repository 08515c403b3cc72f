"""Evaluates how well passages are found: several systems on one dataset, through the code that users run."""

import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.answer.assistant import MAX_QUESTION_CHARACTERS, Assistant, check_question
from rag.embedding import embedder_identity, load_embedder
from rag.errors import UsageError
from rag.evaluation.datasets import Dataset, Query, Split, evenly_spread
from rag.evaluation.intervals import resampled_means, summary, two_sided_p
from rag.evaluation.progress import Track, bar
from rag.evaluation.provenance import provenance
from rag.evaluation.retrieval.embedding_cache import CachedEmbedder
from rag.evaluation.retrieval.indexing import document_text, index_documents, shaping
from rag.evaluation.retrieval.metrics import (
    EVIDENCE_CHARACTERS,
    NDCG,
    RANKING_MEASURES,
    evidence_measures,
    ranking_measures,
)
from rag.evaluation.retrieval.system_interface import (
    CHARACTERS,
    DOCUMENTS,
    System,
    SystemInputs,
    document_ranking,
    retrieve,
)
from rag.evaluation.retrieval.systems import OURS, SYSTEMS, is_baseline
from rag.index import Index, open_index
from rag.index.manifest import require_embedder
from rag.index.stores import open_store
from rag.question.follow_ups import recent, stand_alone
from rag.settings import Settings
from rag.types import Turn

# Number of questions that are timed, evenly spread over the dataset.
TIMED = 100
MAX_LISTED = 5


@dataclass(frozen=True, slots=True)
class SystemOutcome:
    """The outcome of one system: by query id its measures and first ten documents; milliseconds per timed question;
    seconds to build."""

    measures: Mapping[str, Mapping[str, float]]
    rankings: Mapping[str, Sequence[str]]
    milliseconds: Sequence[float]
    build_seconds: float


@dataclass(frozen=True, slots=True)
class RetrievalEvaluation:
    """`result` is the JSON of the command; `rows` has a row for each query."""

    result: dict[str, Any]
    rows: list[dict[str, Any]]


def evaluate(
    dataset: Dataset,
    settings: Settings,
    systems: Sequence[str],
    *,
    split: Split = Split.ALL,
    limit: int | None = None,
    work: Path | None = None,
    track: Track = bar,
) -> RetrievalEvaluation:
    """Run the systems on the queries of a split that have a relevant document, at most `limit` of them.

    The documents of a BEIR dataset are ingested into an index below `work`, by default a temporary folder; a gold file
    uses the index of the settings. Follow-ups are made to stand alone, in the same way for every system. Raises
    UsageError, or IngestError if ingesting fails.
    """
    part = _limited(dataset.part(split), limit)
    checked = {query.id: _checked(part, query) for query in part.scored}
    with ExitStack() as stack:
        if work is None:
            work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="interview-rag-evaluation-")))
        inputs = _open(dataset, settings, work)
        stack.callback(inputs.embedder.save)
        questions = {query.id: _standalone(inputs, checked[query.id], query.history) for query in part.scored}
        outcomes = {name: _run(name, inputs, part, questions, track) for name in systems}
        index = inputs.assistant.index
        result = {
            "dataset": dataset.name,
            "split": str(split),
            "limit": limit,
            "queries": {
                "scored": len(part.scored),
                "without_relevant_document": len(part.queries) - len(part.scored),
            },
            "documents": {
                "total": len(inputs.texts),
                "duplicates": dataset.duplicate_documents,
                "not_indexed": len(inputs.texts) - index.manifest.documents,
            },
            **_compare(part, outcomes),
            "speed_ms": {name: _speed(outcome.milliseconds) for name, outcome in outcomes.items()},
            "indexing": _indexing(index, outcomes),
            "embedder": inputs.embedder.identity,
            "settings": {"top_k": inputs.assistant.settings.top_k} | public_settings(settings),
            **provenance(),
        }
    return RetrievalEvaluation(result, [_row(query, questions[query.id], outcomes) for query in part.scored])


def _limited(dataset: Dataset, limit: int | None) -> Dataset:
    if limit is None:
        return dataset
    if limit < 1:
        raise UsageError(f"--limit {limit} asks nothing", hint="give a number of at least 1")
    kept = set(evenly_spread([query.id for query in dataset.scored], limit))
    return replace(dataset, queries=tuple(query for query in dataset.queries if query.id in kept))


def _checked(dataset: Dataset, query: Query) -> str:
    try:
        return check_question(query.text)
    except UsageError as error:
        raise UsageError(f"{dataset.name}: query {query.id!r}: {error.message}", hint="mend the query") from error


def _standalone(inputs: SystemInputs, question: str, history: Sequence[Turn]) -> str:
    asked = stand_alone(inputs.assistant.resources.searcher, question, recent(history))
    return asked.query[:MAX_QUESTION_CHARACTERS]


def _open(dataset: Dataset, settings: Settings, work: Path) -> SystemInputs:
    """The inputs of a dataset. Errors in an index are raised before the model is loaded."""
    if dataset.documents is None:
        index = open_store(settings).open()
        texts = {document.name: document.source for document in index.storage.documents()}
        _require_documents(dataset, texts, settings)
        names = {name: name for name in texts}
    else:
        indexed = index_documents(dataset.documents, settings, work)
        settings, names = indexed.settings, dict(indexed.names)
        index = open_index(settings.index)
        texts = {document.id: document_text(document) for document in dataset.documents}
    require_embedder(settings.index, index.manifest, embedder_identity(settings))
    embedder = load_embedder(settings)
    identity = embedder.identity.replace("/", "-")
    cached = CachedEmbedder(embedder, work / f"vectors-{identity}-{settings.precision}.safetensors")
    return SystemInputs(Assistant(settings, cached, index=index), cached, texts, names)


def _require_documents(dataset: Dataset, texts: Mapping[str, str], settings: Settings) -> None:
    wanted = {document for grades in dataset.qrels.values() for document in grades}
    missing = sorted(wanted - set(texts))
    if missing:
        shown = ", ".join(missing[:MAX_LISTED]) + (", …" if len(missing) > MAX_LISTED else "")
        raise UsageError(
            f"{len(missing)} of {len(wanted)} documents of {dataset.name} are not in the index at {settings.index}: "
            f"{shown}",
            hint="ingest their folder, alone, into it: python -m ingest FOLDER --index DIR; then name it with --index",
        )


def _run(
    name: str, inputs: SystemInputs, dataset: Dataset, questions: Mapping[str, str], track: Track
) -> SystemOutcome:
    started = time.perf_counter()
    system = SYSTEMS[name](inputs)
    built = time.perf_counter() - started
    rankings: dict[str, list[str]] = {}
    evidence: dict[str, dict[str, float]] = {}
    first = inputs.assistant.settings.top_k
    for query_id, question in track(questions.items(), name):
        quotes = dataset.evidence.get(query_id, ())
        passages = retrieve(system, question, first=first, characters=CHARACTERS if quotes else 0)
        rankings[query_id] = document_ranking(passages)[:DOCUMENTS]
        evidence[query_id] = evidence_measures(passages, quotes) if quotes else {}
    measures = ranking_measures(rankings, dataset.qrels)
    with inputs.embedder.bypassed():
        milliseconds = _time(system, list(questions.values()), first)
    both = {query: measures[query] | evidence[query] for query in questions}
    return SystemOutcome(both, rankings, milliseconds, built)


def _time(system: System, questions: Sequence[str], count: int) -> list[float]:
    system(questions[0], count)  # the first also warms up
    milliseconds = []
    for question in evenly_spread(questions, TIMED):
        started = time.perf_counter()
        system(question, count)
        milliseconds.append((time.perf_counter() - started) * 1_000)
    return milliseconds


def _compare(dataset: Dataset, outcomes: Mapping[str, SystemOutcome]) -> dict[str, Any]:
    """Means with intervals, the differences of ours to each other system, and the means by kind of question."""
    names = [*RANKING_MEASURES, *(EVIDENCE_CHARACTERS if dataset.evidence else ())]
    queries = dataset.scored
    values = {name: _table(outcome, queries, names) for name, outcome in outcomes.items()}
    means = {name: table.mean(axis=0) for name, table in values.items()}
    resampled = {name: resampled_means(table) for name, table in values.items()}
    compared: dict[str, Any] = {
        "systems": {
            name: {measure: summary(means[name][at], resampled[name][:, at]) for at, measure in enumerate(names)}
            for name in outcomes
        }
    }
    if OURS in outcomes:
        compared["differences"] = {
            name: {
                measure: summary(means[OURS][at] - means[name][at], resampled[OURS][:, at] - resampled[name][:, at])
                | {"p": round(two_sided_p(resampled[OURS][:, at] - resampled[name][:, at]), 6)}
                for at, measure in enumerate(names)
            }
            for name in outcomes
            if name != OURS
        }
        compared["recovered"] = _recovered({name: float(mean[names.index(NDCG)]) for name, mean in means.items()})
    kinds = Counter(query.kind for query in queries if query.kind)
    compared["kinds"] = {
        kind: {
            "queries": count,
            "systems": {
                name: dict(zip(names, _rounded(table[[query.kind == kind for query in queries]]), strict=True))
                for name, table in values.items()
            },
        }
        for kind, count in kinds.items()
    }
    return compared


def _recovered(ndcg: Mapping[str, float]) -> dict[str, Any] | None:
    """The share of the best baseline's gap to 1 that ours closes: (ours - best) / (1 - best). None without a
    baseline."""
    baselines = [name for name in ndcg if is_baseline(name)]
    if not baselines:
        return None
    best = max(baselines, key=lambda name: ndcg[name])
    left = 1 - ndcg[best]
    value = round((ndcg[OURS] - ndcg[best]) / left, 6) if left > 0 else None
    return {"measure": NDCG, "against": best, "value": value}


def _table(outcome: SystemOutcome, queries: Sequence[Query], names: Sequence[str]) -> NDArray[np.float64]:
    """Shape (queries, measures)."""
    return np.asarray([[outcome.measures[query.id][name] for name in names] for query in queries])


def _rounded(rows: NDArray[np.float64]) -> list[float]:
    return [round(float(value), 6) for value in rows.mean(axis=0)]


def _speed(milliseconds: Sequence[float]) -> dict[str, float]:
    p50, p95 = np.quantile(milliseconds, [0.5, 0.95]).tolist()
    return {"p50": round(p50, 2), "p95": round(p95, 2)}


def _indexing(index: Index, outcomes: Mapping[str, SystemOutcome]) -> dict[str, Any]:
    """The time that ingesting this index took; None unless all passages were embedded in one run."""
    report = index.manifest.report
    embedded, total, seconds = report["passages"]["embedded"], report["passages"]["total"], report["seconds"]
    whole = embedded == total and seconds
    return {
        "passages": index.manifest.passages,
        "seconds": seconds if whole else None,
        "passages_per_second": round(embedded / seconds, 1) if whole else None,
        # Near zero if an earlier run left all vectors.
        "build_seconds": {name: round(outcome.build_seconds, 2) for name, outcome in outcomes.items()},
    }


def public_settings(settings: Settings) -> dict[str, Any]:
    """The settings that affect results; an embedder in its own folder is named by that folder."""
    return {key: Path(value).name if key == "embedder" else value for key, value in shaping(settings).items()}


def _row(query: Query, question: str, outcomes: Mapping[str, SystemOutcome]) -> dict[str, Any]:
    return {
        "id": query.id,
        "kind": query.kind,
        "question": question,
        "systems": {
            name: {
                **{measure: round(value, 6) for measure, value in outcome.measures[query.id].items()},
                "documents": outcome.rankings[query.id],
            }
            for name, outcome in outcomes.items()
        },
    }

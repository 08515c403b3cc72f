"""Evaluates how good and how fast answers are: asks the questions of a gold file of the assistant that serves users.

Every measure has a 95% interval: Wilson's for shares of questions, else a bootstrap over questions (`intervals`).
`judging` says how claims, citations and evidence are judged. A refused question has a citation recall of 0.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.answer.assistant import Assistant, check_question
from rag.answer.trace import EvidenceFound, Finished, TextAdded, TextDiscarded
from rag.errors import UsageError
from rag.evaluation.answers import judging
from rag.evaluation.answers.judging import locate
from rag.evaluation.answers.table import gates
from rag.evaluation.datasets import GoldRow, Split, choose, load_gold
from rag.evaluation.intervals import quantile, ratio, share
from rag.evaluation.progress import Track, bar
from rag.evaluation.provenance import provenance
from rag.evaluation.retrieval.metrics import NDCG, ranking_measures
from rag.evaluation.retrieval.run import MAX_LISTED, public_settings
from rag.index import Index
from rag.index.stores import open_store
from rag.search.retrieval import Evidence
from rag.settings import Settings
from rag.types import Answer, Turn

TWO_SIDED, FOLLOW_UP = "two-sided", "follow-up"
# Decimals of measured seconds.
DIGITS = 4


@dataclass(frozen=True, slots=True)
class Timed:
    """An answer, the evidence shown with it, and the seconds until each appeared; `first_text` is None if no text was
    kept."""

    answer: Answer
    evidence: Evidence
    first_evidence: float
    first_text: float | None
    end: float


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """A question, its answer, and the judgement on it.

    `found` and `cited` say for each gold quote whether the passages and the citations cover it. `ndcg` is nDCG@10;
    `alone`, of follow-ups only, is that of the standalone question.
    """

    row: GoldRow
    timed: Timed
    judged: judging.Judged
    found: tuple[bool, ...]
    cited: tuple[bool, ...]
    ndcg: float | None
    alone: float | None

    @property
    def answerable(self) -> bool:
        return bool(self.row.evidence)

    @property
    def refused(self) -> bool:
        return self.timed.answer.refused


@dataclass(frozen=True, slots=True)
class AnswerEvaluation:
    """`result` is the JSON of the command; `rows` has a row for each question."""

    result: dict[str, Any]
    rows: list[dict[str, Any]]


def evaluate(
    gold: Path, settings: Settings, *, split: Split = Split.ALL, limit: int | None = None, track: Track = bar
) -> AnswerEvaluation:
    """Ask the questions of a split, at most `limit` of them, evenly spread.

    Raises UsageError if the gold file is invalid or does not match the index, before any model is loaded.
    """
    rows = choose(load_gold(gold), split, limit, gold)
    with_index = open_store(settings).open()
    check(rows, with_index, gold)
    with_index.close()
    started = time.perf_counter()
    assistant = Assistant.open(settings)
    opened = time.perf_counter() - started
    # The first answer loads and warms up what later answers reuse.
    cold = ask(assistant, rows[0].question, rows[0].turns)
    outcomes = [run_row(assistant, row) for row in track(rows, assistant.llm)]
    return AnswerEvaluation(
        summarise(outcomes, assistant.llm)
        | {
            "dataset": gold.resolve().stem,
            "split": str(split),
            "limit": limit,
            "model": assistant.model_name,
            "cold_seconds": {"open": round(opened, DIGITS), "first_answer": round(cold.end, DIGITS)},
            "embedder": assistant.embedder.identity,
            "documents": assistant.index.manifest.documents,
            "settings": {"top_k": settings.top_k} | public_settings(settings),
            **provenance(),
        },
        [_as_row(outcome) for outcome in outcomes],
    )


def check(rows: Iterable[GoldRow], index: Index, gold: Path) -> None:
    """Raise UsageError for rows that contradict themselves, cannot be asked, or quote text that is not in the index."""
    sources: dict[str, str | None] = {}
    absent: list[str] = []
    misquoted: list[str] = []
    for row in rows:
        if row.answerable is not None and row.answerable != bool(row.evidence):
            raise UsageError(
                f"{gold}: {row.id!r} has {len(row.evidence)} quotes and says answerable: {row.answerable}",
                hint="what is answerable has evidence, and nothing else has",
            )
        if row.kind == FOLLOW_UP and row.evidence and not row.standalone:
            raise UsageError(
                f"{gold}: the follow-up {row.id!r} does not say what it asks", hint="add it under `standalone`"
            )
        for question in filter(None, (row.question, row.standalone)):
            try:
                check_question(question)
            except UsageError as error:
                raise UsageError(f"{gold}: {row.id!r}: {error.message}", hint="mend the question") from error
        for evidence in row.evidence:
            if evidence.document not in sources:
                sources[evidence.document] = index.storage.source(evidence.document)
            source = sources[evidence.document]
            if source is None:
                absent.append(evidence.document)
            elif not all(locate(source, wording) for wording in evidence.wordings):
                misquoted.append(f"{row.id} ({evidence.document})")
    if absent:
        raise UsageError(
            f"documents that {gold} quotes are not in the index: {_listed(absent)}",
            hint="ingest their folder, alone, into it: python -m ingest FOLDER --index DIR; then name it with --index",
        )
    if misquoted:
        raise UsageError(
            f"quotes of {gold} do not stand in their documents: {_listed(misquoted)}",
            hint="correct them, or ingest the documents that they were taken from",
        )


def ask(assistant: Assistant, question: str, history: Sequence[Turn]) -> Timed:
    """Ask as the web UI does, and time when each part would appear."""
    started = time.perf_counter()
    first_evidence = 0.0
    first_text: float | None = None
    for event in assistant.stream(question, history):
        now = time.perf_counter() - started
        match event:
            case EvidenceFound():
                first_evidence = now
            case TextAdded():
                first_text = now if first_text is None else first_text
            case TextDiscarded():
                first_text = None
            case Finished(answer, trace):
                return Timed(answer, trace.result.evidence, first_evidence, None if answer.refused else first_text, now)
    raise AssertionError("a stream of events ends with Finished")


def run_row(assistant: Assistant, row: GoldRow) -> AnswerOutcome:
    timed = ask(assistant, row.question, row.turns)
    answer = timed.answer
    documents = {*(evidence.document for evidence in row.evidence), *(c.document for c in answer.citations)}
    sources = {name: assistant.source(name) or "" for name in documents}
    passages = judging.stretches_of(hit.passage for hit in timed.evidence.hits)
    citations = [(citation.document, citation.start, citation.end) for citation in answer.citations]
    return AnswerOutcome(
        row,
        timed,
        judging.judge(answer, sources, {evidence.document for evidence in row.evidence}),
        found=tuple(
            any(judging.covered(w, e.document, sources[e.document], passages) for w in e.wordings) for e in row.evidence
        ),
        cited=tuple(
            any(judging.covered(w, e.document, sources[e.document], citations) for w in e.wordings)
            for e in row.evidence
        ),
        ndcg=_ndcg(timed.evidence, row),
        alone=_ndcg(assistant.search(row.standalone), row) if row.standalone else None,
    )


def summarise(outcomes: Sequence[AnswerOutcome], llm: str) -> dict[str, Any]:
    """All measures of an answerer's outcomes, in total and by kind of question, and its targets with whether it meets
    them."""
    seconds = {
        "first_evidence": _latency([o.timed.first_evidence for o in outcomes]),
        "first_text": _latency([o.timed.first_text for o in outcomes if o.timed.first_text is not None]),
        "end": _latency([o.timed.end for o in outcomes]),
    }
    measured = measures(outcomes)
    kinds = dict.fromkeys(outcome.row.kind for outcome in outcomes if outcome.row.kind)
    return {
        "llm": llm,
        "questions": {
            "asked": len(outcomes),
            "answerable": sum(outcome.answerable for outcome in outcomes),
            "near_misses": sum(not outcome.answerable for outcome in outcomes),
            "two_sided": sum(outcome.row.kind == TWO_SIDED for outcome in outcomes),
            "follow_ups": sum(outcome.alone is not None for outcome in outcomes),
        },
        # Has several answerers if quotes answered in place of a chat model.
        "answered_by": dict(Counter(outcome.timed.answer.llm for outcome in outcomes)),
        "measures": measured,
        "seconds": seconds,
        "gates": gates(llm, measured, seconds),
        "kinds": {
            kind: {
                "questions": sum(outcome.row.kind == kind for outcome in outcomes),
                "measures": measures([outcome for outcome in outcomes if outcome.row.kind == kind]),
            }
            for kind in kinds
        },
    }


def measures(outcomes: Sequence[AnswerOutcome]) -> dict[str, dict[str, Any]]:
    """The measures that apply to these outcomes, each with its interval and its denominator."""
    answerable = [outcome for outcome in outcomes if outcome.answerable]
    near_misses = [outcome for outcome in outcomes if not outcome.answerable]
    answered = [outcome for outcome in outcomes if not outcome.refused]
    two_sided = [outcome for outcome in answerable if outcome.row.kind == TWO_SIDED]
    follow_ups = [outcome for outcome in answerable if outcome.alone is not None]
    caught = sum(outcome.refused for outcome in near_misses)
    refused = len(outcomes) - len(answered)
    found = {
        "citation_precision": _ratio(answered, lambda o: o.judged.precise, lambda o: o.judged.pairs),
        "citation_relevance": _ratio(
            [outcome for outcome in answerable if not outcome.refused],
            lambda o: o.judged.relevant,
            lambda o: o.judged.citations,
        ),
        "citation_recall": _ratio(answerable, lambda o: sum(o.cited) / len(o.cited)),
        "evidence_found": _ratio(answerable, lambda o: sum(o.found) / len(o.found)),
        "unsupported_claims": _ratio(answered, lambda o: o.judged.unsupported, lambda o: o.judged.claims),
        "refusal_recall": share(caught, len(near_misses)),
        "false_refusals": share(refused - caught, len(answerable)),
        "refusal_precision": share(caught, refused),
        "near_misses": share(len(near_misses), len(outcomes)),
        "follow_up_ndcg@10": _ratio(follow_ups, lambda o: o.ndcg or 0.0),
        "standalone_ndcg@10": _ratio(follow_ups, lambda o: o.alone or 0.0),
        "follow_up_retained": _ratio(follow_ups, lambda o: o.ndcg or 0.0, lambda o: o.alone or 0.0),
        "two_sided_found": share(sum(all(o.found) for o in two_sided), len(two_sided)),
        "two_sided_cited": share(sum(all(o.cited) for o in two_sided), len(two_sided)),
        "answer_characters": _ratio(answered, lambda o: len(o.timed.answer.text)),
    }
    return {name: value for name, value in found.items() if value}


def _ratio(
    outcomes: Sequence[AnswerOutcome],
    part: Callable[[AnswerOutcome], float],
    whole: Callable[[AnswerOutcome], float] = lambda _: 1.0,
) -> dict[str, Any]:
    return ratio([part(outcome) for outcome in outcomes], [whole(outcome) for outcome in outcomes])


def _latency(seconds: Sequence[float]) -> dict[str, Any]:
    return {"p50": quantile(seconds, 0.5), "p95": quantile(seconds, 0.95)}


def _ndcg(evidence: Evidence, row: GoldRow) -> float | None:
    """nDCG@10 of the documents of the hits; None for a question without a relevant document."""
    if not row.evidence:
        return None
    stretches = judging.stretches_of(hit.passage for hit in evidence.hits)
    ranking = list(dict.fromkeys(document for document, _, _ in stretches))
    qrels = {evidence.document: 1 for evidence in row.evidence}
    return ranking_measures({row.id: ranking}, {row.id: qrels})[row.id][NDCG]


def _listed(names: Iterable[str]) -> str:
    unique = list(dict.fromkeys(names))
    return ", ".join(unique[:MAX_LISTED]) + (
        f" and {len(unique) - MAX_LISTED} more" if len(unique) > MAX_LISTED else ""
    )


def _as_row(outcome: AnswerOutcome) -> dict[str, Any]:
    answer, judged = outcome.timed.answer, outcome.judged
    return {
        "id": outcome.row.id,
        "kind": outcome.row.kind,
        "question": outcome.row.question,
        "search_queries": answer.search_queries,
        "llm": answer.llm,
        "answerable": outcome.answerable,
        "refused": outcome.refused,
        "found": outcome.found,
        "cited": outcome.cited,
        "claims": judged.claims,
        "unsupported": judged.unsupported,
        "pairs": judged.pairs,
        "precise": judged.precise,
        "ndcg@10": outcome.ndcg,
        "standalone_ndcg@10": outcome.alone,
        "seconds": round(outcome.timed.end, DIGITS),
        "answer": answer.text,
    }

"""Metrics for Prometheus: counts and times, never text. docs/api.md has a dashboard."""

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from rag.answer.trace import Finished
from rag.errors import RagError

SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """The metrics of one server, in their own registry."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._answers = Counter(
            "interview_rag_answers", "Questions answered", ["kind", "llm", "refusal"], registry=self._registry
        )
        self._failures = Counter(
            "interview_rag_failures", "Questions that failed, by error code", ["code"], registry=self._registry
        )
        self._fallbacks = Counter(
            "interview_rag_fallbacks", "Answers by quotes instead of a chat model", ["reason"], registry=self._registry
        )
        self._requests = Counter(
            "interview_rag_http_requests", "Requests", ["route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "interview_rag_answer_seconds",
            "Seconds from a question to its evidence, first text and end",
            ["until"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._stages = Histogram(
            "interview_rag_stage_seconds",
            "Seconds of each stage of the pipeline",
            ["stage"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._running = Gauge("interview_rag_running", "Answers being worked on", registry=self._registry)
        self._generation = Gauge("interview_rag_generation", "Number of the open generation", registry=self._registry)

    def answered(self, finished: Finished) -> None:
        answer, trace = finished.answer, finished.trace
        kind = "courtesy" if answer.courtesy is not None else str(answer.kind)
        reason = answer.refusal.reason if answer.refusal is not None else ""
        self._answers.labels(kind, answer.llm, str(reason)).inc()
        if answer.fallback is not None:
            self._fallbacks.labels(str(answer.fallback)).inc()
        for until in ("retrieve", "first_text", "total"):
            self._seconds.labels(until).observe(getattr(answer.seconds, until))
        for stage, milliseconds in trace.milliseconds.items():
            self._stages.labels(stage).observe(milliseconds / 1_000)

    def failed(self, error: Exception) -> None:
        self._failures.labels(error.code if isinstance(error, RagError) else "unexpected").inc()

    def requested(self, route: str, status: int) -> None:
        self._requests.labels(route, str(status)).inc()

    def running(self, count: Callable[[], int]) -> None:
        self._running.set_function(count)

    def generation(self, name: Callable[[], str]) -> None:
        self._generation.set_function(lambda: int(name()))

    def as_text(self) -> bytes:
        return generate_latest(self._registry)

"""OpenTelemetry spans, made from the pipeline's own `Trace` after an answer: times, counts and kinds, and text only on
request. Sends nothing unless an endpoint is named."""

import time
from typing import TYPE_CHECKING

from rag.answer.trace import Finished
from rag.errors import RagError, UsageError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

# What follows the timed stages.
WRITE = "write"
NANOSECONDS = 1_000_000_000


class Tracing:
    """One span per answer, with a child span per stage. Safe to use from several threads."""

    def __init__(self, provider: "TracerProvider", *, with_text: bool = False) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("interview-rag")
        self._with_text = with_text

    def answered(self, finished: Finished) -> None:
        from opentelemetry.trace import set_span_in_context

        answer, trace = finished.answer, finished.trace
        end = time.time_ns()
        start = end - round(trace.seconds * NANOSECONDS)
        span = self._tracer.start_span("answer", start_time=start)
        span.set_attribute("interview_rag.kind", str(answer.kind))
        span.set_attribute("interview_rag.llm", answer.llm)
        span.set_attribute("interview_rag.generation", trace.resources.index.name)
        span.set_attribute("interview_rag.turns", len(trace.history))
        span.set_attribute("interview_rag.queries", len(answer.search_queries))
        span.set_attribute("interview_rag.citations", len(answer.citations))
        for name, value in (("courtesy", answer.courtesy), ("fallback", answer.fallback)):
            if value is not None:
                span.set_attribute(f"interview_rag.{name}", str(value))
        if answer.refusal is not None:
            span.set_attribute("interview_rag.refusal", str(answer.refusal.reason))
        if self._with_text:
            _add_text(span, finished)
        context = set_span_in_context(span)
        begun = start
        for stage, milliseconds in trace.milliseconds.items():
            # Stages follow each other; the time between two counts towards the later one.
            ended = begun + round(milliseconds * 1_000_000)
            self._tracer.start_span(stage, context, start_time=begun).end(ended)
            begun = ended
        if trace.milliseconds:
            self._tracer.start_span(WRITE, context, start_time=min(begun, end)).end(end)
        span.end(end)

    def failed(self, error: Exception) -> None:
        """Records only the kind of failure: its message may quote the question."""
        from opentelemetry.trace import StatusCode

        span = self._tracer.start_span("answer")
        span.set_attribute("error.type", error.code if isinstance(error, RagError) else type(error).__name__)
        span.set_status(StatusCode.ERROR)
        span.end()

    def close(self) -> None:
        """Send the rest."""
        self._provider.shutdown()


def open_tracing(endpoint: str, *, with_text: bool) -> Tracing:
    """Spans for a collector of OTLP over HTTP, such as http://localhost:4318/v1/traces. Raises UsageError."""
    if not endpoint.startswith(("http://", "https://")):
        raise UsageError(f"{endpoint!r} is no address", hint="it looks like http://localhost:4318/v1/traces")
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise UsageError(
            "OpenTelemetry is not installed", hint="install it: pip install 'interview-rag[tracing]'"
        ) from error
    provider = TracerProvider(resource=Resource.create({"service.name": "interview-rag"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    return Tracing(provider, with_text=with_text)


def _add_text(span: "Span", finished: Finished) -> None:
    span.set_attribute("interview_rag.question", finished.answer.question)
    span.set_attribute("interview_rag.search_queries", list(finished.answer.search_queries))
    span.set_attribute("interview_rag.answer", finished.answer.text)

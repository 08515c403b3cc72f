"""Spans as a collector gets them."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from rag.answer.assistant import Assistant
from rag.errors import ChatModelError, UsageError
from rag.server.tracing import Tracing, open_tracing
from tests.rag.server.http.serving import serving

QUESTION = "LoRA 的秩怎么选？"


def spans_of(assistant: Assistant, *questions: str, with_text: bool = False) -> list[ReadableSpan]:
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracing = Tracing(provider, with_text=with_text)
    with serving(assistant, tracing=tracing) as served, served.client() as client:
        for question in questions:
            assert client.post("/v1/ask", json={"question": question}).status_code == 200
    return list(memory.get_finished_spans())


def times(span: ReadableSpan) -> tuple[int, int]:
    assert span.start_time is not None
    assert span.end_time is not None
    return span.start_time, span.end_time


def test_one_span_for_each_stage(assistant: Assistant) -> None:
    *stages, whole = spans_of(assistant, QUESTION)
    assert [span.name for span in stages] == ["resolve", "search", "decide", "rank", "select", "write"]
    assert whole.name == "answer"
    begin, end = times(whole)
    reached = begin
    for span in stages:
        assert span.parent is not None
        assert span.parent.span_id == whole.context.span_id
        started, ended = times(span)
        assert reached == started <= ended
        reached = ended
    assert reached == end
    assert whole.attributes is not None
    assert whole.attributes["interview_rag.kind"] == "answer"
    assert whole.attributes["interview_rag.generation"] == "000001"


def test_text_is_sent_only_where_it_was_asked_for(assistant: Assistant) -> None:
    silent, told = spans_of(assistant, QUESTION, "你好"), spans_of(assistant, QUESTION, with_text=True)
    assert "LoRA" not in "".join(span.to_json() for span in silent)
    assert told[-1].attributes is not None
    assert told[-1].attributes["interview_rag.question"] == QUESTION
    assert silent[-1].attributes is not None
    assert silent[-1].attributes["interview_rag.courtesy"] == "greeting"


def test_of_a_failure_its_kind_is_told() -> None:
    memory = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(memory))
    Tracing(provider).failed(ChatModelError("it said: LoRA"))
    (span,) = memory.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["error.type"] == "chat_model"
    assert not span.status.is_ok
    assert "LoRA" not in span.to_json()


class Collector(BaseHTTPRequestHandler):
    bodies: ClassVar[list[bytes]] = []

    def do_POST(self) -> None:
        self.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""


def test_a_collector_gets_them(assistant: Assistant) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        tracing = open_tracing(f"http://127.0.0.1:{server.server_port}/v1/traces", with_text=False)
        tracing.answered(assistant.finish(QUESTION))
        tracing.close()
        server.shutdown()
        thread.join()
    sent = b"".join(Collector.bodies)
    assert b"interview_rag.kind" in sent
    assert "秩".encode() not in sent


def test_an_endpoint_that_is_none() -> None:
    with pytest.raises(UsageError, match="no address"):
        open_tracing("localhost:4318", with_text=False)

"""What Prometheus is given, and what the documentation asks it for."""

import re

from prometheus_client.parser import text_string_to_metric_families

from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.server.metrics import Metrics
from tests.paths import ROOT

QUERY = re.compile(r"^\| [^|]+ \| `(.*interview_rag_.*)` \|$", re.MULTILINE)
SERIES = re.compile(r"interview_rag_\w+")
LABELS = re.compile(r"by \(([\w, ]+)\)|\{(\w+)=")


def test_the_documented_queries_ask_for_what_there_is(assistant: Assistant) -> None:
    metrics = Metrics()
    metrics.running(lambda: 0)
    metrics.generation(lambda: "000001")
    metrics.answered(assistant.finish("LoRA 的秩怎么选？"))
    metrics.failed(UsageError("empty"))
    metrics.requested("/v1/ask", 200)
    metrics._fallbacks.labels("busy").inc()
    there: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(metrics.as_text().decode()):
        for sample in family.samples:
            there.setdefault(sample.name, set()).update(sample.labels)
    queries = QUERY.findall((ROOT / "docs" / "api.md").read_text(encoding="utf-8"))
    assert len(queries) >= 9
    for query in queries:
        known = set().union(*(there[name] for name in SERIES.findall(query)))
        named = {label for found in LABELS.findall(query) for label in re.findall(r"\w+", " ".join(found))}
        assert named <= known, query

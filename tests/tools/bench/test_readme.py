"""What the benches found, in a table: the right figures."""

import json
from typing import Any

from tests.paths import ROOT
from tools.bench.readme import MARKERS, markdown
from tools.report.retrieval import with_table

MADE_UP: dict[str, Any] = {
    "ingest": {
        "documents": 30,
        "characters": 12_345,
        "rows": [{"way": "LangChain", "seconds (median)": 50.0}, {"way": "ours", "seconds (median)": 20.5}],
        "ours_is_faster_by": {"LangChain": {"time": 2.44, "passages per second": 4.1}},
        "peak": {"precision": "bfloat16", "share_of_peak": 0.527, "ms_per_passage": 44.1},
    },
    "query": {
        "rows": [
            {
                "passages": 10_000,
                "retrieval adds ms p50 / p95": {"p50": 1.78, "p95": 2.09},
                "late interaction adds": {"p50": 11.44, "p95": 17.45},
                "answers/s, 1 asker": 21.7,
                "answers/s, 8 askers": 19.8,
                "8 askers ms p50 / p95": {"p50": 379.7, "p95": 489.6},
                "cold start s": 8.56,
            },
            {
                "passages": 100_000,
                "retrieval adds ms p50 / p95": {"p50": 3.84, "p95": 4.95},
                "late interaction adds": "no tokens",
                "answers/s, 1 asker": 29.7,
                "answers/s, 8 askers": 34.0,
                "8 askers ms p50 / p95": {"p50": 236.1, "p95": 246.0},
                "cold start s": 8.3,
            },
        ]
    },
    "vectors": {
        "rows": [
            {"passages": 1_000_000, "way": "all compared (NumPy)", "p50 / p95 ms": {"p50": 73.8, "p95": 81.3}},
            {
                "passages": 1_000_000,
                "way": "ours",
                "recall@10": 0.9987,
                "p50 / p95 ms": {"p50": 10.69, "p95": 13.03},
                "MB own / mapped": {"own": 111, "mapped": 1_468},
            },
        ]
    },
    "keywords": {
        "rows": [
            {"passages": 10_000, "way": "ours", "query ms p50 / p95": {"p50": 0.26, "p95": 0.38}},
            {"passages": 10_000, "way": "tantivy", "query ms p50 / p95": {"p50": 0.12, "p95": 0.21}},
        ]
    },
}


def test_the_figures_stand_in_the_table() -> None:
    lines = markdown(MADE_UP).splitlines()
    assert lines[2] == "| documents to an index, 30 pages (12,345 characters) | 20.5 s | 2.44× as fast as LangChain |"
    assert "| retrieval adds to embedding the question, 100,000 passages, p50 / p95 | 3.8 / 5.0 ms |  |" in lines
    assert "| late interaction adds, 10,000 passages, p50 / p95 | 11.4 / 17.4 ms |  |" in lines
    assert sum("late interaction" in line for line in lines) == 1
    assert (
        "| vector search, 1,000,000 passages, p50 / p95 | 10.7 / 13.0 ms | recall@10 0.999, 111 MB and 1,468 MB of "
        "mapped files; all compared: 73.8 ms |" in lines
    )
    assert lines[-1] == "| keyword search, 10,000 passages, p50 / p95 | 0.3 / 0.4 ms | tantivy 0.1 / 0.2 ms |"


def test_the_page_of_measurements_shows_what_the_benches_wrote() -> None:
    """The table is made from the files that are committed: their shape is known, and none of its figures is stale."""
    speed = ROOT / "docs" / "results" / "speed"
    results = {
        name: json.loads((speed / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("ingest", "query", "vectors", "keywords")
    }
    page = ROOT / "docs" / "measurements.md"
    assert with_table(page, markdown(results), markers=MARKERS) == page.read_text(encoding="utf-8")

"""python -m tools.bench.latency: how long an answer takes on this machine.

Questions are those that the indexed documents say they answer: their titles and `asked_as`. Answers are extractive,
asked one after another over one open index. The first, which also warms up the embedder, is reported apart.
"""

import argparse
import platform
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rag.cli import Parser, add_common_options, print_json, run, settings_from
from rag.errors import UsageError
from rag.evaluation.datasets import evenly_spread
from rag.evaluation.provenance import available_cores, cpu_model
from rag.settings import ChatModelName

QUESTIONS = 50
# What a reader takes for immediate, with room for a slower machine (milliseconds).
TARGETS = {"p50": 150, "p95": 400}


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m tools.bench.latency",
        description="Measure how long extractive answers take, as JSON.",
    )
    add_common_options(parser)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help=f"how many to ask (default {QUESTIONS})")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON there as well")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_measure, build_parser(), arguments)


def _measure(options: argparse.Namespace) -> int:
    import json

    result = measure(options)
    if options.out:
        options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print_json(result)
    return 0


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Open the assistant and time its answers."""
    from rag.answer.assistant import Assistant

    settings = settings_from(options, llm=ChatModelName.EXTRACTIVE)
    started = time.perf_counter()
    assistant = Assistant.open(settings)
    opened = time.perf_counter() - started
    manifest = assistant.index.manifest
    names = [name for document in assistant.index.storage.documents() for name in (document.title, *document.asked_as)]
    questions = evenly_spread(names, options.questions)
    if not questions:
        raise UsageError("the index has no documents to ask about", hint="ingest some: python -m ingest")
    milliseconds: list[float] = []
    retrieving: list[float] = []
    refused = 0
    for question in questions:
        started = time.perf_counter()
        answer = assistant.ask(question)
        milliseconds.append((time.perf_counter() - started) * 1_000)
        retrieving.append(answer.seconds.retrieve * 1_000)
        refused += answer.refused
    warm, warm_retrieving = milliseconds[1:] or milliseconds, retrieving[1:] or retrieving
    return {
        "questions": len(questions),
        "refused": refused,
        "ask_ms": _spread(warm),
        "retrieve_ms": _spread(warm_retrieving),
        "target_ms": TARGETS,
        "cold_ms": {"open": round(opened * 1_000, 1), "first_ask": round(milliseconds[0], 1)},
        "peak_rss_mb": round(peak_rss_bytes() / 2**20, 1),
        "index": {
            "documents": manifest.documents,
            "passages": manifest.passages,
            "dimension": manifest.dimension,
            "bytes": sum(record.size for record in manifest.files.values()),
        },
        "embedder": manifest.embedder,
        "precision": getattr(assistant.embedder, "computes_in", None) or str(settings.precision),
        "machine": {"cpu": cpu_model(), "cores": available_cores(), "platform": platform.platform()},
        "python": platform.python_version(),
    }


def peak_rss_bytes() -> int:
    """The most memory this process has held. ru_maxrss counts KiB on Linux and bytes on macOS."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1_024


def _spread(milliseconds: Sequence[float]) -> dict[str, float]:
    return {
        "p50": round(float(np.quantile(milliseconds, 0.5)), 1),
        "p95": round(float(np.quantile(milliseconds, 0.95)), 1),
        "max": round(max(milliseconds), 1),
    }


if __name__ == "__main__":
    sys.exit(main())

"""python -m tools.bench.latency: how long an answer takes on this machine.

Questions are those that the indexed documents say they answer, their titles and `asked_as`, or the development half of
a set, as people type them, which cost more. Answers are extractive, asked one after another over one open index. The
first, which also warms up the embedder, is reported apart. `--talk` asks each within a conversation of SPOKEN.
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
from rag.evaluation.answers.best_places import load_placed
from rag.evaluation.datasets import Split, evenly_spread
from rag.evaluation.provenance import available_cores, cpu_model
from rag.index import Index
from rag.settings import ChatModelName
from rag.types import Role, Turn

QUESTIONS = 50
# Questions of a conversation.
SPOKEN = 6
# What a reader takes for immediate, with room for a slower machine (milliseconds).
TARGETS = {"p50": 150, "p95": 400}


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m tools.bench.latency",
        description="Measure how long extractive answers take, as JSON.",
    )
    add_common_options(parser)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help=f"how many to ask (default {QUESTIONS})")
    parser.add_argument(
        "--set", type=Path, metavar="FILE", help="a set like best_places.jsonl, whose dev half is asked"
    )
    parser.add_argument("--talk", action="store_true", help=f"ask {SPOKEN} in a conversation, not each by itself")
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
    questions = evenly_spread(_questions(options.set, assistant.index), options.questions)
    if not questions:
        raise UsageError("there is nothing to ask", hint="ingest documents: python -m ingest, or name another --set")
    milliseconds: list[float] = []
    retrieving: list[float] = []
    processing: list[float] = []
    talk: list[Turn] = []
    refused = 0
    for number, question in enumerate(questions):
        if not options.talk or number % SPOKEN == 0:
            talk = []
        started, processed = time.perf_counter(), time.process_time()
        answer = assistant.ask(question, talk)
        milliseconds.append((time.perf_counter() - started) * 1_000)
        processing.append((time.process_time() - processed) * 1_000)
        retrieving.append(answer.seconds.retrieve * 1_000)
        refused += answer.refused
        talk += [Turn(Role.USER, question), Turn(Role.ASSISTANT, answer.text, refused=answer.refused)]
    warm, warm_retrieving = milliseconds[1:] or milliseconds, retrieving[1:] or retrieving
    return {
        "questions": len(questions),
        "refused": refused,
        "set": options.set.name if options.set else None,
        "talk": options.talk,
        "ask_ms": _spread(warm),
        "retrieve_ms": _spread(warm_retrieving),
        "processor_ms": round(float(np.mean(processing[1:] or processing)), 1),
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


def _questions(file: Path | None, index: Index) -> list[str]:
    if file is None:
        return [name for document in index.storage.documents() for name in (document.title, *document.asked_as)]
    return [row.question for row in load_placed(file) if row.split is Split.DEV]


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

"""python -m tools.start --index DIR: what starting costs, in seconds of the clock and of the processor."""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ingest.updates.auto_update import AutoUpdate
from rag.answer.assistant import Assistant
from rag.cli import Parser, add_common_options, run, settings_from
from rag.embedding import load_embedder
from rag.evaluation.provenance import commit, today
from rag.paths import PROGRAM
from rag.settings import ChatModelName, Settings
from rag.ui.app.lean_gradio import lighten_gradio
from rag.ui.app.open_page import index_the_first
from tools.bench.measuring import machine

QUESTIONS = ("ZeRO-2 和 ZeRO-3 差在哪", "Why loss scaling?")
TIMES = 3
RESULT = PROGRAM / "docs" / "results" / "speed" / "start.json"


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="python -m tools.start", description="Measure the first answer and the opened page.")
    add_common_options(parser)
    return run(_measure, parser, arguments)


def _measure(options: argparse.Namespace) -> int:
    index = str(settings_from(options).index.resolve())
    commands = {question: ["-m", "rag", "ask", question, "--index", index] for question in QUESTIONS}
    result = {
        "what": "seconds from starting a process to its answer, and of app.py until it prints its address; "
        "first: over pages that were never read, from loading the embedder on until each is reached",
        "times": TIMES,
        "machine": machine(),
        "commit": commit(),
        "date": today(),
        "ask": {question: _median([_cost(command) for _ in range(TIMES)]) for question, command in commands.items()},
        "first": _first(),
        "page": _median([_cost([str(PROGRAM / "app.py"), "--index", index], ends=False) for _ in range(TIMES)]),
    }
    text = json.dumps(result, ensure_ascii=False, indent=1) + "\n"
    RESULT.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


def _first() -> dict[str, float]:
    """A start over pages that were never read, once: seconds until the chat opens, until an answer to the first of
    QUESTIONS, which is asked at once, and until all pages can be asked."""
    lighten_gradio()  # as the page does
    started = time.perf_counter()
    reached: dict[str, float] = {}

    def note(name: str) -> None:
        reached[f"{name}_s"] = round(time.perf_counter() - started, 1)

    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(index=Path(folder, "index"), llm=ChatModelName.EXTRACTIVE)
        embedder = load_embedder(settings)
        index_the_first(settings, embedder, lambda step, done, total: None)
        assistant = Assistant(settings, embedder)
        note("chat_opens")
        with AutoUpdate(settings, embedder) as updates:
            updates.run_once()
            with updates.resting():
                if updates.reading is not None:
                    updates.reading.wait_for(QUESTIONS[0], 60)
                assistant.ask(QUESTIONS[0])
                note("first_answer")
            while updates.status().is_unfinished:
                time.sleep(0.1)
            note("all_pages_asked")
    return reached


def _cost(command: list[str], *, ends: bool = True) -> dict[str, float]:
    """Of one process: until it ends, or else until it prints its first line."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, *command], cwd=PROGRAM if ends else folder,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            said = process.stdout.read() if ends else process.stdout.readline()
            wall = time.perf_counter() - started
            if not ends:
                process.terminate()
            process.wait(60)
        finally:
            process.kill()
            process.stdout.close()
    assert said, "it ended without a word"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cpu_s": cpu, "wall_s": wall}


def _median(costs: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.median(cost[name] for cost in costs), 2) for name in costs[0]}


if __name__ == "__main__":
    sys.exit(main())

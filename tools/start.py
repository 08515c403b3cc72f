"""python -m tools.start --index DIR: what starting costs, in seconds of the clock and of the processor."""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from rag.cli import Parser, add_common_options, run, settings_from
from rag.evaluation.provenance import commit, today
from rag.paths import PROGRAM
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
        "what": "seconds from starting a process to its answer, and of app.py until it prints its address and is ended",
        "times": TIMES,
        "machine": machine(),
        "commit": commit(),
        "date": today(),
        "ask": {question: _median([_cost(command) for _ in range(TIMES)]) for question, command in commands.items()},
        "page": _median([_cost([str(PROGRAM / "app.py"), "--index", index], ends=False) for _ in range(TIMES)]),
    }
    text = json.dumps(result, ensure_ascii=False, indent=1) + "\n"
    RESULT.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


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

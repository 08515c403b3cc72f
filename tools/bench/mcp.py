"""python -m tools.bench.mcp [--index DIR]: how long a call takes over stdio, as the SDK's own client sees it."""

import argparse
import asyncio
import json
import sys
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

from mcp import Client, StdioServerParameters

from rag.paths import PROGRAM

ASKED = PROGRAM / "rag" / "evaluation" / "data" / "asked.jsonl"
CALLS = {"search": "query", "ask": "question"}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.mcp", description=__doc__)
    parser.add_argument("--index", type=Path, default=Path(".interview-rag/index"), metavar="DIR")
    parser.add_argument("--count", type=int, default=50, metavar="N", help="questions of each tool (default: 50)")
    options = parser.parse_args()
    rows = [json.loads(line) for line in ASKED.read_text(encoding="utf-8").splitlines()]
    questions = [row["question"] for row in rows if row["split"] == "dev" and not row.get("history")]
    chosen = questions[:: max(1, len(questions) // options.count)][: options.count]
    result = asyncio.run(_measure(options.index, chosen))
    sys.stdout.write(json.dumps(result) + "\n")
    return 0


async def _measure(index: Path, questions: list[str]) -> dict[str, dict[str, float]]:
    """Median and 95th percentile in milliseconds of each tool."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "rag", "mcp", "--index", str(index)], cwd=str(PROGRAM)
    )
    result = {}
    async with Client(server) as client:
        for tool, argument in CALLS.items():
            await client.call_tool(tool, {argument: questions[0]})
            taken = []
            for question in questions:
                started = perf_counter()
                answered = await client.call_tool(tool, {argument: question})
                taken.append((perf_counter() - started) * 1_000)
                assert not answered.is_error, answered.content
            result[tool] = {"p50_ms": round(median(taken), 1), "p95_ms": round(quantiles(taken, n=20)[-1], 1)}
    return result


if __name__ == "__main__":
    sys.exit(main())

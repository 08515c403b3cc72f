"""python -m tools.bench.api: what the HTTP API adds to an answer, and many streams at once."""

import argparse
import json
import sys
from pathlib import Path

from rag.cli import Parser, run


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.bench.api", description="Ask in the process and over HTTP, in turns.")
    parser.add_argument("--index", type=Path, default=".interview-rag/index", help="index of corpus/")
    parser.add_argument("--questions", type=int, default=60, help="questions of each way (default 60)")
    parser.add_argument("--streams", type=int, default=32, help="streams at the same time (default 32)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where the JSON goes as well")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_measure, build_parser(), arguments)


def _measure(options: argparse.Namespace) -> int:
    # Here, after `run` has set how the numeric libraries use threads, as it does in the server: else they spin.
    from tools.bench.api_load import measure

    result = measure(options.index.resolve(), questions=options.questions, streams=options.streams)
    text = json.dumps(result, ensure_ascii=False, indent=1) + "\n"
    sys.stdout.write(text)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    return 0 if result["met"] else 1


if __name__ == "__main__":
    sys.exit(main())

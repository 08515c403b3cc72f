"""python -m tools.bench ingest|query|memory|vectors|keywords|growth|scale|all [--quick] [--out FILE]"""

import argparse
import json
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path

from rag.cli import Parser, run
from rag.errors import UsageError
from rag.paths import PROGRAM
from tools.bench.embedded_corpus import EmbeddedCorpus, load_corpus
from tools.bench.measuring import machine

RESULTS = PROGRAM / "docs" / "results" / "speed"
COMMANDS = {
    "ingest": "documents to an index, against LangChain's tutorial",
    "query": "what retrieval adds to embedding the question; 8 askers at once; cold start",
    "memory": "what an answering process holds at its start and after forty answers",
    "vectors": "ways of vector search",
    "keywords": "ways of keyword search",
    "growth": "from 1,000 to 1,000,000 passages",
    "scale": "the embedded store and Milvus from 10,000 to 1,000,000 passages",
}
# Not a part of `all`: it fetches a Milvus server and takes longer than the others together.
APART = {"scale"}


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.bench", description="Measure speed and what growth costs.")
    lines = [f"{name}: {what}" for name, what in COMMANDS.items()]
    parser.add_argument("command", choices=[*COMMANDS, "all"], help="; ".join(lines))
    parser.add_argument("--quick", action="store_true", help="small sizes and a part of the corpus, about a minute")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="where the JSON goes (default docs/results/speed/; nowhere if --quick)"
    )
    return parser


def main(arguments: list[str] | None = None) -> int:
    warnings.filterwarnings("ignore", category=DeprecationWarning)  # of the alternatives
    return run(_measure, build_parser(), arguments)


def _measure(options: argparse.Namespace) -> int:
    if options.command == "all" and options.out:
        raise UsageError("`all` writes one file for each measurement", hint="leave --out away, or name one measurement")
    corpus = load_corpus(quick=options.quick)
    for name in [n for n in COMMANDS if n not in APART] if options.command == "all" else [options.command]:
        _one(name, corpus, quick=options.quick, out=options.out)
    return 0


def _one(name: str, corpus: EmbeddedCorpus, *, quick: bool, out: Path | None) -> None:
    module = import_module(f"tools.bench.{name}")
    started = time.perf_counter()
    before = machine()
    result = {
        "what": COMMANDS[name],
        "quick": quick,
        "machine": before,
        "embedder": corpus.embedder.identity,
        "real_passages": len(corpus.texts),
        **module.measure(corpus, quick=quick),
        "seconds": round(time.perf_counter() - started, 1),
    }
    sys.stdout.write(f"\n## {name}: {COMMANDS[name]} ({result['seconds']} s)\n\n{module.show(result)}\n")
    sys.stdout.flush()
    file = out or (None if quick else RESULTS / f"{name}.json")
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())

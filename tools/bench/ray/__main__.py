"""A run with workers of a Ray cluster of this machine beside a run in process, over the same documents, by turns.

    python -m tools.bench.ray [--documents DIR] [--workers 1,2] [--rounds N] [--limit N] [--out FILE]

What a run takes after everything is loaded, and what loading takes, are told apart. Amdahl's law is fitted to the runs
with workers: seconds = serial + parallel / workers, so the serial share of one worker's run bounds the speed-up. It is
told a second time by processor time, where the writer's is serial and the workers' parallel: that says something on a
machine that has other work to do, too.
"""

import argparse
import json
import sys
from pathlib import Path

from ingest.reading.listing import list_files
from rag.paths import CORPUS
from tools.bench.measuring import machine, table
from tools.bench.ray.runs import measure


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.bench.ray", description=__doc__)
    parser.add_argument("--documents", type=Path, default=CORPUS, metavar="DIR")
    parser.add_argument("--limit", type=int, metavar="N", help="so many of them, from all over the folder")
    parser.add_argument("--workers", default="1,2", help="numbers of workers (default: 1,2)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, metavar="FILE")
    options = parser.parse_args()
    counts = [int(count) for count in options.workers.split(",")]
    files = list(list_files(options.documents.resolve()))
    files = files[:: max(1, len(files) // options.limit)][: options.limit] if options.limit else files
    result = {
        "what": "reading and embedding by workers of a Ray cluster of this machine",
        "machine": machine(),
        "documents": len(files),
        **measure(files, counts, options.rounds),
    }
    sys.stdout.write(f"{table(result['rows'])}\n\n{result['amdahl']}\n{result['amdahl by processor time']}\n")
    if options.out:
        options.out.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

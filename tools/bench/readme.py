"""python -m tools.bench.readme docs/measurements.md: what the benches found, between the markers in these files."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rag.cli import Parser, run
from tools.bench.__main__ import RESULTS
from tools.report.retrieval import write_tables

MARKERS = ("<!-- speed results -->", "<!-- /speed results -->")
Result = Mapping[str, Any]
WORDS = {
    "ingest": "documents to an index, {documents} pages ({characters:,} characters)",
    "faster": "{ratio:g}× as fast as {name}",
    "peak": "the embedder's share of the fastest matrix product there is in {precision}",
    "adds": "retrieval adds to embedding the question, {passages:,} passages, p50 / p95",
    "tokens": "late interaction adds, {passages:,} passages, p50 / p95",
    "askers": "8 at once, {passages:,} passages",
    "answers": "{rate:g} answers/s, p95 {p95:.0f} ms",
    "one": "one alone: {rate:g} answers/s",
    "cold": "start of a process to its first result",
    "vectors": "vector search, {passages:,} passages, p50 / p95",
    "recall": "recall@10 {recall:.3f}, {own:,} MB and {mapped:,} MB of mapped files",
    "compared": "all compared: {p50:g} ms",
    "keyword": "keyword search, {passages:,} passages, p50 / p95",
}


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.bench.readme", description="Put what the benches found into READMEs.")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="files with the markers of speed results")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_write, build_parser(), arguments)


def _write(options: argparse.Namespace) -> int:
    names = ("ingest", "query", "vectors", "keywords")
    results = {name: json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8")) for name in names}
    write_tables(options.files, lambda _: markdown(results), MARKERS)
    return 0


def markdown(results: Mapping[str, Result]) -> str:
    ingest = results["ingest"]
    ours = next(row for row in ingest["rows"] if row["way"] == "ours")
    faster = [
        WORDS["faster"].format(name=name, ratio=ratios["time"]) for name, ratios in ingest["ours_is_faster_by"].items()
    ]
    peak = ingest["peak"]
    rows = [
        [WORDS["ingest"].format(**ingest), f"{ours['seconds (median)']:g} s", "; ".join(faster)],
        [WORDS["peak"].format(**peak), f"{peak['share_of_peak']:.0%}", f"{peak['ms_per_passage']:g} ms/passage"],
    ]
    for row in results["query"]["rows"]:
        rows.append([WORDS["adds"].format(**row), _ms(row["retrieval adds ms p50 / p95"]), ""])
        if isinstance(row["late interaction adds"], dict):
            rows.append([WORDS["tokens"].format(**row), _ms(row["late interaction adds"]), ""])
        rate, alone = row["answers/s, 8 askers"], row["answers/s, 1 asker"]
        answers = WORDS["answers"].format(rate=rate, p95=row["8 askers ms p50 / p95"]["p95"])
        rows.append([WORDS["askers"].format(**row), answers, WORDS["one"].format(rate=alone)])
    rows.append([WORDS["cold"], f"{results['query']['rows'][0]['cold start s']:g} s", ""])
    found = results["vectors"]["rows"]
    for row in (row for row in found if row["way"] == "ours"):
        whole = next(r for r in found if r["passages"] == row["passages"] and r["way"].startswith("all compared"))
        recall = WORDS["recall"].format(recall=row["recall@10"], **row["MB own / mapped"])
        beside = f"{recall}; {WORDS['compared'].format(**whole['p50 / p95 ms'])}"
        rows.append([WORDS["vectors"].format(**row), _ms(row["p50 / p95 ms"]), beside])
    found = results["keywords"]["rows"]
    for row in (row for row in found if row["way"] == "ours"):
        others = [r for r in found if r["passages"] == row["passages"] and r["way"] != "ours"]
        beside = "; ".join(f"{r['way']} {_ms(r['query ms p50 / p95'])}" for r in others)
        rows.append([WORDS["keyword"].format(**row), _ms(row["query ms p50 / p95"]), beside])
    table = [["what", "ours", "beside it"], ["---"] * 3, *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in table)


def _ms(spread: Mapping[str, float]) -> str:
    return f"{spread['p50']:.1f} / {spread['p95']:.1f} ms"


if __name__ == "__main__":
    sys.exit(main())

"""python -m tools.report.answers RESULTS_FOLDER --readme FILE…: puts answer results into the pages of docs/.

Rewrites only the text between the two markers. The table has a column for each answerer.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rag.cli import Parser, run
from rag.evaluation.answers.results import read_results
from rag.evaluation.answers.table import cells
from tools.report.retrieval import write_tables

BEGIN, END = "<!-- answer results -->", "<!-- /answer results -->"


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.report.answers", description="Put the results of answers into tables.")
    parser.add_argument("results", type=Path, metavar="RESULTS_FOLDER", help="folder of result JSON files")
    parser.add_argument("--readme", type=Path, nargs="+", required=True, metavar="FILE", help="files with the markers")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_report, build_parser(), arguments)


def _report(options: argparse.Namespace) -> int:
    results = read_results(options.results)
    write_tables(options.readme, lambda language: markdown(results, language), (BEGIN, END))
    sys.stdout.write(f"{len(results)} results; wrote {', '.join(map(str, options.readme))}\n")
    return 0


def markdown(results: Sequence[Mapping[str, Any]], language: str = "en") -> str:
    """The table of `cells` in Markdown."""
    rows = cells(results, language)
    rows.insert(1, ["---", *["---:"] * len(results)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    sys.exit(main())

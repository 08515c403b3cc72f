"""python -m rag.evaluation.answers.report RESULTS_FOLDER --readme FILE…: puts answer results into the READMEs.

Reads the JSON files that `python -m rag eval answers GOLD --out FILE` wrote, and rewrites only the text between the two
markers. The table has a column for each answerer.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rag.cli import Parser, run
from rag.errors import UsageError
from rag.evaluation.answers.table import label, markdown
from rag.evaluation.retrieval.report import require_one_of_each, write_tables

BEGIN, END = "<!-- answer results -->", "<!-- /answer results -->"
NEEDED = ("llm", "model", "dataset", "split", "questions", "measures", "seconds", "gates")


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m rag.evaluation.answers.report", description="Put the results of answers into tables."
    )
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


def read_results(folder: Path) -> list[dict[str, Any]]:
    """The results in a folder, in order of file name. Raises UsageError if there are none, a file is invalid, or two
    have the same label."""
    results = [_read(file) for file in sorted(folder.glob("*.json"))]
    if not results:
        raise UsageError(
            f"there is no result in {folder}", hint="make one: python -m rag eval answers GOLD.jsonl --out FILE.json"
        )
    require_one_of_each(list(map(label, results)))
    return results


def _read(file: Path) -> dict[str, Any]:
    try:
        result = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{file} is not a result of answers: {error}", hint="make it anew, or move it away") from error
    missing = [key for key in NEEDED if not isinstance(result, dict) or key not in result]
    if missing:
        raise UsageError(
            f"{file} is not a result of answers: it has no {', '.join(missing)}", hint="make it anew, or move it away"
        )
    return dict(result)


if __name__ == "__main__":
    sys.exit(main())

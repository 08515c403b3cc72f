"""python -m tools.report.retrieval RESULTS_FOLDER: puts retrieval results into the pages of docs/ and a figure.

Rewrites only the text between the two markers.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rag.cli import Parser, run
from rag.errors import UsageError
from rag.evaluation.retrieval.results import Result, cells, labels, read_results, shown_systems

BEGIN, END = "<!-- retrieval results -->", "<!-- /retrieval results -->"


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m tools.report.retrieval", description="Put retrieval results into tables and a figure."
    )
    parser.add_argument("results", type=Path, metavar="RESULTS_FOLDER", help="folder of result JSON files")
    parser.add_argument("--readme", type=Path, nargs="+", default=[], metavar="FILE", help="files with the two markers")
    parser.add_argument("--variants", action="store_true", help="with a row for every variant of ours")
    parser.add_argument("--figure", type=Path, default=Path("docs/retrieval.svg"), metavar="FILE", help="SVG to write")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_report, build_parser(), arguments)


def _report(options: argparse.Namespace) -> int:
    from tools.report.figure import draw

    results = read_results(options.results)
    svg = draw(dict(zip(labels(results), results, strict=True)))
    write_tables(options.readme, lambda language: markdown(results, language, variants=options.variants), (BEGIN, END))
    options.figure.parent.mkdir(parents=True, exist_ok=True)
    options.figure.write_text(svg, encoding="utf-8")
    sys.stdout.write(f"{len(results)} results; wrote {', '.join(map(str, [*options.readme, options.figure]))}\n")
    return 0


def markdown(results: Sequence[Result], language: str = "en", *, variants: bool = False) -> str:
    """The table of `cells` in Markdown, with the best system of each dataset in bold."""
    names = shown_systems(results, variants=variants)
    rows = cells(results, language, variants=variants)
    for name, row in zip(names, rows[1:], strict=False):
        row[1:-1] = [f"**{cell}**" if _is_best(result, name, names) else cell
                     for result, cell in zip(results, row[1:-1], strict=True)]  # fmt: skip
    rows.insert(1, ["---", *["---:"] * (len(results) + 1)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _is_best(result: Result, name: str, names: Sequence[str]) -> bool:
    mean = result.ndcg(name)
    best = max((other.value for shown in names if (other := result.ndcg(shown))), default=0.0)
    return mean is not None and round(mean.value, 3) == round(best, 3)


def write_tables(files: Sequence[Path], table: Callable[[str], str], markers: tuple[str, str]) -> None:
    """Put a table, made for the language of each page, between its markers. All pages are made before any is written.
    Raises UsageError unless each has both markers, once and in order."""
    pages = {file: with_table(file, table("zh" if ".zh" in file.suffixes else "en"), markers) for file in files}
    for file, text in pages.items():
        file.write_text(text, encoding="utf-8")


def with_table(file: Path, table: str, markers: tuple[str, str]) -> str:
    """The text of a page with a table between its markers. Raises UsageError as `write_tables` does."""
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}", hint="check the path") from error
    opening, closing = markers
    before, begin, rest = text.partition(opening)
    _, end, after = rest.partition(closing)
    if not begin or not end or opening in rest or closing in before + after:
        raise UsageError(
            f"{file} does not have the markers of the results, once and in this order",
            hint=f"put {opening} and {closing} where the table shall stand, each on a line of its own",
        )
    return f"{before}{opening}\n{table}{closing}{after}"


if __name__ == "__main__":
    sys.exit(main())

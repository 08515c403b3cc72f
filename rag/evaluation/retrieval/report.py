"""python -m rag.evaluation.retrieval.report RESULTS_FOLDER: puts retrieval results into the READMEs and a figure.

Reads the JSON files that `python -m rag eval retrieval DATASET --out FILE` wrote, and rewrites only the text between
the two markers.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from rag.cli import Parser, run
from rag.errors import UsageError
from rag.evaluation.retrieval.metrics import NDCG
from rag.evaluation.retrieval.systems import OURS, SYSTEMS, is_baseline
from rag.evaluation.table import short, signed

BEGIN, END = "<!-- retrieval results -->", "<!-- /retrieval results -->"
HEADINGS = {
    "en": ("system", "queries", "mean", "{ours} − best baseline", "recovered"),
    "zh": ("系统", "问题数", "平均", "{ours} − 最好的基线", "补回"),
}


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Mean(_Model):
    value: float
    low: float
    high: float

    @property
    def as_dict(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


class Queries(_Model):
    scored: int


class Recovered(_Model):
    against: str
    value: float | None


class Result(_Model):
    """The fields of a result that a report reads."""

    dataset: str
    split: str
    embedder: str
    queries: Queries
    systems: dict[str, dict[str, Mean]]
    differences: dict[str, dict[str, Mean]] = {}
    recovered: Recovered | None = None

    def ndcg(self, system: str) -> Mean | None:
        measures = self.systems.get(system)
        return measures[NDCG] if measures else None


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m rag.evaluation.retrieval.report", description="Put retrieval results into tables and a figure."
    )
    parser.add_argument("results", type=Path, metavar="RESULTS_FOLDER", help="folder of result JSON files")
    parser.add_argument("--readme", type=Path, nargs="+", default=[], metavar="FILE", help="files with the two markers")
    parser.add_argument("--variants", action="store_true", help="with a row for every variant of ours")
    parser.add_argument("--figure", type=Path, default=Path("docs/retrieval.svg"), metavar="FILE", help="SVG to write")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_report, build_parser(), arguments)


def _report(options: argparse.Namespace) -> int:
    from rag.evaluation.retrieval.figure import draw

    results = read_results(options.results)
    svg = draw(dict(zip(labels(results), results, strict=True)))
    write_tables(options.readme, lambda language: markdown(results, language, variants=options.variants), (BEGIN, END))
    options.figure.parent.mkdir(parents=True, exist_ok=True)
    options.figure.write_text(svg, encoding="utf-8")
    sys.stdout.write(f"{len(results)} results; wrote {', '.join(map(str, [*options.readme, options.figure]))}\n")
    return 0


def read_results(folder: Path) -> list[Result]:
    """The results in a folder, in order of file name. Raises UsageError if there are none or a file is invalid."""
    files = sorted(folder.glob("*.json"))
    if not files:
        raise UsageError(
            f"there is no result in {folder}", hint="make one: python -m rag eval retrieval DATASET --out FILE.json"
        )
    return [_read(file) for file in files]


def _read(file: Path) -> Result:
    try:
        result = Result.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise UsageError(
            f"{file} is not a retrieval result: {error}", hint="make it anew, or move it out of the folder"
        ) from error
    if any(NDCG not in measures for measures in result.systems.values()):
        raise UsageError(f"{file} has a system without {NDCG}", hint="make it anew")
    return result.model_copy(update={"systems": {n: m for n, m in result.systems.items() if not was_removed(n)}})


def was_removed(name: str) -> bool:
    """Whether this is a variant of ours that no longer exists."""
    return not is_baseline(name) and name not in SYSTEMS


def labels(results: Sequence[Result]) -> list[str]:
    """A name for each result: its dataset, its split unless that is `all`, and its embedder if they differ.

    Raises UsageError for two of the same name.
    """
    several = len({result.embedder for result in results}) > 1
    names = [
        result.dataset
        + (f" ({result.split})" if result.split != "all" else "")
        + (f", {result.embedder.partition('@')[0]}" if several else "")
        for result in results
    ]
    require_one_of_each(names)
    return names


def require_one_of_each(names: Sequence[str]) -> None:
    """Raises UsageError for two results of the same name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"there are several results of {'; '.join(twice)}", hint="keep one file of each in the folder")


def systems_of(results: Sequence[Result]) -> list[str]:
    """All systems of the results, in the order of their first appearance."""
    return list(dict.fromkeys(name for result in results for name in result.systems))


def markdown(results: Sequence[Result], language: str = "en", *, variants: bool = False) -> str:
    """The table of `cells` in Markdown, with the best system of each dataset in bold."""
    names = _shown(results, variants=variants)
    rows = cells(results, language, variants=variants)
    for name, row in zip(names, rows[1:], strict=False):
        row[1:-1] = [f"**{cell}**" if _is_best(result, name, names) else cell
                     for result, cell in zip(results, row[1:-1], strict=True)]  # fmt: skip
    rows.insert(1, ["---", *["---:"] * (len(results) + 1)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def cells(
    results: Sequence[Result],
    language: str = "en",
    *,
    variants: bool = False,
    names: Sequence[str] = (),
    system_name: Callable[[str], str] = str,
) -> list[list[str]]:
    """A table of nDCG@10 with a header, a column for each dataset and a row for each system. The rows below give the
    gain of ours over the best baseline, with its 95% interval, and the share of that baseline's gap to 1 that ours
    closes. `names` are the names of the results, by default their labels; `system_name` names the systems."""
    system, queries, mean, difference, recovered = HEADINGS[language]
    rows = [[f"{system} (nDCG@10)", *(names or labels(results)), mean]]
    rows += [
        [system_name(name), *(_cell(result, name) for result in results), _mean(results, name)]
        for name in _shown(results, variants=variants)
    ]
    gains = [_gain(result, system_name) for result in results]
    shares = [share for _, share in gains if share is not None]
    average = f"{sum(shares) / len(shares):.0%}" if shares else "–"
    rows.append([difference.format(ours=system_name(OURS)), *(gain for gain, _ in gains), ""])
    rows.append(
        [recovered, *("–" if share is None else f"{share + 0:.0%}".replace("-0%", "0%") for _, share in gains), average]
    )
    rows.append([queries, *(f"{result.queries.scored:,}" for result in results), ""])
    return rows


def _shown(results: Sequence[Result], *, variants: bool) -> list[str]:
    return [name for name in systems_of(results) if variants or name == OURS or is_baseline(name)]


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


def _cell(result: Result, name: str) -> str:
    mean = result.ndcg(name)
    return "–" if mean is None else short(mean.value)


def _is_best(result: Result, name: str, names: Sequence[str]) -> bool:
    mean = result.ndcg(name)
    best = max((other.value for shown in names if (other := result.ndcg(shown))), default=0.0)
    return mean is not None and round(mean.value, 3) == round(best, 3)


def _mean(results: Sequence[Result], name: str) -> str:
    """The mean over the datasets, if all have this system."""
    means = [mean.value for result in results if (mean := result.ndcg(name))]
    return short(sum(means) / len(means)) if len(means) == len(results) else "–"


def _gain(result: Result, system_name: Callable[[str], str]) -> tuple[str, float | None]:
    baselines = {name: mean.value for name in result.systems if is_baseline(name) and (mean := result.ndcg(name))}
    if OURS not in result.systems or not baselines:
        return "–", None
    best = max(baselines, key=lambda name: baselines[name])
    share = result.recovered.value if result.recovered else None
    return f"{signed(result.differences[best][NDCG].as_dict)} ({system_name(best)})", share


if __name__ == "__main__":
    sys.exit(main())

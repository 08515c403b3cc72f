"""python -m tools.bench.scale.model docs/scale.md: what a passage costs by `tools.bench scale`, and what many do.

What an index of n passages of c characters takes is a + b n + e n c, with no coefficient below zero: a fixed part, a
part of each passage, and one of each character. The coefficients minimise the squares of the relative errors. They are
fitted without the largest index first, to tell how well they foresee it, and then with it.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rag.cli import Parser, run
from tools.bench.__main__ import RESULTS
from tools.bench.plot import draw_scale
from tools.report.retrieval import write_tables

MARKERS = ("<!-- scale results -->", "<!-- /scale results -->")
PLANNED = 100_000_000
# What a question may take.
MILLISECONDS = 60
# A machine; a quarter of its memory is left to the system and the program.
CORES, MEMORY_GB, FILLED = 16, 128, 0.75
# Indexes below have no codes: every vector is compared.
SMALL = 20_000

Row = Mapping[str, Any]
Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Law:
    """fixed + passage * n + character * n * c."""

    fixed: float
    passage: float
    character: float

    def at(self, passages: float, characters: float) -> float:
        return self.fixed + passages * (self.passage + self.character * characters)


def fit(points: Sequence[Point]) -> Law:
    """The law of points (passages, characters, what was measured)."""
    from scipy.optimize import nnls

    n, c, y = np.asarray(points, np.float64).T
    # Columns of about the same size, or the solver would take the small ones for nothing.
    columns = np.stack([np.ones_like(n), n / 1e6, n * c / 1e8], axis=1) / y[:, np.newaxis]
    scale = np.maximum(columns.max(axis=0), 1e-12)
    fixed, passage, character = nnls(columns / scale, np.ones_like(y))[0] / scale
    return Law(float(fixed), float(passage / 1e6), float(character / 1e8))


def foreseen(points: Sequence[Point]) -> float:
    """What the law of all but the largest says of the largest, as a share of what was measured there."""
    *others, (n, c, y) = sorted(points, key=lambda point: (point[0] * point[1], point[0]))
    return fit(others).at(n, c) / y


EMBEDDED: dict[str, tuple[str, Callable[[Row], float]]] = {
    "disk: texts (SQLite)": ("MB", lambda row: row["disk MB"]["passages"]),
    "disk: postings": ("MB", lambda row: row["disk MB"]["keywords"]),
    "disk: vectors": ("MB", lambda row: row["disk MB"]["vectors.npy"]),
    "disk and memory: codes of vectors": ("MB", lambda row: row["disk MB"]["vectors.faiss"]),
    "writing, without embedding": ("core s", lambda row: row["publish core s"]),
    "a question: vectors": ("core ms", lambda row: row["dense ms"]["core"]),
    "a question: keywords": ("core ms", lambda row: row["keyword ms"]["core"]),
}
SERVER: dict[str, tuple[str, Callable[[Row], float]]] = {
    "memory": ("MB", lambda row: row["server MB"]),
    "disk": ("MB", lambda row: row["disk MB"]),
    "a question: vectors": ("core ms", lambda row: row["server core ms a search"]),
}


def points_of(result: Row) -> dict[str, list[Point]]:
    """What was measured of each quantity: of the embedded store, and of vector search by the full server."""
    found: dict[str, list[Point]] = {}
    large = [row for row in result["rows"] if row["store"] == "embedded" and row["passages"] > SMALL]
    for name, (_, value) in EMBEDDED.items():
        found[name] = [(row["passages"], row["characters"], value(row)) for row in large]
    for row in result["vector search in a full server"]:
        for name, (_, value) in SERVER.items():
            found.setdefault(f"Milvus {_kind(row)}, {name}", []).append((row["passages"], 0.0, value(row)))
    # Two points make a law that nothing checks.
    return {name: points for name, points in found.items() if len(points) > 2}


def unit_of(name: str) -> str:
    return (EMBEDDED.get(name) or SERVER[name.partition(", ")[2]])[0]


def _kind(row: Row) -> str:
    return str(row["index"]).partition(" ")[0]


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.bench.scale.model", description="Put what scale costs into a page.")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="files with the markers of scale results")
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_write, build_parser(), arguments)


def _write(options: argparse.Namespace) -> int:
    result = json.loads((RESULTS / "scale.json").read_text(encoding="utf-8"))
    write_tables(options.files, lambda _: markdown(result), MARKERS)
    draw_scale(result)
    return 0


def markdown(result: Row) -> str:
    points = points_of(result)
    laws = {name: fit(found) for name, found in points.items()}
    return "\n".join(
        [
            _table("passages of characters | store | written in | vectors p50 / p95 | keywords | both, fused", [
                _measured(row) for row in result["rows"]
            ]),
            _table("passages | index in the full server | vectors p50 / p95 | core ms | recall@10 | memory | disk", [
                _served(row) for row in result["vector search in a full server"]
            ]),
            _table("quantity | fixed | a million passages | of 100 characters, in addition | largest, foreseen", [
                _lawful(name, laws[name], points[name]) for name in laws
            ]),
            _table(f"{PLANNED:,} passages | ", planned(result, laws)),
        ]
    )  # fmt: skip


def _table(heads: str, rows: Sequence[Sequence[str]]) -> str:
    names = heads.split(" | ")
    lines = [names, ["---", *["---:"] * (len(names) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _measured(row: Row) -> list[str]:
    times = [_spread(row[name]) for name in ("dense ms", "keyword ms", "fused ms")]
    size = f"{row['passages']:,} of {row['characters']}"
    return [size, row["store"], f"{row['publish s']:,.0f} s ({row['publish core s']:,.0f} core s)", *times]


def _served(row: Row) -> list[str]:
    sizes = [f"{row['server MB']:,} MB", f"{row['disk MB']:,} MB"]
    core = f"{row['server core ms a search']:g}"
    return [f"{row['passages']:,}", row["index"], _spread(row["dense ms"]), core, f"{row['recall@10']:.3f}", *sizes]


def _spread(row: Mapping[str, float]) -> str:
    return f"{row['p50']:.1f} / {row['p95']:.1f} ms"


def _lawful(name: str, law: Law, points: Sequence[Point]) -> list[str]:
    parts = (law.fixed, law.passage * 1e6, law.character * 1e8)
    return [f"{name}, {unit_of(name)}", *map(_number, parts), f"{foreseen(points):.0%}"]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}" if value >= 0.05 else "0"


def planned(result: Row, laws: Mapping[str, Law]) -> list[list[str]]:
    """What PLANNED passages as long as those of the corpus take."""
    passage = result["a passage of the corpus"]
    at = {name: law.at(PLANNED, passage["characters"]) for name, law in laws.items()}
    question = [laws[f"a question: {part}"] for part in ("vectors", "keywords")]
    most = _most(question, passage["characters"])
    codes = at["disk and memory: codes of vectors"] / 1_000
    rows = [
        ["embedding", f"{PLANNED * passage['embedding core ms'] / 3.6e6:,.0f} core-hours"],
        ["writing the index once", f"{at['writing, without embedding'] / 3_600:,.0f} core-hours"],
        ["texts, postings, vectors on disk", " + ".join(
            f"{at[f'disk: {part}'] / 1e6:,.2f}" for part in ("texts (SQLite)", "postings", "vectors")
        ) + " TB"],
        ["token vectors on disk, if kept", f"{PLANNED * passage['token vectors kB'] / 1e9:,.1f} TB"],
        ["codes of vectors in memory", f"{codes:,.0f} GB: {_machines(codes)}"],
        ["a question on one core", f"{sum(law.at(PLANNED, passage['characters']) for law in question):,.0f} ms"],
        [f"passages at which it takes {MILLISECONDS} ms", f"{most / 1e6:,.1f} million"],
        [f"parts for {MILLISECONDS} ms, each with a core of its own", f"{math.ceil(PLANNED / most):,}"],
    ]  # fmt: skip
    for name, law in laws.items():
        if name.endswith(", memory"):
            rows.append([name, f"{at[name] / 1_000:,.0f} GB: {_machines(at[name] / 1_000)}"])
        elif name.startswith("Milvus") and "question" in name:
            cores = (
                f"{at[name] / 1_000:,.1f} core s: {math.ceil(at[name] / MILLISECONDS):,} cores for {MILLISECONDS} ms"
            )
            rows.append([name, cores if law.passage else "no growth seen in the sizes measured"])
    return rows


def _most(laws: Sequence[Law], characters: float) -> float:
    """The number of passages at which a question takes MILLISECONDS of one core."""
    return (MILLISECONDS - sum(law.fixed for law in laws)) / sum(law.at(1, characters) - law.fixed for law in laws)


def _machines(gigabytes: float) -> str:
    count = math.ceil(gigabytes / (MEMORY_GB * FILLED))
    return f"{count:,} machine{'s' if count > 1 else ''} of {MEMORY_GB} GB and {CORES} cores"


if __name__ == "__main__":
    sys.exit(main())

"""docs/growth.svg and docs/scale.svg, from what was measured."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rag.paths import PROGRAM

FILE = PROGRAM / "docs" / "growth.svg"
SCALE = PROGRAM / "docs" / "scale.svg"


def draw(rows: Sequence[Mapping[str, Any]]) -> None:
    """Two panels over the number of passages, all axes logarithmic: milliseconds of a search, and size."""
    pyplot = _prepared("growth")
    passages = [row["passages"] for row in rows]
    figure, (times, sizes) = pyplot.subplots(1, 2, figsize=(10, 4))
    for part in ("dense", "keyword", "fetch"):
        times.plot(passages, [row[f"{part} ms"]["p50"] for row in rows], marker="o", label=f"{part}, p50")
    times.plot(passages, [row["open s"] * 1_000 for row in rows], marker="o", linestyle=":", label="opening the index")
    times.set(title="time", ylabel="milliseconds")
    memory = [sum(row["MB own / mapped"].values()) for row in rows]
    sizes.plot(passages, memory, marker="o", label="memory after 100 searches, mapped files included")
    sizes.plot(passages, [sum(row["disk MB"].values()) for row in rows], marker="o", label="disk")
    sizes.set(title="size", ylabel="MB")
    _scaled(times, sizes)
    for axes in (times, sizes):
        axes.legend()
    _save(figure, FILE)


def draw_scale(result: Mapping[str, Any]) -> None:
    """Two panels over the number of passages, all axes logarithmic: milliseconds of a search, and memory or disk."""
    pyplot = _prepared("scale")
    figure, (times, sizes) = pyplot.subplots(1, 2, figsize=(10, 6))
    short = min(row["characters"] for row in result["rows"])
    for store in dict.fromkeys(row["store"] for row in result["rows"]):
        rows = [row for row in result["rows"] if row["store"] == store and row["characters"] == short]
        passages = [row["passages"] for row in rows]
        for part in ("dense", "keyword", "fused"):
            times.plot(passages, [row[f"{part} ms"]["p50"] for row in rows], marker="o", label=f"{store}: {part}")
        sizes.plot(passages, [sum(row["disk MB"].values()) for row in rows], marker="o", label=f"{store}: disk")
    served = result["vector search in a full server"]
    for kind in dict.fromkeys(row["index"].partition(" ")[0] for row in served):
        rows = [row for row in served if row["index"].startswith(kind)]
        passages = [row["passages"] for row in rows]
        label = f"full Milvus, {kind}"
        times.plot(passages, [row["dense ms"]["p50"] for row in rows], marker="s", linestyle="--", label=label)
        sizes.plot(passages, [row["server MB"] for row in rows], marker="s", linestyle="--", label=f"{label}: memory")
    times.set(title="a search, p50", ylabel="milliseconds")
    sizes.set(title="size", ylabel="MB")
    _scaled(times, sizes)
    for axes in (times, sizes):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2)
    _save(figure, SCALE)


def _prepared(salt: str) -> Any:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = salt  # the same figures make the same file
    from matplotlib import pyplot

    return pyplot


def _scaled(*panels: Any) -> None:
    for axes in panels:
        axes.set(xscale="log", yscale="log", xlabel="passages")
        axes.grid(alpha=0.3)


def _save(figure: Any, file: Path) -> None:
    from matplotlib import pyplot

    figure.tight_layout()
    file.parent.mkdir(exist_ok=True)
    figure.savefig(file, metadata={"Date": None})
    pyplot.close(figure)

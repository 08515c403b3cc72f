"""A retrieval result as text."""

from collections.abc import Mapping, Sequence
from typing import Any


def as_text(result: Mapping[str, Any]) -> str:
    queries, documents, indexing = result["queries"], result["documents"], result["indexing"]
    measures = list(next(iter(result["systems"].values())))
    rows = [["", *measures, "p50 ms", "p95 ms"]]
    for name, values in result["systems"].items():
        speed = result["speed_ms"][name]
        rows.append([name, *(with_interval(values[m]) for m in measures), f"{speed['p50']:.1f}", f"{speed['p95']:.1f}"])
    lines = [
        f"{result['dataset']}, split {result['split']}: {queries['scored']} queries, {documents['total']} documents "
        f"({indexing['passages']} passages); {result['embedder']}",
        *aligned(rows),
    ]
    if result.get("differences"):
        rows = [[name, *(signed(values[m]) for m in measures)] for name, values in result["differences"].items()]
        lines += ["", "ours minus", *aligned([["", *measures], *rows])]
    recovered = result.get("recovered")
    if recovered and recovered["value"] is not None:
        lines += ["", f"recovered of what {recovered['against']} leaves undone: {recovered['value']:.1%}"]
    lines += [""]
    if result["kinds"]:
        names = list(result["systems"])
        rows = [
            [kind, str(part["queries"]), *(short(part["systems"][name]["ndcg@10"]) for name in names)]
            for kind, part in result["kinds"].items()
        ]
        lines += ["ndcg@10 by kind of question", *aligned([["", "queries", *names], *rows]), ""]
    lines += [
        f"left out, no relevant document: {queries['without_relevant_document']} queries; not indexed: "
        f"{documents['not_indexed']} documents; saying what another says: {documents['duplicates']}"
    ]
    if indexing["seconds"]:
        lines += [f"indexed in {indexing['seconds']:.1f} s, {indexing['passages_per_second']:.1f} passages/s"]
    return "\n".join(lines) + "\n"


def short(value: float) -> str:
    """Three decimals, without the zero before the point: .871, 1.000, -.020."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.3f}"


def with_interval(value: Mapping[str, float]) -> str:
    return f"{short(value['value'])} [{short(value['low'])}, {short(value['high'])}]"


def signed(value: Mapping[str, float]) -> str:
    return " ".join([_plus(value["value"]), f"[{_plus(value['low'])}, {_plus(value['high'])}]"])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Aligned columns; the first to the left, the others to the right."""
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    return ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in rows]


def _plus(value: float) -> str:
    rounded = round(value, 3) + 0.0  # never -0.0
    return ("+" if rounded >= 0 else "") + short(rounded)

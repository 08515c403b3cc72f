"""Retrieval results as a figure: rows of dots with their intervals for each dataset. Needs the extra `evaluation`."""

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from rag.evaluation.extra import evaluation_extra
from rag.evaluation.retrieval.systems import OURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Interval(Protocol):
    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...


class ComparedSystems(Protocol):
    @property
    def systems(self) -> Mapping[str, object]: ...
    def ndcg(self, system: str) -> Interval | None: ...


# These have about equal contrast on white and on the near-black of dark pages, so that one figure serves both.
INK, ACCENT, FAINT = "#7d8590", "#d97706", "#7d859055"
ROW_INCHES, WIDTH_INCHES = 0.26, 7.2


def draw(results: Mapping[str, ComparedSystems]) -> str:
    """The SVG of results by label: nDCG@10 with 95% intervals. The same results give the same bytes."""
    with evaluation_extra():
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    heights = [len(result.systems) for result in results.values()]
    # Text stays text, in the reader's own font. Fixed ids of shapes and no date keep the bytes reproducible.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "retrieval", "font.size": 9, "text.color": INK}):
        figure = Figure(figsize=(WIDTH_INCHES, sum(heights) * ROW_INCHES + 0.55 * len(heights) + 0.3))
        axes = figure.subplots(len(results), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights})
        for axis, (label, result) in zip(axes[:, 0], results.items(), strict=True):
            _draw_set(axis, label, result)
        axes[-1, 0].set_xlabel("nDCG@10, 95% bootstrap intervals", color=INK)
        figure.tight_layout()
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def _draw_set(axis: "Axes", label: str, result: ComparedSystems) -> None:
    names = list(result.systems)
    for row, name in enumerate(names):
        mean = result.ndcg(name)
        if mean is None:
            continue
        colour = ACCENT if name == OURS else INK
        axis.plot([mean.low, mean.high], [row, row], color=colour, linewidth=2, solid_capstyle="round")
        axis.plot([mean.value], [row], "o", color=colour, markersize=6)
    axis.set_yticks(range(len(names)), names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.set_title(label, loc="left", fontsize=9, fontweight="bold", color=INK)
    axis.tick_params(colors=INK, length=0)
    axis.grid(axis="x", color=FAINT, linewidth=0.6)
    axis.set_axisbelow(True)
    for side in axis.spines.values():
        side.set_visible(False)

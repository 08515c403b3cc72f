"""Plots values with their intervals as rows of dots, in the page's colours and width."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.ui.templates import macros_of

HTML = macros_of("quality/plot.html")
TICKS = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True, slots=True)
class Dot:
    """A value in 0..1 with its interval. `target` is drawn as a line; `strong` marks our own system. `raw` is its name
    in files, if that differs from the label."""

    label: str
    value: float
    low: float
    high: float
    target: float | None = None
    strong: bool = False
    raw: str = ""


def plot(dots: Sequence[Dot], caption: str) -> str:
    """The plot as HTML. Each row has its label, a line from 0 to 1, and the value; style.css arranges them."""
    return HTML("plot", dots=dots, caption=caption, ticks=TICKS)

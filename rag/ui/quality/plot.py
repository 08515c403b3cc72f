"""Values with their intervals as rows of dots, in the colours and the width of the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.ui.templates import macros_of

HTML = macros_of("quality/plot.html")
TICKS = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True, slots=True)
class Dot:
    """A value of 0..1 with its interval; `target` is drawn as a line; `strong` marks our own. `raw` is what files call
    it, where that is not the label."""

    label: str
    value: float
    low: float
    high: float
    target: float | None = None
    strong: bool = False
    raw: str = ""


def plot(dots: Sequence[Dot], caption: str) -> str:
    """HTML: a row has its label, a line from 0 to 1, and the value; style.css puts them beside or above each other."""
    return HTML("plot", dots=dots, caption=caption, ticks=TICKS)

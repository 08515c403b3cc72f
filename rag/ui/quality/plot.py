"""Values with their intervals as rows of dots: small SVG in the colours of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

ROW, LABEL, WIDTH, AFTER = 24, 190, 360, 60


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
    height = ROW * len(dots) + 22
    whole = LABEL + WIDTH + AFTER
    grid = "".join(
        f'<line class="grid" x1="{_x(tick)}" x2="{_x(tick)}" y1="0" y2="{height - 20}"/>'
        f'<text class="tick" x="{_x(tick)}" y="{height - 5}" text-anchor="middle">{tick:g}</text>'
        for tick in (0, 0.25, 0.5, 0.75, 1)
    )
    rows = "".join(_row(dot, place) for place, dot in enumerate(dots))
    return (
        f'<div class="scroll" tabindex="0"><svg class="dots" role="img" aria-label="{escape(caption)}"'
        f' viewBox="0 0 {whole} {height}" width="{whole}" height="{height}">{grid}{rows}</svg></div>'
    )


def _row(dot: Dot, place: int) -> str:
    y = ROW * place + ROW // 2
    strength = ' class="strong"' if dot.strong else ""
    target = (
        f'<line class="target" x1="{_x(dot.target)}" x2="{_x(dot.target)}" y1="{y - 9}" y2="{y + 9}"/>'
        if dot.target is not None
        else ""
    )
    raw = f"<title>{escape(dot.raw)}</title>" if dot.raw else ""
    return (
        f'<g{strength}>{raw}<text x="{LABEL - 12}" y="{y + 4}" text-anchor="end">{escape(dot.label)}</text>{target}'
        f'<line class="interval" x1="{_x(dot.low)}" x2="{_x(dot.high)}" y1="{y}" y2="{y}"/>'
        f'<circle cx="{_x(dot.value)}" cy="{y}" r="4.5"/>'
        f'<text x="{LABEL + WIDTH + 14}" y="{y + 4}">{dot.value:.3f}</text></g>'
    )


def _x(value: float) -> float:
    return round(LABEL + WIDTH * min(max(value, 0.0), 1.0), 1)

"""The sources panel: each quote of an answer, highlighted inside the source text around it.

What is shown is taken from the index once, when the answer is finished: it stays right when the material changes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag.text.blocks import BlockKind
from rag.text.markdown import parse
from rag.types import Citation, Claim, Passage
from rag.ui.readable import FRONT_MATTER, balanced, readable, text_of, words_of
from rag.ui.texts import Texts

# Two quotes nearer than this are shown in one stretch.
NEAR = 120
# A displayed formula is shown whole, unless it is longer than this.
FORMULA_REACH = 500
SNIPPET = 180
NEAREST = 5
# Characters of source text shown before and after a quote; then on to the next border, but not further than that.
CONTEXT = 160
REACH = 120
# A table or a formula longer than this may be cut between its lines.
WHOLE = 2_000
LINE = re.compile(r"^", re.MULTILINE)
SENTENCE = re.compile(r"(?:[。！？]+[”’」』）)]*|[.!?]+[\"')]*(?=\s))[ \t]*")
TABLE = r"(?:^[ \t]*\|[^\n]*(?:\n|\Z)){1,200}"
DISPLAY = rf"\$\$(?:(?!\n[ \t]*\n)[^$]){{1,{WHOLE}}}\$\$"
INLINE = r"(?<!\\)\$(?![\s$])[^$\n]{1,400}?(?<!\s)\$|`[^`\n]{1,400}`|\[[^\[\]\n]{1,200}\]\([^()\s]{0,400}\)"
WHOLES = re.compile(rf"{TABLE}|{DISPLAY}|{INLINE}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of source text and the markers of the citations that cover it (none: surroundings)."""

    text: str
    markers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The quotes of one section, in stretches of source text. `whole` is false where only the quotes are shown, for the
    source says something else by now, or `is_there` no more."""

    document: str
    title: str
    section: tuple[str, ...]
    stretches: tuple[tuple[Segment, ...], ...]
    page: int | None = None
    whole: bool = True
    is_there: bool = True

    @property
    def markers(self) -> list[int]:
        return sorted({marker for stretch in self.stretches for segment in stretch for marker in segment.markers})


@dataclass(frozen=True, slots=True)
class Nearby:
    """A retrieved passage as the panel lists it before there are citations."""

    document: str
    title: str
    section: tuple[str, ...]
    snippet: str

    @classmethod
    def of(cls, passage: Passage) -> "Nearby":
        lines = (line for line in passage.text.splitlines() if not line.lstrip().startswith(("#", "```", "~~~")))
        return cls(passage.document, passage.title, passage.section, words_of("\n".join(lines), SNIPPET))


def make_excerpts(citations: Sequence[Citation], source_of: Callable[[str], str | None]) -> tuple[Excerpt, ...]:
    """Excerpts in the order in which the answer cites them, one for each section that it quotes."""
    groups: dict[tuple[str, tuple[str, ...]], list[Citation]] = {}
    for citation in citations:
        groups.setdefault((citation.document, citation.section), []).append(citation)
    result = []
    for (document, section), group in groups.items():
        source = source_of(document)
        whole = source is not None and all(source[c.start : c.end] == c.quote for c in group)
        stretches = (
            tuple(segments(source, start, end, group) for start, end in _stretches(source, group))
            if source is not None and whole
            else tuple((Segment(citation.quote, (citation.marker,)),) for citation in group)
        )
        result.append(Excerpt(document, group[0].title, section, stretches, group[0].page, whole, source is not None))
    return tuple(result)


def _stretches(source: str, citations: Sequence[Citation]) -> list[tuple[int, int]]:
    """Where to cut the source: the quotes with their surroundings, joined where they meet."""
    front_matter = FRONT_MATTER.match(source)
    merged: list[tuple[int, int]] = []
    for citation in sorted(citations, key=lambda c: (c.start, c.end)):
        start, end = border_before(source, citation.start), border_after(source, citation.end)
        for low, high in _formulas(source, start, end):
            start = low if low < start < high else start
            end = high if low < end < high else end
        if front_matter:
            start = min(max(start, front_matter.end()), citation.start)
        if merged and start <= merged[-1][1] + NEAR:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _formulas(source: str, start: int, end: int) -> list[tuple[int, int]]:
    """The displayed formulas in and around source[start:end], but for those that are too long to be shown whole."""
    low = source.rfind("\n\n", 0, max(start - FORMULA_REACH, 0)) + 1
    low = max(low, start - 4 * FORMULA_REACH, 0)
    around = source[low : end + FORMULA_REACH]
    if "$$" not in around:  # most have none, and parsing is slow
        return []
    found = (block.moved(low) for block in parse(around) if block.kind is BlockKind.FORMULA)
    return [(block.start, block.end) for block in found if block.end - block.start <= FORMULA_REACH]


def segments(source: str, start: int, end: int, citations: Sequence[Citation]) -> tuple[Segment, ...]:
    """source[start:end], cut wherever a quote begins or ends: quotes may overlap."""
    inside = [c for c in citations if start <= c.start and c.end <= end]
    cuts = sorted({start, end, *(c.start for c in inside), *(c.end for c in inside)})
    return tuple(
        Segment(source[low:high], tuple(c.marker for c in inside if c.start <= low and high <= c.end))
        for low, high in pairwise(cuts)
    )


def render_excerpts(excerpts: Sequence[Excerpt], texts: Texts, *, turn: int) -> str:
    if not excerpts:
        return f'<p class="hint">{text_of(texts.sources_none)}</p>'
    return "".join(_excerpt(excerpt, texts, turn) for excerpt in excerpts)


def render_claims(claims: Sequence[Claim], texts: Texts, *, turn: int) -> str:
    """Every sentence of an answer with the quotes on which it rests; empty where there are none."""
    if not claims:
        return ""
    supported = sum(claim.supported for claim in claims)
    summary = texts.claims.format(supported=supported)
    if supported < len(claims):
        summary += texts.claims_unsupported.format(count=len(claims) - supported)
    items = "".join(_claim(claim, texts, turn) for claim in claims)
    return f'<details class="claims"><summary>{text_of(summary)}</summary><ol>{items}</ol></details>'


def _claim(claim: Claim, texts: Texts, turn: int) -> str:
    said = f'<div class="readable">{readable([(claim.text, ())], highlight)}</div>'
    if not claim.supported:
        warning = f'<span class="warning">⚠️ {text_of(texts.claim_unsupported)}</span>'
        return f'<li class="unsupported">{said} {warning}</li>'
    links = "".join(
        f'<a href="#cite-{turn}-{marker}" title="{text_of(texts.source_number.format(number=marker))}">{marker}</a>'
        for marker in claim.citations
    )
    return f"<li>{said} {links}</li>"


def render_nearby(nearby: Sequence[Nearby], heading: str) -> str:
    cards = "".join(
        f'<article class="source nearby">{_head(item.title, item.section, item.document)}'
        f'<p class="readable">{readable([(item.snippet, ())], highlight)}</p></article>'
        for item in nearby
    )
    return f'<p class="hint">{text_of(heading)}</p>{cards}'


def render_panel(
    body: str,
    texts: Texts,
    *,
    turn: int,
    question: str,
    place: int = 0,
    selected: int = 0,
    conversation: int = 0,
    begun: int = 0,
    done: int = 0,
    missing: int = 0,
) -> str:
    """The whole panel. `turn` is the number of the exchange it belongs to (0: none yet), `place` where that stands in
    its branch, from 1; `begun` counts the questions asked so far, `done` what the reader did beside, `missing`
    is the conversation that could not be opened. The browser's scripts read the `data-` attributes."""
    heading = texts.sources_of.format(number=place) if place else texts.sources
    asked = f'<p class="asked">{text_of(question)}</p>' if turn else ""
    return (
        f'<section class="panel" data-turn="{turn}" data-selected="{selected}" data-language="{texts.tag}"'
        f' data-conversation="{conversation}" data-begun="{begun}" data-done="{done}" data-missing="{missing}"'
        f' aria-label="{text_of(texts.sources)}">'
        f"<header><h2>{text_of(heading)}</h2>{as_written(texts)}"
        f'<button type="button" class="close" title="{text_of(texts.close)}" aria-label="{text_of(texts.close)}">×'
        f'</button></header>{asked}<div class="body" tabindex="0">{body}</div></section>'
    )


def as_written(texts: Texts) -> str:
    """The switch that shows sources with the signs of their Markdown."""
    return f'<button type="button" class="as-written" aria-pressed="false">{text_of(texts.as_written)}</button>'


def highlight(markers: tuple[int, ...], html: str) -> str:
    return f'<mark data-cites="{" ".join(map(str, markers))}">{html}</mark>'


def _excerpt(excerpt: Excerpt, texts: Texts, turn: int) -> str:
    seen: set[int] = set()

    def mark(markers: tuple[int, ...], html: str) -> str:
        new = [marker for marker in markers if marker not in seen]
        seen.update(new)
        # The number is drawn by CSS, so that the text of the element is the quote and nothing else.
        anchors = "".join(f'<i id="cite-{turn}-{marker}" data-number="{marker}"></i>' for marker in new)
        return anchors + highlight(markers, html)

    text = str if excerpt.whole else balanced
    stretches = [readable([(text(part.text), part.markers) for part in stretch], mark) for stretch in excerpt.stretches]
    changed = texts.sources_changed if excerpt.is_there else texts.sources_gone
    note = "" if excerpt.whole else f'<p class="hint">{text_of(changed)}</p>'
    body = '<div class="gap" aria-hidden="true">⋯</div>'.join(
        f'<div class="stretch readable">{part}</div>' for part in stretches
    )
    page = "" if excerpt.page is None else texts.page.format(number=excerpt.page)
    head = _head(excerpt.title, excerpt.section, excerpt.document, page=page)
    number = next(iter(excerpt.markers), 0)
    whole = (
        f'<button type="button" class="whole-source do-whole-{turn}-{number}">{text_of(texts.whole_source)}</button>'
    )
    return f'<article class="source">{head}{note}<div class="excerpt">{body}</div>{whole}</article>'


def _head(title: str, section: tuple[str, ...], document: str, *, page: str = "") -> str:
    path = [name for name in section if name != title]
    crumbs = f'<p class="path">{" › ".join(text_of(name) for name in path)}</p>' if path else ""
    place = text_of(" · ".join(filter(None, (document, page))))
    return f'<h3>{text_of(title)}</h3>{crumbs}<p class="document">{place}</p>'


def border_before(source: str, start: int) -> int:
    """Where an excerpt begins whose quote begins at `start`: some CONTEXT before it, at the last border before that,
    else at the first one behind."""
    borders = list(_borders(source, start - CONTEXT - REACH, start))
    before = [place for place in borders if place <= start - CONTEXT]
    return max(before) if before else min(borders, default=_out_of(source, start)[0])


def border_after(source: str, end: int) -> int:
    """The same behind a quote."""
    borders = list(_borders(source, end, end + CONTEXT + REACH))
    behind = [place for place in borders if place >= end + CONTEXT]
    return min(behind) if behind else max(borders, default=_out_of(source, end)[1])


def _borders(source: str, low: int, high: int) -> Iterator[int]:
    """All places from `low` to `high` at which the source may be cut."""
    low, high = max(low, 0), min(high, len(source))
    wholes = _wholes(source, low, high)
    places = {found.start() for found in LINE.finditer(source, low, high)}
    places |= {found.end() for found in SENTENCE.finditer(source, low, high)} | {0, len(source)}
    for place in places:
        if low <= place <= high and not any(start < place < end for start, end in wholes):
            yield place


def _out_of(source: str, place: int) -> tuple[int, int]:
    """The table or formula that holds a place, else that place alone."""
    return next((whole for whole in _wholes(source, place, place) if whole[0] < place < whole[1]), (place, place))


def _wholes(source: str, low: int, high: int) -> list[tuple[int, int]]:
    """What is not cut; the search begins at a line, far enough in front to see where each begins."""
    begin = source.rfind("\n", 0, max(low - WHOLE, 0)) + 1
    spans = (found.span() for found in WHOLES.finditer(source, begin, min(high + WHOLE, len(source))))
    return [(start, end) for start, end in spans if end - start <= WHOLE]

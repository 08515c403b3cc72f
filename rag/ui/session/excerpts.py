"""The excerpts of an answer in the sources panel: its quotes inside the source text around them.

They are taken from the index once, when the answer is finished, so that they stay right when the material changes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag.language.ends import ends_of
from rag.text.blocks import BlockKind
from rag.text.markdown import parse
from rag.text.page import Outline, PageOf, SourcePage
from rag.types import Citation, Passage
from rag.ui.english import english_path
from rag.ui.readable import words_of

# Two quotes nearer than this are shown in one stretch.
NEAR = 120
# A displayed formula is shown whole, unless it is longer than this.
FORMULA_REACH = 500
SNIPPET = 180
NEAREST = 5
# Characters of source text shown before and after a quote, and how much further the next border is sought.
CONTEXT = 160
REACH = 120
# A table or a formula longer than this may be cut between its lines.
WHOLE = 2_000
LINE = re.compile(r"^", re.MULTILINE)
TABLE = r"(?:^[ \t]*\|[^\n]*(?:\n|\Z)){1,200}"
DISPLAY = rf"\$\$(?:(?!\n[ \t]*\n)[^$]){{1,{WHOLE}}}\$\$"
INLINE = r"(?<!\\)\$(?![\s$])[^$\n]{1,400}?(?<!\s)\$|`[^`\n]{1,400}`|\[[^\[\]\n]{1,200}\]\([^()\s]{0,400}\)"
# The headings with which a section begins, and the blank lines below them.
HEADING = re.compile(r"(?:\A|(?<=\n\n))(?:#{1,6} [^\n]*(?:\n|\Z)[ \t\n]*)+")
WHOLES = re.compile(rf"{TABLE}|{DISPLAY}|{INLINE}", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of source text and the markers of the citations that cover it (none: surroundings)."""

    text: str
    markers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The quotes of one section, in stretches of source text. `whole` is false if only the quotes are shown, because
    the source has changed or, if not `is_there`, is gone. `english` is the English title, if there is one, and
    `english_section` the English section."""

    document: str
    title: str
    section: tuple[str, ...]
    stretches: tuple[tuple[Segment, ...], ...]
    page: int | None = None
    whole: bool = True
    is_there: bool = True
    english: str = ""
    english_section: tuple[str, ...] = ()

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
    english: str = ""
    english_section: tuple[str, ...] = ()

    @classmethod
    def of(cls, passage: Passage, outline: Outline) -> "Nearby":
        lines = (line for line in passage.text.splitlines() if not line.lstrip().startswith(("#", "```", "~~~")))
        return cls(
            passage.document, passage.title, passage.section, words_of("\n".join(lines), SNIPPET),
            outline.english, english_path(passage.section, outline),
        )  # fmt: skip


def make_excerpts(citations: Sequence[Citation], page_of: PageOf) -> tuple[Excerpt, ...]:
    """Excerpts in the order in which the answer cites them, one for each section that it quotes."""
    groups: dict[tuple[str, tuple[str, ...]], list[Citation]] = {}
    for citation in citations:
        groups.setdefault((citation.document, citation.section), []).append(citation)
    result = []
    for (document, section), group in groups.items():
        page = page_of(document)
        whole = page is not None and all(page.source[c.start : c.end] == c.quote for c in group)
        stretches = (
            tuple(segments(page.source, start, end, group) for start, end in _stretches(page, group))
            if page is not None and whole
            else tuple((Segment(citation.quote, (citation.marker,)),) for citation in group)
        )
        result.append(
            Excerpt(
                document, group[0].title, section, stretches, group[0].page, whole, page is not None,
                page.outline.english if page else "", english_path(section, page.outline if page else Outline()),
            )
        )  # fmt: skip
    return tuple(result)


def _stretches(page: SourcePage, citations: Sequence[Citation]) -> list[tuple[int, int]]:
    """Where to cut the source: quotes with their surroundings, joined where they meet."""
    source, outline = page
    merged: list[tuple[int, int]] = []
    for citation in sorted(citations, key=lambda c: (c.start, c.end)):
        start, end = border_before(source, citation.start), border_after(source, citation.end)
        for low, high in _formulas(source, start, end):
            start = low if low < start < high else start
            end = high if low < end < high else end
        # The path names the section, and its neighbours are about other things.
        above = [found.end() for found in HEADING.finditer(source, start, citation.start)]
        below = HEADING.search(source, citation.end, end)
        start, end = max(above, default=start), below.start() if below else end
        end = citation.end + len(source[citation.end : end].rstrip())
        start = min(max(start, outline.body_start), citation.start)
        if merged and start <= merged[-1][1] + NEAR:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _formulas(source: str, start: int, end: int) -> list[tuple[int, int]]:
    """The displayed formulas in and around source[start:end], except those too long to show whole."""
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


def border_before(source: str, start: int) -> int:
    """Where the excerpt begins for a quote that begins at `start`: at the last border at least CONTEXT before it, else
    at the first border after that."""
    borders = list(_borders(source, start - CONTEXT - REACH, start))
    before = [place for place in borders if place <= start - CONTEXT]
    return max(before) if before else min(borders, default=_out_of(source, start)[0])


def border_after(source: str, end: int) -> int:
    """Where the excerpt ends, likewise, for a quote that ends at `end`."""
    borders = list(_borders(source, end, end + CONTEXT + REACH))
    behind = [place for place in borders if place >= end + CONTEXT]
    return min(behind) if behind else max(borders, default=_out_of(source, end)[1])


def _borders(source: str, low: int, high: int) -> Iterator[int]:
    """All places from `low` to `high` at which the source may be cut."""
    low, high = max(low, 0), min(high, len(source))
    wholes = _wholes(source, low, high)
    places = {found.start() for found in LINE.finditer(source, low, high)}
    places |= {low + end for end in ends_of(source[low : high + 1])} | {0, len(source)}
    for place in places:
        if low <= place <= high and not any(start < place < end for start, end in wholes):
            yield place


def _out_of(source: str, place: int) -> tuple[int, int]:
    """The table or formula around a place, else the place itself."""
    return next((whole for whole in _wholes(source, place, place) if whole[0] < place < whole[1]), (place, place))


def _wholes(source: str, low: int, high: int) -> list[tuple[int, int]]:
    """The tables, formulas, links and code spans that are never cut; the search begins at a line, far enough in front
    to see where each begins."""
    begin = source.rfind("\n", 0, max(low - WHOLE, 0)) + 1
    spans = (found.span() for found in WHOLES.finditer(source, begin, min(high + WHOLE, len(source))))
    return [(start, end) for start, end in spans if end - start <= WHOLE]

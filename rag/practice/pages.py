"""A document for practice: its sections with their sentences, each a slice of the source."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from rag.index.storage import StoredDocument
from rag.text.blocks import Block, BlockKind
from rag.text.sentences import UnitKind, units
from rag.types import Citation

HEADING_MARKS = re.compile(r"^#{1,6}\s+|\*\*")


@dataclass(frozen=True, slots=True)
class PageUnit:
    """A sentence, formula, table or block of code, and the list mark before it."""

    kind: UnitKind
    citation: Citation
    mark: str = ""


@dataclass(frozen=True, slots=True)
class PageSection:
    """The text directly under a heading; `path` are the headings above, outermost first, its own last."""

    path: tuple[str, ...]
    units: tuple[PageUnit, ...]

    @property
    def heading(self) -> str:
        return self.path[-1] if self.path else ""

    @property
    def start(self) -> int:
        return self.units[0].citation.start

    @property
    def end(self) -> int:
        return max(unit.citation.end for unit in self.units)


@dataclass(frozen=True, slots=True)
class Page:
    """`passages` are its numbers in the index, `uri` is its file's."""

    document: str
    title: str
    tags: tuple[str, ...]
    asked_as: tuple[str, ...]
    source: str
    sections: tuple[PageSection, ...]
    passages: tuple[int, ...] = ()
    uri: str = ""

    def slice(self, start: int, end: int, path: tuple[str, ...] = ()) -> Citation:
        """`source[start:end]`, without white space around it."""
        text = self.source[start:end]
        start += len(text) - len(text.lstrip())
        end -= len(text) - len(text.rstrip())
        return Citation(0, self.document, self.title, start, end, self.source[start:end], section=path)


def page_of(document: StoredDocument, root: Path | None = None) -> Page:
    """The sections of a document that have text of their own, in order."""
    placed = _units(document)
    sections = [
        PageSection(path, tuple(_without_repeats(unit for _, unit in members)))
        for path, members in groupby(placed, key=lambda pair: pair[0])
    ]
    numbers = (passage.same_as if passage.number is None else passage.number for passage in document.passages)
    return Page(
        document.name, document.title, document.tags, document.asked_as, document.source, tuple(sections),
        tuple(number for number in numbers if number is not None), _uri(document, root),
    )  # fmt: skip


def _uri(document: StoredDocument, root: Path | None) -> str:
    if root is None or not root.is_absolute():
        return ""
    return (root if root.is_file() else root / document.relative).as_uri()


def items_of(page: Page, units_: Sequence[PageUnit]) -> Iterator[Citation]:
    """The list items among units, each whole with all its sentences."""
    item: list[PageUnit] = []
    for unit in (*units_, None):
        if item and (unit is None or unit.mark or "\n" in page.source[item[-1].citation.end : unit.citation.start]):
            yield page.slice(item[0].citation.start, item[-1].citation.end, item[0].citation.section)
            item = []
        if unit is not None and (unit.mark or item):
            item.append(unit)


def _units(document: StoredDocument) -> Iterator[tuple[tuple[str, ...], PageUnit]]:
    """The units that are in the source, each with the headings above it. A passage with several small sections is
    stored under their common headings, so headings are followed through the whole document."""
    path: tuple[str, ...] = ()
    levels: list[int] = []
    for passage in document.passages:
        if path[: len(passage.section)] != passage.section:
            path, levels = passage.section, [0] * len(passage.section)
        text = passage.content.text
        headings = {block.start: block for block in passage.blocks if block.kind is BlockKind.HEADING}
        for unit in units(text, passage.blocks):
            if unit.kind is UnitKind.HEADING:
                path, levels = _under(headings[unit.start], text, passage.section, path, levels)
                continue
            span = passage.content.source_range(unit.start, unit.end)
            if span is not None:
                quote = document.source[span[0] : span[1]]
                citation = Citation(0, document.name, document.title, *span, quote, _page(document, span[0]), path)
                yield path, PageUnit(unit.kind, citation, unit.mark)


def _under(
    heading: Block, text: str, section: tuple[str, ...], path: tuple[str, ...], levels: list[int]
) -> tuple[tuple[str, ...], list[int]]:
    """The path below a heading, and the level of each of its names; 0 for a dropped heading without text."""
    name = HEADING_MARKS.sub("", text[heading.body_start : heading.body_end]).strip()
    if name in section:
        depth, path = section.index(name), section
    else:
        depth = next((place for place, level in enumerate(levels) if level >= heading.level), len(path))
    above = [level or max(0, heading.level - (depth - place)) for place, level in enumerate(levels[:depth])]
    return (*path[:depth], name), [*above, heading.level]


def _without_repeats(found: Iterator[PageUnit]) -> Iterator[PageUnit]:
    """The parts of a cut table or code have one covering slice: the first is kept."""
    before: PageUnit | None = None
    for unit in found:
        if before is None or unit.citation.start >= before.citation.end:
            yield unit
            before = unit


def _page(document: StoredDocument, start: int) -> int | None:
    return sum(begin <= start for begin in document.pages) or None if document.pages else None

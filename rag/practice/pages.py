"""A document for practice: its sections with their sentences, each a slice of the source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from rag.index.storage import StoredDocument
from rag.text.page import Outline, PageSection
from rag.text.sentences import UnitKind, units
from rag.types import Citation


@dataclass(frozen=True, slots=True)
class PageUnit:
    """A sentence, formula, table or block of code, and the list mark before it."""

    kind: UnitKind
    citation: Citation
    mark: str = ""


@dataclass(frozen=True, slots=True)
class SectionText:
    """The text directly under a heading."""

    section: PageSection
    units: tuple[PageUnit, ...]

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above it, outermost first, its own last."""
        return self.section.path

    @property
    def heading(self) -> str:
        return self.section.heading

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
    sections: tuple[SectionText, ...]
    outline: Outline
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
        SectionText(section, tuple(_without_repeats(unit for _, unit in members)))
        for section, members in groupby(placed, key=lambda pair: pair[0])
    ]
    numbers = (passage.same_as if passage.number is None else passage.number for passage in document.passages)
    return Page(
        document.name, document.title, document.tags, document.asked_as, document.source, tuple(sections),
        document.outline, tuple(number for number in numbers if number is not None), _uri(document, root),
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


def _units(document: StoredDocument) -> Iterator[tuple[PageSection, PageUnit]]:
    """The units that are in the source, without headings, each with its section."""
    for passage in document.passages:
        for block in passage.blocks:
            section = document.outline.sections[block.section]
            for unit in units(passage.content.text, [block]):
                span = passage.content.source_range(unit.start, unit.end)
                if span is not None and unit.kind is not UnitKind.HEADING:
                    quote, page = document.source[slice(*span)], _page(document, span[0])
                    citation = Citation(0, document.name, document.title, *span, quote, page, section.path)
                    yield section, PageUnit(unit.kind, citation, unit.mark)


def _without_repeats(found: Iterator[PageUnit]) -> Iterator[PageUnit]:
    """The parts of a cut table or code have one covering slice: the first is kept."""
    before: PageUnit | None = None
    for unit in found:
        if before is None or unit.citation.start >= before.citation.end:
            yield unit
            before = unit


def _page(document: StoredDocument, start: int) -> int | None:
    return sum(begin <= start for begin in document.pages) or None if document.pages else None

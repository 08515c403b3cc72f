"""A document as practice sees it: its sections with their sentences, each a slice of the source."""

from dataclasses import dataclass

from rag.text.sentences import UnitKind
from rag.types import Citation


@dataclass(frozen=True, slots=True)
class PageUnit:
    """A sentence, formula, table or block of code, and the list mark before it."""

    kind: UnitKind
    citation: Citation
    mark: str = ""


@dataclass(frozen=True, slots=True)
class PageSection:
    """What stands directly under a heading; `path` are the headings above, outermost first, its own last."""

    path: tuple[str, ...]
    start: int
    end: int
    units: tuple[PageUnit, ...]

    @property
    def heading(self) -> str:
        return self.path[-1] if self.path else ""


@dataclass(frozen=True, slots=True)
class Page:
    """`passages` are its numbers in the index."""

    document: str
    title: str
    tags: tuple[str, ...]
    asked_as: tuple[str, ...]
    source: str
    sections: tuple[PageSection, ...]
    passages: tuple[int, ...] = ()

"""The data that the readers of paragraphs, pictures and notes share about a document or a part of it."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.formats.office.omissions import NO_DATA, Omissions
from ingest.formats.office.package import Package, Part
from ingest.formats.office_xml import relation


def _no_note(kind: str, name: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Story:
    """A part with text. `note` gives a footnote, an endnote or a comment by its kind and name, each once."""

    package: Package
    part: Part
    omissions: Omissions
    note: Callable[[str, str], str] = _no_note
    # The charts and diagrams that were read: none is read twice.
    seen: set[str] = field(default_factory=set)

    def of(self, part: Part) -> "Story":
        """The same for another part, which has no notes of its own."""
        return replace(self, part=part, note=_no_note)

    def drawn(self, element: Any, name: str) -> Part | None:
        """The part that a drawing refers to; None if it is missing, or was asked for before."""
        found = self.package.part(self.part.relations.get(relation(element, name)))
        if found is None:
            self.omissions.things[NO_DATA] += 1
        if found is None or found.name in self.seen:
            return None
        self.seen.add(found.name)
        return found

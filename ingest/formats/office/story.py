"""What the readers of paragraphs, pictures and notes share about a document: its part, and what was left out of it."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ingest.formats.office.package import Package, Part
from ingest.formats.office_xml import relation

# Things that are left out, as they are reported.
STRUCK, HIDDEN, DELETED = "struck-out text", "hidden text", "deleted text (a tracked change)"
PROMPTS, STRANGE = "prompts of fields that nobody has filled in", "unknown signs of symbol fonts"
NO_DATA = "drawings, headers and footers whose data are not in the file"
NO_VALUES = "charts and diagrams without values"
NO_DESCRIPTION, RESOLVED = "pictures without a description", "resolved comments"
MOST_LINES, LONGEST_LINE, LONGEST_QUOTE = 200, 500, 60
# Characters that merged cells may add by being repeated in all their places; more are meant to do harm.
MOST_COPIED = 2_000_000
# The same for one cell: a row of a table should stay readable.
LONGEST_COPIED = 2_000


@dataclass(slots=True)
class Omissions:
    """Pieces of text by their kind ("struck-out text"), counts of things by name, and other remarks. `lines` is text
    that a remark mentions."""

    texts: dict[str, list[str]] = field(default_factory=dict)
    things: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    copied: int = 0
    is_full: bool = False

    def text(self, kind: str, said: str) -> None:
        """Add a piece of text that was left out."""
        if said.strip():
            self.texts.setdefault(kind, []).append(" ".join(said.split()))

    def may_copy(self, text: str, times: int) -> bool:
        """Whether there is room for copies of a merged cell's text."""
        self.copied += len(text) * times
        is_too_much = len(text) > LONGEST_COPIED or self.copied > MOST_COPIED
        self.is_full = self.is_full or is_too_much
        return not is_too_much

    def warnings(self) -> tuple[str, ...]:
        quoted = (f"{kind} was left out: {_quoted(pieces)}" for kind, pieces in self.texts.items())
        counted = (f"{thing} were left out: {count:,}" for thing, count in self.things.items())
        full = ["merged cells were not repeated in all their places: they hold too much text"]
        return (*quoted, *counted, *self.remarks, *(full if self.is_full else ()))

    def removed(self) -> tuple[str, ...]:
        lines = [line for pieces in (*self.texts.values(), self.lines) for line in pieces]
        return tuple(line[:LONGEST_LINE] for line in lines[:MOST_LINES])


def _quoted(pieces: list[str]) -> str:
    first = pieces[0] if len(pieces[0]) <= LONGEST_QUOTE else f"{pieces[0][:LONGEST_QUOTE]}…"
    return f"“{first}”" + (f" and {len(pieces) - 1:,} more" if len(pieces) > 1 else "")


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

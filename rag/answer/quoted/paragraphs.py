"""The paragraphs of a passage: units that make sense together."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rag.language.headings import LABEL
from rag.language.injection import injection_spans, overlaps
from rag.language.sentence_kinds import LEGEND_OF_A_BLOCK
from rag.language.terms import terms
from rag.text.blocks import Block
from rag.text.page import PageSection
from rag.text.sentences import Unit, UnitKind, units
from rag.types import Passage

# Passages whose paragraphs are remembered; some 5 kB each.
PASSAGES_KEPT = 2_048
# A part of a heading counts as one of its sentences from this length on; a shorter text occurs in it by accident.
LONG_ENOUGH = 6
# Pictures, also those that link elsewhere, such as badges.
PICTURES = re.compile(r"(?:(?:!\[[^\]\n]*\]|\[!\[[^\]\n]*\]\([^)\n]*\)\])\([^)\n]*\)\s*)+")
BLOCKS = (UnitKind.CODE, UnitKind.FORMULA, UnitKind.TABLE)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Units of a passage that make sense together, and the section they stand in."""

    passage: Passage
    section: PageSection
    units: tuple[Unit, ...]

    @property
    def texts(self) -> list[str]:
        return [self.passage.text[unit.start : unit.end] for unit in self.units]

    @property
    def length(self) -> int:
        """In characters."""
        return sum(unit.end - unit.start for unit in self.units)

    def compares(self, names: Sequence[str]) -> bool:
        """Whether a table of the paragraph has a column for each of the names."""
        tables = [text for text, unit in zip(self.texts, self.units, strict=True) if unit.kind is UnitKind.TABLE]
        heads = [set(terms(table.partition("\n")[0])) for table in tables]
        return bool(names) and any(all(set(terms(name)) <= head for name in names) for head in heads)

    @property
    def heading(self) -> str:
        return self.section.heading


@lru_cache(PASSAGES_KEPT)
def quotable(passage: Passage) -> tuple[Paragraph, ...]:
    """The paragraphs of a passage, remembered."""
    return tuple(paragraphs(passage))


def paragraphs(passage: Passage) -> Iterator[Paragraph]:
    """The paragraphs of a passage in order, without headings and without units that have no place in the source or are
    only pictures.

    A formula, a table or code belongs to the lines around it that speak of it, a list to the line that announces it,
    what is nested in an item to that item, an item of a numbered list to the one before it, a line of a quotation too;
    a table only to the line that announces it.
    """
    section = passage.sections[0] if passage.sections else PageSection()
    gathered: list[Unit] = []
    announced = False  # whether everything since a line that ends in a colon is what it announces
    leads = False  # whether the last line leads to a table below it
    for unit, block, own, opens in _units(passage):
        part = passage.text[unit.start : unit.end]
        if unit.kind is UnitKind.HEADING or _is_own_heading(unit, part, passage):
            if gathered:
                yield Paragraph(passage, section, tuple(gathered))
            gathered, announced = [], False
            label = "" if unit.kind is UnitKind.HEADING else part.lstrip("# ").replace("**", "").strip()
            section = own.labelled(label)
            continue
        if passage.content.source_range(unit.start, unit.end) is None or PICTURES.fullmatch(part):
            continue
        is_block = unit.kind in BLOCKS and (unit.kind is not UnitKind.TABLE or announced or leads)
        goes_on = (unit.mark and announced) or (unit.mark == ">" and not opens) or _is_nested(unit, gathered)
        explains = bool(gathered) and gathered[-1].kind in BLOCKS and bool(LEGEND_OF_A_BLOCK.match(part))
        counts_on = bool(gathered) and is_number(unit.mark) and any(is_number(before.mark) for before in gathered)
        if gathered and unit.begins_line and not (is_block or explains or counts_on or goes_on):
            yield Paragraph(passage, section, tuple(gathered))
            gathered, announced = [], False
        gathered.append(unit)
        announced = announced or (not unit.mark and part.endswith((":", "：")))
        if unit.begins_line:  # the last of several lines, such as names with their values, leads nowhere
            leads = block.announces and not unit.mark and opens
    if gathered:
        yield Paragraph(passage, section, tuple(gathered))


def _units(passage: Passage) -> Iterator[tuple[Unit, Block, PageSection, bool]]:
    """Each unit with its block and section, and whether it opens the block."""
    for block, section in zip(passage.blocks, passage.sections, strict=True):
        for place, unit in enumerate(units(passage.text, [block])):
            yield unit, block, section, place == 0


def _is_nested(unit: Unit, before: Sequence[Unit]) -> bool:
    """Whether a unit stands within the first list item of those before it."""
    item = next((one.depth for one in before if is_item(one)), 0)
    return 0 < item <= unit.depth - is_item(unit)


def is_item(unit: Unit) -> bool:
    """Whether it begins an item of a list."""
    return unit.mark not in ("", ">")


def read_together(units: Sequence[Unit], place: int) -> list[Unit]:
    """A unit of a paragraph, then the items that it is nested in, innermost first."""
    read = [units[place]]
    depth = units[place].depth + (units[place].begins_line and not is_item(units[place]))
    for unit in reversed(units[:place]):
        if is_item(unit) and unit.depth < depth:
            read.append(unit)
            depth = unit.depth
    return read


def is_number(mark: str) -> bool:
    """Whether a list mark is a number: such items say little without those before."""
    return mark[:1].isdigit()


def _is_own_heading(unit: Unit, part: str, passage: Passage) -> bool:
    """Headings of plain-text documents have no `#`: they are known from the passage's path, or are a bare label."""
    return (unit.begins_line and not unit.mark and bool(LABEL.fullmatch(part))) or any(
        part == name or (len(part) >= LONG_ENOUGH and part in name) for name in passage.section
    )


def without_orders(found: Iterable[Paragraph]) -> list[Paragraph]:
    """The paragraphs without the sentences that give orders to the model."""
    left = []
    for paragraph in found:
        orders = injection_spans(paragraph.passage.text)
        units = tuple(unit for unit in paragraph.units if not overlaps(orders, unit.start, unit.end))
        if units:
            left.append(replace(paragraph, units=units))
    return left

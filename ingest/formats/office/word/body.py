"""The XML of a Word document -> its blocks."""

import re
from collections.abc import Iterator, Set
from typing import Any

from ingest.formats.office.story import HIDDEN, PROMPTS, Story
from ingest.formats.office.word.blocks import NO_LEVEL, Block, Paragraph, Table, TableCell, TableRow
from ingest.formats.office.word.numbering import Numbering
from ingest.formats.office.word.runs import Runs, is_prompt
from ingest.formats.office.word.styles import Styles
from ingest.formats.office_xml import (
    WRAPPERS,
    attribute,
    child,
    children,
    is_on,
    local_name,
    number,
    shown_form,
    text_of,
    value,
)

CODE_STYLE = re.compile(r"code|preformatted|source|listing|代码|程序", re.IGNORECASE)
HEADING_STYLE = re.compile(r"(?:heading|标题)\s*([1-9])", re.IGNORECASE)
TITLE_STYLE = "Title"
CENTRED = ("center", "centre")
LISTS = re.compile(r"\s*TOC\b")
MOST_FIELDS = 50
CONTENTS, OTHER_FILES = "tables of contents", "parts that are whole files of their own"


class Body:
    """`left_out` are the paragraphs of tables of contents."""

    def __init__(self, story: Story, styles: Styles, numbering: Numbering, left_out: Set[Any]) -> None:
        self._story = story
        self._styles = styles
        self._numbering = numbering
        self._left_out = left_out
        self._runs = Runs(story, styles)

    def blocks(self, holder: Any) -> list[Block]:
        """The paragraphs and tables of the body, of a cell or of a text box."""
        found: list[Block] = []
        was_left_out = False
        for one in self._parts(holder):
            name = local_name(one)
            if name == "p" and one in self._left_out:
                if not was_left_out:
                    self._story.omissions.things[CONTENTS] += 1
                was_left_out = True
                continue
            was_left_out = False
            if name == "p":
                paragraph = self._paragraph(one)
                before = found[-1] if found else None
                if isinstance(before, Paragraph) and before.runs_on:
                    paragraph.go_on_from(before)
                    found.pop()
                found.append(paragraph)
            elif name == "tbl":
                found.append(self._table(one))
            elif name in ("altChunk", "subDoc"):
                self._story.omissions.things[OTHER_FILES] += 1
        return found

    def _parts(self, holder: Any) -> Iterator[Any]:
        """The children of an element, with mere wrappers replaced by their children."""
        stack = list(holder)[::-1]
        while stack:
            one = stack.pop()
            name = local_name(one)
            if name == "sdt" and is_prompt(one):
                self._story.omissions.things[PROMPTS] += 1
            elif name == "sdt" and is_contents(one):
                self._story.omissions.things[CONTENTS] += 1
            elif name == "AlternateContent":
                stack += list(shown_form(one))[::-1]
            elif name in WRAPPERS:
                stack += list(one)[::-1]
            else:
                yield one

    def _paragraph(self, element: Any) -> Paragraph:
        properties = self._styles.properties(element)
        own = child(element, "pPr")
        style = self._styles.paragraph_style(own)
        said = self._runs.read(element)
        runs_on = child(own, "rPr", "del") is not None
        plain = self._runs.is_plain_monospaced
        paragraph = Paragraph(
            text=said.text,
            bare=said.bare,
            notes=said.notes,
            runs_on=runs_on,
            label=None if runs_on and not said.text.strip() else self._numbering.label(properties),
            is_code=(said.is_monospaced and not plain) or any(map(CODE_STYLE.search, self._styles.names(style))),
            size=said.size,
            is_bold=said.is_bold,
            is_centred=next((v in CENTRED for _, one in properties if (v := value(one, "jc"))), False),
            beside=[block for one in said.beside for block in ([one] if isinstance(one, str) else self._box(one))],
        )
        level = self._level(properties, style)
        if level < NO_LEVEL:
            paragraph.become_heading(level)
        return paragraph

    def _box(self, element: Any) -> list[Block]:
        """The blocks of a text box. None is a heading, which would cut off the text after the box."""
        blocks = self.blocks(element)
        for one in blocks:
            if isinstance(one, Paragraph):
                one.level = NO_LEVEL
        return blocks

    def _level(self, properties: list[tuple[str, Any]], style: str) -> int:
        styled = dict(self._styled_levels(style))
        for name, one in properties:
            level = value(one, "outlineLvl")
            if level is not None:
                return min(number(level, NO_LEVEL), NO_LEVEL)
            if name in styled:
                return styled[name]
        return next(iter(styled.values()), NO_LEVEL)

    def _styled_levels(self, style: str) -> Iterator[tuple[str, int]]:
        for one in self._styles.chain(style):
            name = value(one, "name") or ""
            match = HEADING_STYLE.fullmatch(name)
            if match or name == TITLE_STYLE:
                yield attribute(one, "styleId"), int(match[1]) - 1 if match else 0

    def _table(self, element: Any) -> Table:
        rows = []
        for row in children(element, "tr"):
            properties = child(row, "trPr")
            hidden = child(properties, "hidden")
            if hidden is not None and is_on(hidden):
                self._story.omissions.text(HIDDEN, text_of(row))
                continue
            head = child(properties, "tblHeader")
            rows.append(
                TableRow(
                    self._cells(row),
                    before=number(value(properties, "gridBefore")),
                    is_head=head is not None and is_on(head),
                )
            )
        return Table(rows)

    def _cells(self, row: Any) -> list[TableCell]:
        cells: list[TableCell] = []
        for one in children(row, "tc"):
            properties = child(one, "tcPr")
            across = max(1, number(value(properties, "gridSpan"), 1))
            if cells and _continues(properties, "hMerge"):
                cells[-1] = TableCell(cells[-1].blocks, cells[-1].across + across, cells[-1].goes_on)
                continue
            cells.append(TableCell(self.blocks(one), across, _continues(properties, "vMerge")))
        return cells


def _continues(properties: Any, name: str) -> bool:
    """Whether a cell is part of the one before or above it."""
    merge = child(properties, name)
    return merge is not None and attribute(merge, "val", "continue") == "continue"


def is_contents(control: Any) -> bool:
    """Whether a content control was inserted as a table of contents."""
    return value(child(control, "sdtPr"), "docPartObj", "docPartGallery") == "Table of Contents"


def contents_paragraphs(body: Any) -> set[Any]:
    """The paragraphs of a table of contents: between the beginning and the end of the field that makes it. A field
    without an end does not count."""
    found: set[Any] = set()
    paragraphs: list[Any] = []
    open_fields: list[tuple[int, list[str]]] = []
    after: Any = None  # the paragraph in which a list has ended
    for one in body.iter():
        name = local_name(one)
        if name == "p":
            paragraphs.append(one)
            after = None
        elif name == "instrText" and open_fields:
            open_fields[-1][1].append(one.text or "")
        elif name == "fldChar" and paragraphs:
            kind = attribute(one, "fldCharType")
            if kind == "begin" and len(open_fields) < MOST_FIELDS:
                open_fields.append((len(paragraphs) - 1, []))
            elif kind == "end" and open_fields:
                start, instruction = open_fields.pop()
                if LISTS.match("".join(instruction)):
                    found.update(paragraphs[start:])
                    after = paragraphs[-1]
        elif name == "t" and after is not None and (one.text or "").strip():
            found.discard(after)
            after = None
    return found

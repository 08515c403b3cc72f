"""The text of drawings: text boxes, charts, diagrams, and the descriptions of pictures."""

import re
from collections.abc import Iterator
from typing import Any

from ingest.formats.office.chart import chart_blocks, diagram_block
from ingest.formats.office.story import NO_DESCRIPTION, NO_VALUES, Story
from ingest.formats.office_xml import ON, attribute, child, local_name, shown_form

FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp|bmp|emf|wmf|tiff?)", re.IGNORECASE)


def description(properties: Any) -> str:
    """The description of a picture (`docPr`, `cNvPr`); empty if it is only the name of a file."""
    said = " ".join(attribute(properties, "descr").split())
    return "" if FILE_NAME.fullmatch(said) else said


def is_decorative(properties: Any) -> bool:
    return any(local_name(one) == "decorative" and attribute(one, "val") in ON for one in properties.iter())


def is_hidden(properties: Any) -> bool:
    return attribute(properties, "hidden") in ON


def graphic_blocks(element: Any, story: Story) -> list[str]:
    """The blocks of a chart or diagram, given the element that refers to its part."""
    is_chart = local_name(element) == "chart"
    part = story.drawn(element, "id" if is_chart else "dm")
    if part is None:
        return []
    blocks = [block for block in (chart_blocks(part.root) if is_chart else [diagram_block(part.root)]) if block]
    story.omissions.things.update({} if blocks else {NO_VALUES: 1})
    return blocks


def in_drawing(drawing: Any, story: Story) -> Iterator[Any]:
    """The text of a Word drawing: elements that hold paragraphs (`txbxContent`), and blocks of text."""
    stack = [drawing]
    pictures, says = 0, False
    described: set[str] = set()
    while stack:
        one = stack.pop()
        name = local_name(one)
        if name == "txbxContent":
            says = True
            yield one
        elif name in ("chart", "relIds"):
            blocks = graphic_blocks(one, story)
            says = says or bool(blocks)
            yield from blocks
        elif name in ("docPr", "cNvPr"):
            if is_hidden(one):
                story.omissions.things["hidden drawings"] += name == "docPr"
                if name == "docPr":
                    return
            elif text := description(one):
                says = True
                yield from {text} - described
                described.add(text)
            says = says or is_decorative(one)
        elif name == "textpath":  # letters drawn along a line
            says = True
            yield attribute(one, "string")
        elif name == "OLEObject":
            story.omissions.things[f"embedded objects ({attribute(one, 'ProgID')[:40] or 'of another program'})"] += 1
            says = True
        elif name == "AlternateContent":
            stack += list(shown_form(one))[::-1]
        else:
            pictures += name in ("blip", "imagedata")
            if name == "shape" and child(one, "imagedata") is not None and attribute(one, "alt"):
                says = True
                yield attribute(one, "alt")
            stack += list(one)[::-1]
    if pictures and not says:
        story.omissions.things[NO_DESCRIPTION] += pictures

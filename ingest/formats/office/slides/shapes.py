"""The shapes of a slide: the text of each, and its position."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ingest.formats.office.grid import Cell, Row, write
from ingest.formats.office.pictures import description, graphic_blocks, is_decorative, is_hidden
from ingest.formats.office.slides.reading_order import Box, reading_order
from ingest.formats.office.slides.text import SlideText
from ingest.formats.office.story import HIDDEN, NO_DESCRIPTION, Story
from ingest.formats.office_xml import attribute, child, children, local_name, number, shown_form, text_of

TITLES = frozenset({"title", "ctrTitle"})
# Date, footer and number are on every slide.
FRAME = frozenset({"dt", "ftr", "sldNum", "hdr"})
SHAPES = frozenset({"sp", "pic", "graphicFrame", "grpSp", "cxnSp"})
FOOTER = "the footer of the slides"


@dataclass(slots=True)
class Shape:
    """`blocks` are its text; `is_text`: that was written into the shape."""

    blocks: list[str]
    box: Box | None
    is_title: bool = False
    is_text: bool = False


class Places:
    """The placeholders of a slide's layout and master, with their boxes and list styles."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._levels: list[dict[tuple[str, str], Any]] = []
        for root in roots:
            known: dict[tuple[str, str], Any] = {}
            for one in root.iter():
                place = place_of(one) if local_name(one) == "sp" else None
                if place is not None:
                    known.setdefault(("index", place.get("idx", "")), one)
                    known.setdefault(("kind", _kind(place.get("type", "obj"))), one)
            self._levels.append(known)

    def of(self, shape: Any) -> list[Any]:
        """The placeholders that a shape fills, the nearest first."""
        place = place_of(shape)
        if place is None:
            return []
        keys = [("index", place.get("idx")), ("kind", _kind(place.get("type", "obj")))]
        found = (next((known[key] for key in keys if key[1] and key in known), None) for known in self._levels)
        return [one for one in found if one is not None]


def _kind(name: str) -> str:
    return "title" if name in TITLES else "body" if name in ("obj", "body", "subTitle") else name


def place_of(shape: Any) -> Any:
    """The element that says which placeholder a shape fills; None if it fills none."""
    head = next((one for one in shape if local_name(one).startswith("nv")), None)
    return child(head, "nvPr", "ph")


class Shapes:
    """Reads the shapes of a slide."""

    def __init__(self, story: Story, places: Places) -> None:
        self._story = story
        self._places = places
        self._text = SlideText(story.part, story.omissions)

    def read(self, tree: Any) -> list[Shape]:
        """The shapes of a tree in reading order."""
        found = [shape for one in _members(tree) for shape in self._shape(one)]
        return [found[place] for place in reading_order([shape.box for shape in found])]

    def _shape(self, element: Any) -> Iterator[Shape]:
        properties = next((one for head in element for one in head if local_name(one) == "cNvPr"), None)
        place = place_of(element)
        kind = "" if place is None else place.get("type", "obj")
        if properties is not None and is_hidden(properties):
            self._story.omissions.text(
                HIDDEN, " ".join(text_of(one) for one in element.iter() if local_name(one) == "p")
            )
            return
        if kind in FRAME:
            self._tell_footer(element, kind)
            return
        name = local_name(element)
        if name == "grpSp":
            members = self.read(element)
            blocks = [block for one in members for block in one.blocks]
            box = self._box(element)
            if box is None or not (box.width or box.height):
                box = _around([one.box for one in members if one.box is not None])
            yield Shape(blocks, box)
            return
        text = self._blocks(element, kind) if name in ("sp", "cxnSp") else []
        blocks = text or self._drawn(element, name, properties)
        if blocks:
            yield Shape(blocks, self._box(element), is_title=kind in TITLES, is_text=bool(text))

    def _tell_footer(self, element: Any, kind: str) -> None:
        """Report the text written into a footer, once. Numbers and today's date are fields."""
        runs = (one for one in element.iter() if local_name(one) == "r" and kind != "sldNum")
        text = " ".join("".join(one.text or "" for run in runs for one in run if local_name(one) == "t").split())
        if text and text not in self._story.omissions.texts.get(FOOTER, ()):
            self._story.omissions.text(FOOTER, text)

    def _blocks(self, element: Any, kind: str) -> list[str]:
        body = child(element, "txBody")
        if body is None:
            return []
        styles = [child(place, "txBody", "lstStyle") for place in self._places.of(element)]
        text = "\n".join(self._text.paragraphs(body, styles, is_list=kind in ("obj", "body")))
        return [text] if text.strip() else []

    def _drawn(self, element: Any, name: str, properties: Any) -> list[str]:
        blocks: list[str] = []
        for one in element.iter():
            kind = local_name(one)
            if kind == "tbl":
                blocks += self._table(one)
            elif kind in ("chart", "relIds") and len(one.attrib):
                blocks += graphic_blocks(one, self._story)
            elif kind == "oleObj":
                program = attribute(one, "progId")[:40] or "of another program"
                self._story.omissions.things[f"embedded objects ({program})"] += 1
            elif kind in ("videoFile", "audioFile", "wavAudioFile"):
                self._story.omissions.things["recordings"] += 1
        said = "" if properties is None else description(properties)
        if not blocks and not said and name == "pic" and properties is not None and not is_decorative(properties):
            self._story.omissions.things[NO_DESCRIPTION] += 1
        return ([said] if said else []) + blocks

    def _table(self, element: Any) -> list[str]:
        rows = []
        for row in children(element, "tr"):
            cells = []
            for cell in children(row, "tc"):
                if cell.get("hMerge") in ("1", "true"):  # the cell before spans this place
                    continue
                body = child(cell, "txBody")
                text = "" if body is None else _joined(list(self._text.paragraphs(body)))
                goes_on = cell.get("vMerge") in ("1", "true")
                cells.append(Cell(text, max(1, number(cell.get("gridSpan"), 1)), goes_on))
            rows.append(Row(cells))
        return write(rows, self._story.omissions.may_copy)

    def _box(self, element: Any) -> Box | None:
        """The position of a shape, or of the placeholder that it fills."""
        for one in (element, *self._places.of(element)):
            found = child(one, "xfrm")
            if found is None:
                holder = next((part for part in one if local_name(part) in ("spPr", "grpSpPr")), None)
                found = child(holder, "xfrm")
            start, size = child(found, "off"), child(found, "ext")
            if start is not None and size is not None:
                values = (start.get("x"), start.get("y"), size.get("cx"), size.get("cy"))
                return Box(*(number(text, most=1_000_000_000) for text in values))
        return None


def _joined(lines: list[str]) -> str:
    """The paragraphs of a cell in one line."""
    return "；".join(line.strip().removeprefix("- ") for line in lines) if any(
        line.lstrip().startswith("- ") for line in lines
    ) else " ".join(lines)  # fmt: skip


def _members(tree: Any) -> Iterator[Any]:
    """The shapes of a slide or a group, in the first of several forms."""
    stack = list(tree)[::-1]
    while stack:
        one = stack.pop()
        if local_name(one) == "AlternateContent":
            stack += list(shown_form(one))[::-1]
        elif local_name(one) in SHAPES:
            yield one


def _around(boxes: list[Box]) -> Box | None:
    if not boxes:
        return None
    left, top = min(box.left for box in boxes), min(box.top for box in boxes)
    return Box(left, top, max(box.right for box in boxes) - left, max(box.bottom for box in boxes) - top)

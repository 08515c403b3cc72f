"""PowerPoint presentation -> Markdown: for each slide a heading, its content in reading order, its notes and
comments."""

import re
from collections.abc import Iterator
from typing import Any

from ingest.formats.extract import Extract, TextBuilder
from ingest.formats.markdown import heading
from ingest.formats.office.line import remark
from ingest.formats.office.package import Package, Part, open_package
from ingest.formats.office.slides.shapes import FRAME, Places, Shape, Shapes, place_of
from ingest.formats.office.slides.text import SlideText
from ingest.formats.office.story import RESOLVED, Omissions, Story
from ingest.formats.office_xml import attribute, child, local_name, relation, text_of
from rag.language.language import has_chinese

MAX_TITLE_CHARACTERS = 60
# Several lines, an item of a list, a table, a formula.
NO_TITLE = re.compile(r"\n|^(?:[|$-]|\d{1,9}[.)] )")
# The notes page also shows a picture of the slide.
NO_NOTES = FRAME | {"sldImg"}


def read(data: bytes) -> Extract:
    with open_package(data, "PPTX", "presentation") as package:
        return _read(package)


def _read(package: Package) -> Extract:
    main = package.main
    assert main is not None
    omissions = Omissions()
    comments = _Comments(package, main)
    builder = TextBuilder()
    pages: list[int] = []
    known: dict[str, Places] = {}
    hidden: dict[str, str] = {}
    listed = child(main.root, "sldIdLst")
    for number, one in enumerate(() if listed is None else listed, start=1):
        slide = package.part(main.relations.get(relation(one)))
        if slide is None or attribute(slide.root, "show") in ("0", "false"):
            if slide is not None:
                hidden[str(number)] = _plain(slide)
            pages.append(-1)
            continue
        places = _places(package, slide, known)
        blocks = [*_slide(package, slide, places, omissions, number), *comments.of(slide, omissions)]
        pages.append(builder.add("\n\n".join(blocks)))
    if hidden:
        omissions.remarks.append(f"hidden slides were left out: {', '.join(hidden)}")
        omissions.lines += hidden.values()
    omissions.remarks += [f"its part {name[:80]!r} cannot be read" for name in package.unreadable]
    return Extract(
        builder.text,
        title=package.title(),
        pages=_starts(pages, len(builder.text)),
        warnings=omissions.warnings(),
        removed=omissions.removed(),
    )


def _plain(slide: Part) -> str:
    """The text of a slide in one line."""
    return " ".join(filter(None, (text_of(one) for one in slide.root.iter() if local_name(one) == "p")))


def _starts(pages: list[int], end: int) -> tuple[int, ...]:
    """Where the slides begin; an omitted one begins and ends where the next one begins."""
    starts: list[int] = []
    for start in reversed(pages):
        end = end if start < 0 else start
        starts.append(end)
    return (0, *starts[::-1][1:]) if starts else ()


def _places(package: Package, slide: Part, known: dict[str, Places]) -> Places:
    """The placeholders of a slide's layout, read once for all slides that use it."""
    layout = package.related(slide, "slideLayout")
    name = "" if layout is None else layout.name
    if name not in known:
        master = None if layout is None else package.related(layout, "slideMaster")
        known[name] = Places(part.root for part in (layout, master) if part is not None)
    return known[name]


def _slide(package: Package, slide: Part, places: Places, omissions: Omissions, number: int) -> list[str]:
    tree = child(slide.root, "cSld", "spTree")
    story = Story(package, slide, omissions)
    shapes = Shapes(story, places).read(tree) if tree is not None else []
    title = _title(shapes)
    blocks = [block for shape in shapes for block in shape.blocks]
    notes = _speaker_notes(package, slide, omissions)
    return [heading(title or f"{number}", 2), *blocks, *([notes] if notes else [])]


def _title(shapes: list[Shape]) -> str:
    """The title, removed from the shapes: the title shape's text, or in a deck without those the first line."""
    found = next((shape for shape in shapes if shape.is_title), None)
    first: Any = shapes[0] if shapes else None
    if found is None and first is not None and first.is_text:
        text = first.blocks[0]
        found = first if len(text) <= MAX_TITLE_CHARACTERS and not NO_TITLE.search(text) else None
    if found is None:
        return ""
    shapes.remove(found)
    return " ".join(" ".join(found.blocks).split())


def _speaker_notes(package: Package, slide: Part, omissions: Omissions) -> str:
    """The speaker's notes on a slide, marked as such."""
    part = package.related(slide, "notesSlide")
    if part is None:
        return ""
    text = SlideText(part, omissions)
    lines: list[str] = []
    for shape in part.root.iter():
        if local_name(shape) != "sp" or child(shape, "txBody") is None:
            continue
        place = place_of(shape)
        if place is None or place.get("type", "obj") not in NO_NOTES:
            lines += text.paragraphs(child(shape, "txBody"))
    notes = "\n".join(lines).strip()
    return "" if not notes else f"备注：{notes}" if has_chinese(notes) else f"Notes: {notes}"


class _Comments:
    """The comments on slides, in both forms in which PowerPoint stores them."""

    def __init__(self, package: Package, main: Part) -> None:
        self._package = package
        self._authors: dict[str, str] = {}
        for kind in ("commentAuthors", "authors"):
            part = package.related(main, kind)
            for one in () if part is None else part.root:
                self._authors[attribute(one, "id")] = attribute(one, "name")

    def of(self, slide: Part, omissions: Omissions) -> Iterator[str]:
        for link in slide.relations.values():
            part = self._package.part(link) if link.kind == "comments" else None
            for one in () if part is None else part.root:
                if attribute(one, "status") == "resolved":
                    omissions.things[RESOLVED] += 1
                    continue
                yield from self._comment(one)

    def _comment(self, element: Any) -> Iterator[str]:
        """A comment, and the replies to it."""
        for one in (element, *(child(element, "replyLst") if child(element, "replyLst") is not None else ())):
            plain, body = child(one, "text"), child(one, "txBody")
            said = (plain.text or "") if plain is not None else ""
            if body is not None:
                said = " ".join(text_of(paragraph) for paragraph in body if local_name(paragraph) == "p")
            said = " ".join(said.split())
            if said:
                yield remark(said, self._authors.get(attribute(one, "authorId"), ""))

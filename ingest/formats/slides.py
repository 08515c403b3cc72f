"""PowerPoint presentation -> Markdown: for each slide a heading, its content in reading order, and its notes."""

import re
from typing import Any

from ingest.formats.extract import Extract, TextBuilder
from ingest.formats.markdown import heading
from ingest.formats.office.omissions import Omissions
from ingest.formats.office.package import Package, Part, open_package
from ingest.formats.office.slides.remarks import Comments, speaker_notes
from ingest.formats.office.slides.shapes import Places, Shape, Shapes
from ingest.formats.office.story import Story
from ingest.formats.office_xml import attribute, child, local_name, relation, text_of

MAX_TITLE_CHARACTERS = 60
# Several lines, an item of a list, a table, a formula.
NO_TITLE = re.compile(r"\n|^(?:[|$-]|\d{1,9}[.)] )")


def read(data: bytes) -> Extract:
    with open_package(data, "PPTX", "presentation") as package:
        return _read(package)


def _read(package: Package) -> Extract:
    main = package.main
    assert main is not None
    omissions = Omissions()
    comments = Comments(package, main)
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
    notes = speaker_notes(package, slide, omissions)
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

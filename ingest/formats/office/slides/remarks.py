"""The notes and comments of a slide."""

from collections.abc import Iterator
from typing import Any

from ingest.formats.office.line import remark
from ingest.formats.office.omissions import RESOLVED, Omissions
from ingest.formats.office.package import Package, Part
from ingest.formats.office.slides.shapes import FRAME, place_of
from ingest.formats.office.slides.text import SlideText
from ingest.formats.office_xml import attribute, child, local_name, text_of
from rag.language.language import has_chinese

# The notes page also shows a picture of the slide.
NO_NOTES = FRAME | {"sldImg"}


def speaker_notes(package: Package, slide: Part, omissions: Omissions) -> str:
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


class Comments:
    """The comments on slides, in both forms in which PowerPoint stores them."""

    def __init__(self, package: Package, main: Part) -> None:
        self._package = package
        self._authors: dict[str, str] = {}
        for kind in ("commentAuthors", "authors"):
            part = package.related(main, kind)
            for one in () if part is None else part.root:
                self._authors[attribute(one, "id")] = attribute(one, "name")

    def of(self, slide: Part, omissions: Omissions) -> Iterator[str]:
        for relation in slide.relations.values():
            part = self._package.part(relation) if relation.kind == "comments" else None
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

"""Footnotes, endnotes and comments of a Word document, each given once: where it is referred to."""

from collections.abc import Iterator
from typing import Any

from ingest.formats.office.line import remark
from ingest.formats.office.package import Part
from ingest.formats.office.story import RESOLVED, Story
from ingest.formats.office.word.runs import COMMENT, ENDNOTE, FOOTNOTE, Runs
from ingest.formats.office.word.styles import Styles
from ingest.formats.office_xml import attribute, local_name

PARTS = {FOOTNOTE: "footnotes", ENDNOTE: "endnotes", COMMENT: "comments"}
# A paragraph with a page number and at most this many characters is no more than that.
PAGE_FIELDS, LEAST_BESIDE_A_NUMBER = ("PAGE", "NUMPAGES", "SECTIONPAGES"), 12


class Notes:
    def __init__(self, story: Story, styles: Styles) -> None:
        self._story = story
        self._styles = styles
        main = story.part
        self._parts = {kind: story.package.related(main, name) for kind, name in PARTS.items()}
        self._elements = {kind: _by_name(part) for kind, part in self._parts.items()}
        self._resolved = _resolved(story.package.related(main, "commentsExtended"))

    def note(self, kind: str, name: str) -> str:
        """The text of a note the first time that it is asked for; empty later."""
        element, part = self._elements[kind].pop(name, None), self._parts[kind]
        if element is None or part is None:
            return ""
        paragraphs = list(_paragraphs(element))
        if kind == COMMENT and any(attribute(one, "paraId") in self._resolved for one in paragraphs):
            self._story.omissions.things[RESOLVED] += 1
            return ""
        text = read_all(paragraphs, self._story.of(part), self._styles)
        return remark(text, attribute(element, "author")) if kind == COMMENT and text else text


def read_all(paragraphs: list[Any], story: Story, styles: Styles) -> str:
    runs = Runs(story, styles)
    return " ".join(filter(None, (" ".join(runs.read(one).text.split()) for one in paragraphs)))


def _paragraphs(element: Any) -> Iterator[Any]:
    return (one for one in element.iter() if local_name(one) == "p")


def _by_name(part: Part | None) -> dict[str, Any]:
    """The notes of a part; those of another type are lines that separate notes from text."""
    if part is None:
        return {}
    return {attribute(one, "id"): one for one in part.root if attribute(one, "type", "normal") == "normal"}


def _resolved(part: Part | None) -> set[str]:
    """The ids of the paragraphs of resolved comments."""
    listed = [] if part is None else list(part.root)
    return {attribute(one, "paraId") for one in listed if attribute(one, "done") in ("1", "true")}


def tell_headers(story: Story, styles: Styles) -> None:
    """Report the text of headers and footers, which are on every page, instead of reading it."""
    seen: set[str] = set()
    for one in story.part.root.iter():
        kind = {"headerReference": "the page header", "footerReference": "the page footer"}.get(local_name(one))
        part = None if kind is None else story.drawn(one, "id")
        if kind is None or part is None:
            continue
        said = [read_all([p], story.of(part), styles) for p in _paragraphs(part.root) if not _is_page_number(p)]
        text = " ".join(filter(None, said))
        if text and text not in seen:
            seen.add(text)
            story.omissions.text(kind, text)


def _is_page_number(paragraph: Any) -> bool:
    codes = [
        (one.text or "") if local_name(one) == "instrText" else attribute(one, "instr")
        for one in paragraph.iter()
        if local_name(one) in ("instrText", "fldSimple")
    ]
    if not any(code.split()[:1] and code.split()[0] in PAGE_FIELDS for code in codes):
        return False
    text = "".join(one.text or "" for one in paragraph.iter() if local_name(one) == "t")
    return len("".join(text.split())) <= LEAST_BESIDE_A_NUMBER

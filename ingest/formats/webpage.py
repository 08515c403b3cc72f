"""HTML -> Markdown: the text of a page, without its frame. Reports omissions line by line."""

import re
from typing import Any

from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract, UnreadableError
from ingest.formats.html.formulas import keep_formulas
from ingest.formats.html.frame import leave_out_frame
from ingest.formats.html.hidden import leave_out_hidden
from ingest.formats.html.links import leave_out_contents, leave_out_link_rows, leave_out_permalinks
from ingest.formats.html.listings import join_listings
from ingest.formats.html.main_text import keep_main_text
from ingest.formats.html.marks import write_marks
from ingest.formats.html.notes import move_notes
from ingest.formats.html.panels import open_panels
from ingest.formats.html.roles import name_roles
from ingest.formats.html.styles import write_styles
from ingest.formats.html.tree import LeftOut, elements, parse, remove, size_of, unwrap
from ingest.formats.html.writing import write

# A picture embedded in the page; small ones are signs and lines.
WRITTEN_IN = re.compile(r"data:image/[\w.+-]{1,40};base64,[A-Za-z0-9+/=\s]{500}")
TAG = re.compile(r"<[^<>]*>")


def read(data: bytes) -> Extract:
    source, warnings = decoded(data, declares=True)
    page = parse(source)
    kept = list(page.iter())  # lxml recreates the object of an element that nothing refers to
    title = " ".join((page.findtext(".//title") or "").split())
    body = page.find(".//body")
    root = page if body is None else body
    out = LeftOut()
    prepare(page, out)
    leave_out_frame(page, root, out)
    leave_out_permalinks(root, out)
    leave_out_contents(root, out)
    keep_main_text(root, out)
    leave_out_link_rows(root, out)
    pictures = sum(WRITTEN_IN.match(str(picture.get("src") or "")) is not None for picture in root.iter("img"))
    del kept
    told = (f"{pictures} picture{'s'[: pictures > 1]} embedded in the page left out",) if pictures else ()
    return Extract(write(root), title=title, warnings=(*warnings, *told), removed=out.told())


def prepare(page: Any, out: LeftOut, *, notes: bool = True) -> None:
    """Turn all that a page draws or folds into plain elements: formulas, roles, panels, code, marks, footnotes."""
    keep_formulas(page)
    write_styles(page)
    for element in elements(page, "script", "style"):
        remove(element)
    name_roles(page)
    open_panels(page)
    leave_out_hidden(page, out)
    join_listings(page, out)
    if notes:
        move_notes({"": page}, out)
    write_marks(page, out)


def html_to_markdown(fragment: str) -> str:
    """The Markdown of HTML inside another text: a table, a folded part, raised letters. None of it counts as frame; of
    fields only ticks stay. Never fails: as a last resort it returns the text without tags."""
    try:
        return extract_fragment(fragment)
    except UnreadableError:
        return " ".join(TAG.sub(" ", fragment).split())


def extract_fragment(text: str) -> str:
    """The Markdown of a whole page that has no frame, such as a chapter of a book."""
    page, out = parse(text), LeftOut()
    prepare(page, out)
    return write_fragment(page, out)


def write_fragment(page: Any, out: LeftOut) -> str:
    """The Markdown of a prepared page that has no frame."""
    for element in elements(page, "head", "input", "select", "textarea", "svg", "iframe", "object", "video", "audio"):
        if element.getparent() is not None:
            out.take(element)
    for button in elements(page, "button"):
        unwrap(button)
    return write(page) if size_of(page) or elements(page, "img") else ""

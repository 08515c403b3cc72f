"""EPUB -> Markdown, chapter by chapter in reading order."""

import posixpath
import zipfile
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from ingest.formats.archive import open_archive, parse_xml, read_part
from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract, UnreadableError, join_blocks
from ingest.formats.html.notes import move_notes
from ingest.formats.html.tree import (
    HEADINGS,
    LeftOut,
    elements,
    is_block,
    link_share,
    make,
    name_of,
    parse,
    role_of,
    size_of,
    text_of,
    words_of,
)
from ingest.formats.office_xml import local_name
from ingest.formats.webpage import prepare, write_fragment
from rag.errors import Unreadable

CONTAINER = "META-INF/container.xml"
RIGHTS = "META-INF/encryption.xml"
# Fonts are scrambled even in freely readable books.
FONT_SCRAMBLING = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
NCX = "application/x-dtbncx+xml"
# A page whose text is links to chapters is a table of contents.
MOSTLY_LINKS, LEAST_LINKS = 0.8, 3
# Landmarks of a book that are not text.
NO_TEXT = frozenset({"toc", "landmarks", "page-list", "doc-toc", "doc-pagelist", "lot", "loi"})
PAGE_NUMBERS = frozenset({"pagebreak", "doc-pagebreak"})
DEEPEST = 6


@dataclass(slots=True)
class _Package:
    """A book's package: its files by id, their order, and the titles of its table of contents."""

    folder: str
    places: dict[str, tuple[str, str, str]]
    order: list[str]
    title: str
    titles: list[tuple[str, str, str, int]] = field(default_factory=list)

    def name(self, key: str) -> str:
        return _within(self.folder, self.places.get(key, ("", "", ""))[0])


def read(data: bytes) -> Extract:
    with open_archive(data, "EPUB") as archive:
        names = set(archive.namelist())
        if RIGHTS in names:
            _refuse_protected(read_part(archive, RIGHTS))
        container = parse_xml(read_part(archive, CONTAINER))
        package = next((e.get("full-path", "") for e in container.iter() if local_name(e) == "rootfile"), "")
        return _read_package(archive, package, names)


def _refuse_protected(data: bytes) -> None:
    for element in parse_xml(data).iter():
        if local_name(element) == "EncryptionMethod" and element.get("Algorithm") not in FONT_SCRAMBLING:
            raise UnreadableError(
                "is protected by rights management", hint="get a copy without it", reason=Unreadable.PROTECTED
            )


def _within(folder: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


def _read_package(archive: zipfile.ZipFile, path: str, names: set[str]) -> Extract:
    package = _package(archive, path, names)
    out = LeftOut()
    chapters: dict[str, Any] = {}
    missing = 0
    for key in dict.fromkeys(package.order):
        name = package.name(key)
        if name not in names:
            missing += 1
        elif "nav" not in package.places[key][1].split():
            text, _ = decoded(read_part(archive, name), declares=True)
            if text.strip():
                chapters[name] = parse(text)
    for name, page in list(chapters.items()):
        _leave_out_navigation(page, out)
        if _is_contents(page):
            out.say(text_of(page))
            del chapters[name]
        else:
            prepare(page, out, notes=False)
    _name_chapters(chapters, package.titles)
    move_notes(chapters, out)
    warnings = (f"{missing} of {len(package.order)} chapters are not in the file",) if missing else ()
    text = join_blocks(write_fragment(page, out) for page in chapters.values())
    return Extract(text, title=package.title, warnings=warnings, removed=out.told())


def _package(archive: zipfile.ZipFile, path: str, names: set[str]) -> _Package:
    root = parse_xml(read_part(archive, path))
    items = [element for element in root.iter() if local_name(element) == "item"]
    found = _Package(
        folder=posixpath.dirname(path),
        places={e.get("id"): (e.get("href", ""), e.get("properties", ""), e.get("media-type", "")) for e in items},
        order=[e.get("idref") for e in root.iter() if local_name(e) == "itemref"],
        title=next((" ".join((e.text or "").split()) for e in root.iter() if local_name(e) == "title"), ""),
    )
    for key, (_, properties, kind) in found.places.items():
        name = found.name(key)
        if name in names and "nav" in properties.split():
            found.titles = _titles_of_nav(parse(decoded(read_part(archive, name), declares=True)[0]), name)
        elif name in names and kind == NCX and not found.titles:
            found.titles = _titles_of_ncx(parse_xml(read_part(archive, name)), name)
    return found


def _titles_of_nav(page: Any, name: str) -> list[tuple[str, str, str, int]]:
    """The file, the place in it, the title and the level of each entry."""
    titles = []
    for nav in page.iter("nav"):
        if words_of(nav, "epub:type") not in ([], ["toc"]):
            continue
        for link in nav.iter("a"):
            level = sum(name_of(parent) == "ol" for parent in link.iterancestors())
            titles.append((*_place(name, str(link.get("href") or "")), text_of(link), max(level, 1)))
    return titles


def _titles_of_ncx(root: Any, name: str) -> list[tuple[str, str, str, int]]:
    titles = []
    for point in root.iter():
        if local_name(point) == "navPoint":
            level = 1 + sum(local_name(parent) == "navPoint" for parent in point.iterancestors())
            label = next((part for part in point if local_name(part) == "navLabel"), None)
            target = next((str(part.get("src") or "") for part in point if local_name(part) == "content"), "")
            text = "" if label is None else " ".join("".join(label.itertext()).split())
            titles.append((*_place(name, target), text, level))
    return titles


def _place(name: str, href: str) -> tuple[str, str]:
    return _within(posixpath.dirname(name), href), unquote(href.partition("#")[2])


def _leave_out_navigation(page: Any, out: LeftOut) -> None:
    """Leave out tables of contents, lists of pages, and the numbers of printed pages within the text."""
    for element in elements(page):
        kinds = {role_of(element), *words_of(element, "epub:type")}
        if element.getparent() is None:
            continue
        is_page_number = not PAGE_NUMBERS.isdisjoint(kinds) and size_of(element) < 8
        if name_of(element) == "nav" or not NO_TEXT.isdisjoint(kinds) or is_page_number:
            out.take(element)


def _is_contents(page: Any) -> bool:
    links = [link for link in page.iter("a") if ".x" in str(link.get("href")) or ".htm" in str(link.get("href"))]
    body = page.find(".//body")
    return len(links) >= LEAST_LINKS and link_share(page if body is None else body) > MOSTLY_LINKS


def _name_chapters(chapters: dict[str, Any], titles: list[tuple[str, str, str, int]]) -> None:
    """Turn the titles of the table of contents into headings at their places: the block with that text, or a new line
    above a chapter without headings."""
    ids = {
        (name, str(element.get("id"))): element
        for name, page in chapters.items()
        for element in elements(page)
        if element.get("id")
    }
    for name, fragment, title, level in titles:
        page = chapters.get(name)
        if page is None or not title:
            continue
        body = page if page.find(".//body") is None else page.find(".//body")
        place = ids.get((name, fragment)) if fragment else next((e for e in elements(body) if _is_line(e)), None)
        block = place if place is None or is_block(place) else next(filter(is_block, place.iterancestors()), None)
        if block is not None and name_of(block) in ("p", "div") and _same(text_of(block), title):
            block.tag = f"h{min(level, DEEPEST)}"
        elif not fragment and not elements(body, *HEADINGS) and size_of(body):
            heading = make(f"h{min(level, DEEPEST)}", title)
            heading.tail, body.text = body.text, None
            body.insert(0, heading)


def _is_line(element: Any) -> bool:
    return name_of(element) in ("p", "div", *HEADINGS) and size_of(element) > 0 and not any(map(is_block, element))


def _same(text: str, title: str) -> bool:
    return "".join(text.split()) == "".join(title.split())

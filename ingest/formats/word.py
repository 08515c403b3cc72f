"""Word document -> Markdown: headings, lists with their numbers, tables, code, formulas, notes beside the text."""

from dataclasses import replace
from typing import Any

from ingest.formats.extract import Extract, TextBuilder
from ingest.formats.office.package import Package, Part, open_package
from ingest.formats.office.story import Omissions, Story
from ingest.formats.office.word.body import Body, contents_paragraphs
from ingest.formats.office.word.headings import find_headings
from ingest.formats.office.word.notes import Notes, tell_headers
from ingest.formats.office.word.numbering import Numbering
from ingest.formats.office.word.styles import Styles
from ingest.formats.office.word.writing import markdown
from ingest.formats.office_xml import child


def read(data: bytes) -> Extract:
    with open_package(data, "DOCX", "document") as package:
        return _read(package)


def _read(package: Package) -> Extract:
    main = package.main
    assert main is not None
    omissions = Omissions()
    styles = Styles(_root(package.related(main, "styles")))
    story = Story(package, main, omissions)
    story = replace(story, note=Notes(story, styles).note)
    body = child(main.root, "body")
    numbering = Numbering(_root(package.related(main, "numbering")), styles)
    blocks = [] if body is None else Body(story, styles, numbering, contents_paragraphs(body)).blocks(body)
    find_headings(blocks)
    text = TextBuilder()
    text.add(markdown(blocks, omissions))
    tell_headers(story, styles)
    omissions.remarks += [f"its part {name[:80]!r} cannot be read" for name in package.unreadable]
    return Extract(text.text, title=package.title(), warnings=omissions.warnings(), removed=omissions.removed())


def _root(part: Part | None) -> Any:
    return None if part is None else part.root

"""What stands in a file, piece by piece, read in the plainest way and without our readers: what must not be lost."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import PurePosixPath
from typing import Any

import pypdfium2
from lxml import etree, html

from ingest.formats.encoding import decoded

UNSEEN_ELEMENTS = ("script", "style", "template", "noscript", "head", "svg", "iframe", "object", "textarea", "select")
OFFICE_TEXT = {
    ".docx": re.compile(r"word/(document|footnotes|endnotes|comments|header\d*|footer\d*)\.xml"),
    ".pptx": re.compile(r"ppt/(slides/slide|notesSlides/notesSlide)\d+\.xml"),
    ".xlsx": re.compile(r"xl/sharedStrings\.xml"),
}
# What surrounds text in Markdown and is no text: tags, comments' marks, the names of containers.
MARKUP = re.compile(r"<!--|-->|<[^<>!]{0,2000}>|^\s*(?::{3,}|!!!|\?\?\?\+?)\s*\{?\w*|\[!\w+\]|\]:\s*\S+|data:image\S+")
FRONT_MATTER = re.compile(r"\A\ufeff?(---|\+\+\+)[ \t]*\r?\n.*?^\1[ \t]*$", re.MULTILINE | re.DOTALL)
PARSER = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True, recover=True)


def pieces(suffix: str, data: bytes) -> Iterator[str]:
    """The pieces of text in a file of this format, each of which was written at once: a paragraph, a cell, a line."""
    yield from READERS[suffix](data)


def _office(suffix: str) -> Callable[[bytes], Iterator[str]]:
    def read(data: bytes) -> Iterator[str]:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for name in archive.namelist():
                if OFFICE_TEXT[suffix].fullmatch(name):
                    root = etree.fromstring(archive.read(name), PARSER)
                    for paragraph in root.iter("{*}p", "{*}si"):
                        yield from _said(paragraph).split("\n")

    return read


def _said(paragraph: Any) -> str:
    """The text of a paragraph, without those in it; its formulas, which become TeX, are line breaks."""
    parts = []
    for run in paragraph.iter("{*}t", "{*}oMath"):
        name = etree.QName(run)
        if name.localname == "oMath":
            parts.append("\n")
        elif "math" not in name.namespace and next(run.iterancestors("{*}p", "{*}si"), None) is paragraph:
            parts.append(run.text or "")
    return "".join(parts)


def _webpage(data: bytes) -> Iterator[str]:
    try:
        root = html.document_fromstring(decoded(data)[0])
    except (etree.ParserError, ValueError):
        return
    unseen: set[Any] = set()
    for element in root.iter():
        if not isinstance(element.tag, str) or element.tag in UNSEEN_ELEMENTS or element.getparent() in unseen:
            unseen.add(element)
        elif element.text:
            yield str(element.text)
        if element.tail and element.getparent() not in unseen:
            yield str(element.tail)


def _book(data: bytes) -> Iterator[str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            if PurePosixPath(name).suffix in (".html", ".xhtml", ".htm") and "nav" not in name and "toc" not in name:
                yield from _webpage(archive.read(name))


def _pdf(data: bytes) -> Iterator[str]:
    document = pypdfium2.PdfDocument(data)
    for page in document:
        yield from page.get_textpage().get_text_range().splitlines()


def _notebook(data: bytes) -> Iterator[str]:
    for cell in json.loads(data).get("cells", ()):
        source = cell.get("source", "")
        text = source if isinstance(source, str) else "".join(source)
        yield from _lines(text) if cell.get("cell_type") == "markdown" else text.splitlines()


def _delimited(data: bytes) -> Iterator[str]:
    for row in csv.reader(io.StringIO(decoded(data)[0].removeprefix("\ufeff"), newline=""), delimiter=","):
        yield from row


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        yield from unescape(MARKUP.sub("\n", line)).split("\n")


READERS: dict[str, Callable[[bytes], Iterator[str]]] = {
    ".docx": _office(".docx"), ".pptx": _office(".pptx"), ".xlsx": _office(".xlsx"), ".html": _webpage,
    ".htm": _webpage, ".epub": _book, ".pdf": _pdf, ".ipynb": _notebook, ".csv": _delimited,
    ".md": lambda data: _lines(FRONT_MATTER.sub("", decoded(data)[0])),
    ".txt": lambda data: iter(decoded(data)[0].splitlines()),
}  # fmt: skip

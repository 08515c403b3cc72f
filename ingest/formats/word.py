"""Word document -> Markdown: headings, lists, tables, code, formulas."""

import io
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import docx
from docx.document import Document as WordDocument
from docx.oxml.ns import qn
from docx.table import Table
from docx.text.paragraph import Paragraph

from ingest.formats.archive import open_archive, parsing
from ingest.formats.extract import Extract
from ingest.formats.markdown import fence, heading
from ingest.formats.office_xml import children, table_of, text_of, unwrapped

CODE_STYLE = re.compile(r"code|preformatted|source|listing|代码|程序", re.IGNORECASE)
MONOSPACED = re.compile(r"mono|courier|consolas|menlo|fira ?code|source code", re.IGNORECASE)
NO_LEVEL = 9


def read(data: bytes) -> Extract:
    open_archive(data, "DOCX").close()
    with parsing("DOCX", "docx"):
        document = docx.Document(io.BytesIO(data))
        return Extract(_Reader(document).text(), title=document.core_properties.title)


class _Reader:
    def __init__(self, document: WordDocument) -> None:
        self.document = document
        self.numbers: Counter[tuple[str, int]] = Counter()
        self.formats = _number_formats(document)

    def text(self) -> str:
        lines: list[str] = []
        code: list[str] = []
        for block in [*self._blocks(), None]:
            if isinstance(block, Paragraph) and _is_code(block):
                code.append(text_of(block._p))
                continue
            if code:
                lines += ["", fence("\n".join(code)), ""]
                code = []
            if isinstance(block, Paragraph):
                lines += self._paragraph(block)
            elif block is not None:
                lines += ["", table_of(block._tbl, _span), ""]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"

    def _blocks(self) -> Iterator[Paragraph | Table]:
        body = self.document.element.body
        for child in unwrapped(body):
            if child.tag == qn("w:p"):
                yield Paragraph(child, self.document._body)
            elif child.tag == qn("w:tbl"):
                yield Table(child, self.document._body)

    def _paragraph(self, paragraph: Paragraph) -> list[str]:
        text = text_of(paragraph._p).strip()
        if not text:
            return []
        level = _outline_level(paragraph)
        if level < NO_LEVEL:
            return ["", heading(text, level + 1), ""]
        number = _numbering(paragraph)
        if number is None:
            return ["", text, ""]
        name, depth = number
        for deeper in range(depth + 1, NO_LEVEL):
            self.numbers.pop((name, deeper), None)
        self.numbers[name, depth] += 1
        bullet = self.formats.get(number, "bullet") in ("bullet", "none")
        mark = "-" if bullet else f"{self.numbers[name, depth]}."
        return [f"{'  ' * depth}{mark} {text.replace(chr(10), ' ')}"]


def _is_code(paragraph: Paragraph) -> bool:
    if paragraph.style is not None and CODE_STYLE.search(paragraph.style.name or ""):
        return True
    fonts = [run.font.name for run in paragraph.runs if run.text.strip()]
    return bool(fonts) and all(font and MONOSPACED.search(font) for font in fonts)


def _properties(paragraph: Paragraph) -> list[Any]:
    """The properties of a paragraph, then those of its style and of the styles that one is based on."""
    found = list(children(paragraph._p, "pPr"))
    style = paragraph.style
    seen: set[str] = set()
    while style is not None and style.style_id not in seen:
        seen.add(style.style_id or "")
        found += children(style.element, "pPr")
        style = style.base_style
    return found


def _value(element: Any, *path: str) -> str | None:
    for name in path:
        element = next(iter(children(element, name)), None)
        if element is None:
            return None
    value = element.get(qn("w:val"))
    return None if value is None else str(value)


def _outline_level(paragraph: Paragraph) -> int:
    name = (paragraph.style.name or "") if paragraph.style is not None else ""
    if name == "Title":
        return 0
    match = re.fullmatch(r"(?:heading|标题)\s*([1-9])", name, re.IGNORECASE)
    if match:
        return int(match[1]) - 1
    levels = (_value(properties, "outlineLvl") for properties in _properties(paragraph))
    level = next((level for level in levels if level is not None), "")
    return int(level) if level.isdecimal() else NO_LEVEL


def _numbering(paragraph: Paragraph) -> tuple[str, int] | None:
    for properties in _properties(paragraph):
        name = _value(properties, "numPr", "numId")
        if name is not None:
            depth = _value(properties, "numPr", "ilvl") or "0"
            return None if name == "0" else (name, min(int(depth), 8) if depth.isdecimal() else 0)
    return None


def _number_formats(document: WordDocument) -> dict[tuple[str, int], str]:
    """How the items of each list are numbered, by list and depth."""
    if not any(relation.reltype.endswith("/numbering") for relation in document.part.rels.values()):
        return {}
    root = document.part.numbering_part.element
    by_scheme: dict[str, dict[int, str]] = {}
    for scheme in children(root, "abstractNum"):
        by_scheme[scheme.get(qn("w:abstractNumId"), "")] = {
            int(level.get(qn("w:ilvl"), "0")): _value(level, "numFmt") or "bullet" for level in children(scheme, "lvl")
        }
    return {
        (number.get(qn("w:numId"), ""), depth): kind
        for number in children(root, "num")
        for depth, kind in by_scheme.get(_value(number, "abstractNumId") or "", {}).items()
    }


def _span(cell: Any) -> int:
    properties = next(iter(children(cell, "tcPr")), None)
    span = _value(properties, "gridSpan") if properties is not None else None
    return int(span) if span and span.isdecimal() else 1

"""The parts of an XLSX file: its sheets, its texts, the formats of its numbers, and the parts that belong to a sheet.

Large parts are read as a stream, which keeps their content and not their trees; entities are not replaced.
"""

import io
import posixpath
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from lxml import etree

from ingest.formats.archive import open_archive, parse_xml, read_part
from ingest.formats.extract import UnreadableError
from ingest.formats.markdown import lowered, raised
from ingest.formats.office_xml import ON, attribute, local_name
from ingest.formats.sheets.number_formats import BUILT_IN, GENERAL

# Cells may be formatted in 64,000 ways.
MOST_STYLES = 70_000
MOST_SHEETS = 1_000
# How a character that XML does not allow is written.
ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


class Style(NamedTuple):
    """How cells are shown: `code` is the format of their numbers; `look` is 0 for a plain cell, and another number for
    each way to be bold or filled."""

    code: str = GENERAL
    look: int = 0
    is_struck: bool = False


@dataclass(frozen=True, slots=True)
class SheetPart:
    """A sheet: its name and its part; `part` is empty for a sheet without cells, such as a chart sheet."""

    name: str
    part: str
    is_hidden: bool


@dataclass(slots=True)
class Package:
    archive: zipfile.ZipFile
    sheets: list[SheetPart]
    from_1904: bool
    strings: list[str] = field(default_factory=list)
    styles: list[Style] = field(default_factory=list)

    def style(self, number: str | None) -> Style:
        place = int(number) if number is not None and number.isdecimal() else 0
        return self.styles[place] if place < len(self.styles) else Style()

    def related(self, part: str, kind: str) -> list[str]:
        """The parts of a kind that belong to a part."""
        return [target for target, is_a in _relations(self.archive, part).values() if is_a == kind]


def open_package(data: bytes) -> Package:
    """The workbook in the file. Raises UnreadableError."""
    archive = open_archive(data, "XLSX")
    main = next((target for target, kind in _relations(archive, "").values() if kind == "officeDocument"), "")
    root = parse_xml(read_part(archive, main)) if main in archive.NameToInfo else None
    if root is None or local_name(root) != "workbook":
        raise UnreadableError("is not a valid XLSX file: it has no workbook", hint="save it again as XLSX")
    relations = _relations(archive, main)
    sheets = []
    for sheet in (element for element in root.iter() if local_name(element) == "sheet"):
        target, kind = relations.get(attribute(sheet, "id"), ("", ""))
        part = target if kind == "worksheet" and target in archive.NameToInfo else ""
        hidden = sheet.get("state", "visible") in ("hidden", "veryHidden")
        sheets.append(SheetPart(sheet.get("name", ""), part, hidden))
    properties = next((element for element in root.iter() if local_name(element) == "workbookPr"), None)
    from_1904 = properties is not None and properties.get("date1904") in ON
    package = Package(archive, sheets[:MOST_SHEETS], from_1904)
    for part in package.related(main, "sharedStrings"):
        package.strings = [text_in(item) for item in elements(archive, part, "si")]
    for part in package.related(main, "styles"):
        package.styles = _styles(parse_xml(read_part(archive, part)))
    return package


def elements(archive: zipfile.ZipFile, part: str, *names: str) -> Iterator[Any]:
    """The elements of these names in a part, each discarded once the next is asked for. Raises UnreadableError."""
    stream = io.BytesIO(read_part(archive, part))
    tags = [f"{{*}}{name}" for name in names]
    found = etree.iterparse(
        stream, events=("end",), tag=tags, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        for _, element in found:
            yield element
            element.clear()
            parent = element.getparent()
            while parent is not None and parent[0] is not element:
                del parent[0]
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError(
            f"contains broken XML: {error}", hint="save it again with the program it comes from"
        ) from error


def text_in(element: Any) -> str:
    """The text of a string and its runs, without struck-out runs and phonetic readings."""
    parts: list[str] = []
    for child in element:
        if local_name(child) == "t":
            parts.append(child.text or "")
        elif local_name(child) == "r":
            said = "".join(part.text or "" for part in child if local_name(part) == "t")
            properties = [mark for part in child if local_name(part) == "rPr" for mark in part]
            align = next((mark.get("val") for mark in properties if local_name(mark) == "vertAlign"), "")
            if any(_is_on(mark, "strike") for mark in properties):
                said = ""
            elif align in ("superscript", "subscript"):
                said = raised(said) if align == "superscript" else lowered(said)
            parts.append(said)
    return unescaped("".join(parts))


def unescaped(text: str) -> str:
    return ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "_x" in text else text


def _relations(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """The target part and the kind of each relation of a part, by id."""
    folder, name = posixpath.split(part)
    place = posixpath.join(folder, "_rels", f"{name}.rels")
    if place not in archive.NameToInfo:
        return {}
    found = {}
    for relation in parse_xml(read_part(archive, place)):
        if isinstance(relation.tag, str) and relation.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", ""))).lstrip("/")
            found[relation.get("Id", "")] = target, relation.get("Type", "").rsplit("/", 1)[-1]
    return found


def _styles(root: Any) -> list[Style]:
    """The styles, in the order of the numbers by which cells name them."""
    codes = dict(BUILT_IN)
    sections = {local_name(section): section for section in root}
    for written in sections.get("numFmts", ()):
        if str(written.get("numFmtId")).isdecimal():
            codes[int(written.get("numFmtId"))] = written.get("formatCode", GENERAL)
    fonts = [font for font in sections.get("fonts", ()) if isinstance(font.tag, str)]
    bold, struck = ([any(_is_on(part, name) for part in font) for font in fonts] for name in ("b", "strike"))
    filled = [_is_filled(fill) for fill in sections.get("fills", ()) if isinstance(fill.tag, str)]
    styles = []
    for cell in list(sections.get("cellXfs", ()))[:MOST_STYLES]:
        if isinstance(cell.tag, str):
            number, font, fill = (_number(cell, name) for name in ("numFmtId", "fontId", "fillId"))
            look = 2 * fill * any(filled[fill : fill + 1]) + any(bold[font : font + 1])
            styles.append(Style(codes.get(number, GENERAL), look, any(struck[font : font + 1])))
    return styles


def _is_on(mark: Any, name: str) -> bool:
    return local_name(mark) == name and mark.get("val", "1") in ON


def _is_filled(fill: Any) -> bool:
    plain = ("none", "gray125")
    return any(local_name(part) == "gradientFill" or part.get("patternType", "none") not in plain for part in fill)


def _number(element: Any, name: str) -> int:
    value = element.get(name, "0")
    return int(value) if value.isdecimal() else 0

"""The parts of an Office file, and the references of each of them."""

import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from ingest.formats.archive import open_archive, parse_xml, parsing, read_part
from ingest.formats.extract import UnreadableError
from ingest.formats.mathematics import OMML
from ingest.formats.office_xml import attribute, child, local_name

# The namespace of formulas in the strict edition of the standard; formulas are read by their full names.
STRICT_MATH = b"http://purl.oclc.org/ooxml/officeDocument/math"
# Addresses that only lead somewhere and do nothing by themselves.
ADDRESSES = ("http://", "https://", "mailto:", "ftp://")
LONGEST_ADDRESS = 500


@dataclass(frozen=True, slots=True)
class Relation:
    """`kind` is the last word of its type: `styles`, `slide`, `hyperlink`. `target` is the name of a part or,
    outside the file, an address."""

    kind: str
    target: str
    is_outside: bool


@dataclass(slots=True)
class Part:
    """An XML part. `relations` are its references, by name."""

    name: str
    root: Any
    relations: dict[str, Relation] = field(default_factory=dict)

    def address(self, name: str) -> str:
        """The address to which a link of this part leads; empty if it leads into the file or is not safe."""
        relation = self.relations.get(name)
        return "" if relation is None or not relation.is_outside else safe_address(relation.target)


def safe_address(address: str) -> str:
    """An address as Markdown writes it; empty if it is not one that only leads somewhere."""
    address = address.strip()
    if not address.lower().startswith(ADDRESSES) or len(address) > LONGEST_ADDRESS or "\n" in address:
        return ""
    return address.replace(" ", "%20").replace("(", "%28").replace(")", "%29").replace("<", "%3C").replace(">", "%3E")


@contextmanager
def open_package(data: bytes, kind: str, root: str) -> Iterator["Package"]:
    """An Office file whose main part has this root element. Raises UnreadableError for any other."""
    with open_archive(data, kind) as archive, parsing(kind, "lxml"):
        package = Package(archive)
        if package.main is None or local_name(package.main.root) != root:
            raise UnreadableError(f"is not a valid {kind} file: it has no {root}", hint=f"save it again as {kind}")
        yield package


class Package:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._names = {name.lower().lstrip("/"): name for name in archive.namelist()}
        self._parts: dict[str, Part | None] = {}
        self.unreadable: list[str] = []

    @cached_property
    def main(self) -> Part | None:
        found = next((one for one in self._relations("").values() if one.kind == "officeDocument"), None)
        name = found and self._names.get(found.target.lower())
        return self._read(name) if name else None

    def part(self, relation: Relation | None) -> Part | None:
        """The part that a relation leads to; None if it is missing or cannot be read (the latter is noted)."""
        if relation is None or relation.is_outside:
            return None
        if relation.target not in self._parts:
            self._parts[relation.target] = self._read_or_note(relation.target)
        return self._parts[relation.target]

    def related(self, part: Part, kind: str) -> Part | None:
        """The first part of a kind that a part refers to."""
        return next((self.part(one) for one in part.relations.values() if one.kind == kind), None)

    def title(self) -> str:
        """The title in the file's properties."""
        core = next((one for one in self._relations("").values() if one.kind == "core-properties"), None)
        part = self.part(core)
        title = None if part is None else child(part.root, "title")
        return "" if title is None else " ".join((title.text or "").split())

    def _read_or_note(self, target: str) -> Part | None:
        name = self._names.get(target.lower()) or self._names.get(unquote(target).lower())
        try:
            return self._read(name) if name else None
        except UnreadableError:
            self.unreadable.append(target)
            return None

    def _read(self, name: str) -> Part:
        data = read_part(self._archive, name).replace(STRICT_MATH, OMML.strip("{}").encode())
        return Part(name, parse_xml(data), self._relations(name))

    def _relations(self, name: str) -> dict[str, Relation]:
        folder, base = posixpath.split(name)
        listed = self._names.get(posixpath.join(folder, "_rels", f"{base}.rels").lower())
        if listed is None:
            return {}
        try:
            root = parse_xml(read_part(self._archive, listed))
        except UnreadableError:
            self.unreadable.append(listed)
            return {}
        return {attribute(one, "Id"): _relation(one, folder) for one in root if local_name(one) == "Relationship"}


def _relation(element: Any, folder: str) -> Relation:
    target = attribute(element, "Target")
    is_outside = attribute(element, "TargetMode") == "External"
    if not is_outside:
        target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
    return Relation(attribute(element, "Type").rsplit("/", 1)[-1], target, is_outside)

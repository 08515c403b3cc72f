"""EPUB -> Markdown, chapter by chapter in reading order."""

import posixpath
import zipfile
from urllib.parse import unquote

from ingest.formats.archive import open_archive, parse_xml, read_part
from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract, UnreadableError, join_blocks
from ingest.formats.office_xml import local_name
from ingest.formats.webpage import extract_fragment
from rag.errors import Unreadable

CONTAINER = "META-INF/container.xml"
RIGHTS = "META-INF/encryption.xml"
# Fonts are scrambled in books that can be read by anyone.
FONT_SCRAMBLING = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


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


def _read_package(archive: zipfile.ZipFile, package: str, names: set[str]) -> Extract:
    root = parse_xml(read_part(archive, package))
    places = {e.get("id"): (e.get("href", ""), e.get("properties", "")) for e in root.iter() if local_name(e) == "item"}
    title = next((" ".join((e.text or "").split()) for e in root.iter() if local_name(e) == "title"), "")
    order = [e.get("idref") for e in root.iter() if local_name(e) == "itemref"]
    chapters = []
    missing = 0
    for key in dict.fromkeys(order):
        href, properties = places.get(key, ("", ""))
        name = posixpath.normpath(posixpath.join(posixpath.dirname(package), unquote(href.partition("#")[0])))
        if name not in names:
            missing += 1
        elif "nav" not in properties.split():
            text, _ = decoded(read_part(archive, name), declares=True)
            chapters.append(extract_fragment(text) if text.strip() else "")
    warnings = (f"{missing} of {len(order)} chapters are not in the file",) if missing else ()
    return Extract(join_blocks(chapters), title=title, warnings=warnings)

"""Checks ZIP-based formats before anything is unpacked."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath

from lxml import etree

from ingest.formats.extract import UnreadableError
from rag.errors import Unreadable

MAX_ENTRIES = 10_000
MAX_UNPACKED_BYTES = 256 << 20
# Text compresses tenfold, a sheet of numbers fortyfold; only small archives may do better by chance.
MAX_RATIO = 200
HARMLESS_BYTES = 8 << 20
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# Errors of zipfile for damaged archives, documented only in part: RuntimeError for encryption and (as
# NotImplementedError) for methods it lacks, ValueError and OSError for invalid offsets.
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, RuntimeError)
# Errors of office-format parsers if a part or an attribute is missing.
MISSING = (LookupError, AttributeError, TypeError, etree.LxmlError)


def open_archive(data: bytes, kind: str) -> zipfile.ZipFile:
    """The archive, after checking its table of contents. Raises UnreadableError."""
    if data.startswith(OLE_MAGIC):
        raise UnreadableError(
            f"is password-protected, or in the format that came before {kind}",
            hint=f"remove the password or save it again as {kind}",
            reason=Unreadable.PROTECTED,
        )
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except BROKEN as error:
        raise UnreadableError(
            f"is not a valid {kind} file: {error}", hint="save it again with the program it comes from"
        ) from error
    entries = archive.infolist()
    unpacked = sum(entry.file_size for entry in entries)
    if len(entries) > MAX_ENTRIES:
        raise UnreadableError(
            f"contains {len(entries):,} parts (limit {MAX_ENTRIES:,})",
            hint="split the document",
            reason=Unreadable.LARGE,
        )
    if unpacked > MAX_UNPACKED_BYTES or unpacked > max(HARMLESS_BYTES, MAX_RATIO * len(data)):
        raise UnreadableError(
            f"would unpack {len(data):,} bytes to {unpacked:,}: this looks like a decompression bomb",
            hint="split the document, or save it again with the program it comes from",
            reason=Unreadable.LARGE,
        )
    for entry in entries:
        path = PurePosixPath(entry.filename.replace("\\", "/"))
        if entry.filename.startswith(("/", "\\")) or ".." in path.parts or ":" in path.parts[0:1]:
            raise UnreadableError(
                f"contains a part whose name leads outside: {entry.filename[:80]!r}", hint="do not trust this file"
            )
        if entry.flag_bits & 1:
            raise UnreadableError(
                "is password-protected", hint="remove the password and save it again", reason=Unreadable.PROTECTED
            )
    return archive


@contextmanager
def parsing(kind: str, library: str) -> Iterator[None]:
    """Turns a library's errors about damaged parts of a document into UnreadableError.

    `library` is its package, whose own errors have no common ancestor. Our own errors stay as they are.
    """
    try:
        yield
    except UnreadableError:
        raise
    except Exception as error:
        of_library = type(error).__module__.startswith(f"{library}.")
        if not of_library and not isinstance(error, (*BROKEN, *MISSING)):
            raise
        raise UnreadableError(f"is not a valid {kind} file: {error}", hint=f"save it again as {kind}") from error


def read_part(archive: zipfile.ZipFile, name: str) -> bytes:
    try:
        return archive.read(name)
    except (KeyError, *BROKEN) as error:
        raise UnreadableError(
            f"its part {name[:80]!r} cannot be read: {error}", hint="save it again with the program it comes from"
        ) from error


def parse_xml(data: bytes) -> etree._Element:
    """The root of an XML part. Entities are not replaced, nothing else is loaded."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise UnreadableError(
            f"contains broken XML: {error}", hint="save it again with the program it comes from"
        ) from error
    return root

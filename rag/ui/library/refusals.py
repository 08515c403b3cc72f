"""Why a file did not become a document, in the reader's language."""

import re
from pathlib import Path

from rag.errors import RagError
from rag.shelf import Shelf
from rag.ui.library.texts import LibraryTexts
from rag.ui.problems import tell
from rag.ui.texts import Texts

MEGABYTE = 1024 * 1024
# What ingesting says of a file -> the field of LibraryTexts that says it to a reader; the first that fits. What fits
# none is damaged in one of the ways that the libraries tell of in their own words.
KINDS = (
    (r"password|rights management", "unread_protected"),
    (r"pictures of text", "unread_scanned"),
    (r"holds no text|is empty|nothing is left", "unread_empty"),
    (r"encoding|binary data", "unread_encoding"),
    (r"limit\b|holds more than|bomb|more memory|parser was stopped|single line|nested too", "unread_large"),
    (r"not installed|did not start", "unread_program"),
    (r"^cannot be read:|changes while|not UTF-8|no ordinary file", "unread_file"),
)


def why_unread(error: str, texts: LibraryTexts) -> str:
    """Of a document that failed with `error`, "name: what is wrong with it"; plain text."""
    raw = error.partition(": ")[2] or error
    field = next((field for words, field in KINDS if re.search(words, raw)), "unread_damaged")
    return str(getattr(texts, field))


def too_large(name: str, size: float, shelf: Shelf, own: LibraryTexts) -> str:
    return own.too_large.format(name=name, size=f"{size / MEGABYTE:,.1f}", megabytes=shelf.max_megabytes)


def why_not(path: Path, error: RagError | OSError, shelf: Shelf, own: LibraryTexts, texts: Texts) -> str:
    """Of a file that `shelf.add` refused with an error, and that is still there; plain text."""
    size = path.stat().st_size
    if path.suffix.lower() not in shelf.suffixes:
        return own.not_a_document.format(name=path.name, suffixes=" ".join(shelf.suffixes))
    if size > shelf.max_megabytes * MEGABYTE:
        return too_large(path.name, size, shelf, own)
    if (shelf.folder / path.name).exists():
        return own.name_taken.format(name=path.name)
    return tell(error, texts) if isinstance(error, RagError) else str(error)

"""Exports questions to other programs, and reads backups of the practice data."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rag.errors import UsageError
from rag.practice.exports import ExportAs
from rag.ui.browser_input import unpacked
from rag.ui.practice.bank_view import standings
from rag.ui.templates import macros_of
from rag.ui.texts import Texts

HTML = macros_of("practice/exports_view.html")
# Bytes of an unpacked backup; years of practice take fewer.
MOST_BYTES = 40_000_000
ENDINGS = {
    ExportAs.ANKI: ("apkg", "application/octet-stream"),
    ExportAs.CSV: ("csv", "text/csv"),
    ExportAs.MARKDOWN: ("md", "text/markdown"),
}


def exports_shell(topics: Sequence[tuple[str, str]], texts: Texts) -> str:
    formats = [(str(getattr(texts, f"export_{one}")), str(one)) for one in ExportAs]
    return HTML("shell", topics=topics, standings=standings(texts), formats=formats, texts=texts)


def read_backup(packed: str) -> Mapping[str, Any]:
    """The JSON object of a packed backup. Raises UsageError without a hint: the caller adds the file's name and what to
    do."""
    data = unpacked(packed, MOST_BYTES)
    if data is None:
        raise UsageError(f"more than {MOST_BYTES:,} bytes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(str(error)) from error
    if not isinstance(found, dict):
        raise UsageError("a JSON object is expected")
    return found

"""Questions for other programs, and a backup of what was practised."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rag.errors import UsageError
from rag.practice.exports import ExportAs
from rag.ui.packed import unpacked
from rag.ui.practice.actions import ALL
from rag.ui.practice.elements import button, checkbox, heading, hint, select, submit
from rag.ui.readable import text_of
from rag.ui.texts import Texts

# Bytes of a backup, unpacked; years of practice have fewer.
MOST_BYTES = 40_000_000
ENDINGS = {
    ExportAs.ANKI: ("apkg", "application/octet-stream"),
    ExportAs.CSV: ("csv", "text/csv"),
    ExportAs.MARKDOWN: ("md", "text/markdown"),
}


def exports_shell(topics: Sequence[tuple[str, str]], standings: Sequence[tuple[str, str]], texts: Texts) -> str:
    formats = [(str(getattr(texts, f"export_{one}")), str(one)) for one in ExportAs]
    return (
        f"{heading(texts.view_exports)}<h3>{text_of(texts.export_questions)}</h3>{hint(texts.export_hint)}"
        f'<form class="filter" data-act="export">{select("topic", texts.topic, topics, ALL)}'
        f"{select('standing', texts.standing, standings)}{checkbox('bookmarked', texts.bookmarked)}"
        f"{select('format', texts.format, formats)}"
        f'<div class="buttons">{submit(texts.save_file)}</div></form>'
        f"<h3>{text_of(texts.backup)}</h3>{hint(texts.backup_hint)}"
        f'<div class="buttons">{button("backup", texts.save_backup)}</div>'
        f'<div class="buttons"><label class="file">{text_of(texts.restore)}'
        f'<input type="file" accept=".json,application/json" data-restore></label></div>'
    )


def read_backup(packed: str) -> Mapping[str, Any]:
    """The backup in a packed file. Raises UsageError; the caller knows the name of the file and the way out."""
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

"""Jupyter notebook -> Markdown: text unchanged, code in fences, outputs shortened."""

import json
import re
from typing import Any

from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract, UnreadableError, join_blocks
from ingest.formats.markdown import fence

MAX_OUTPUT_LINES = 12
MAX_OUTPUT_CHARACTERS = 1_000
MAX_PAGE_CHARACTERS = 200_000
# Python's default text for an object.
NO_TEXT = re.compile(r"<[\w.]+(?: [^<>\n]{0,200})?>")
# Colours of a terminal.
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# A picture stored in the cell: only its description remains.
ATTACHMENT = re.compile(r"!\[([^\]\n]{0,500})\]\(attachment:[^)\n]{0,500}\)")


def read(data: bytes) -> Extract:
    text, warnings = decoded(data)
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"is not a Jupyter notebook: {error}", hint="save it again with Jupyter") from error
    if not isinstance(notebook, dict):
        raise UnreadableError("is not a Jupyter notebook: its JSON is not an object", hint="save it again with Jupyter")
    cells = notebook.get("cells")
    if not isinstance(cells, list):  # before format 4 there were worksheets
        sheets = notebook.get("worksheets")
        cells = [cell for sheet in _dicts(sheets) for cell in _dicts(sheet.get("cells"))]
        if not isinstance(sheets, list):
            raise UnreadableError("is not a Jupyter notebook: it has no cells", hint="save it again with Jupyter")
    metadata = _dict(notebook.get("metadata"))
    language = _dict(metadata.get("kernelspec")).get("language") or _dict(metadata.get("language_info")).get("name")
    language = language if isinstance(language, str) and language.isalnum() else "python"
    found = _Cells(language)
    text = join_blocks(block for cell in _dicts(cells) for block in found.blocks(cell))
    return Extract(text, warnings=(*warnings, *found.warnings()))


class _Cells:
    """A notebook's cells, and the number of pictures omitted."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._pictures = 0

    def warnings(self) -> tuple[str, ...]:
        count = self._pictures
        return (f"{count} picture{'s'[: count > 1]} of outputs and attachments left out",) if count else ()

    def blocks(self, cell: dict[str, Any]) -> list[str]:
        source = _text(cell.get("source", cell.get("input")))
        kind = cell.get("cell_type")
        if kind == "heading":
            level = cell.get("level")
            return [f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {source}"]
        if kind == "markdown":
            self._pictures += len(_dict(cell.get("attachments")))
            return [ATTACHMENT.sub(r"\1", source)]
        if kind != "code" or not source.strip():
            return []
        outputs = [self._output(output) for output in _dicts(cell.get("outputs"))]
        return [fence(source, self._language), *_joined(outputs)]

    def _output(self, output: dict[str, Any]) -> tuple[str, bool]:
        """The text of an output, and whether it is Markdown."""
        kind = output.get("output_type")
        if kind in ("error", "pyerr"):
            return f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}", False
        data = _dict(output.get("data")) or output  # before format 4 they were beside the kind
        self._pictures += sum(name.startswith("image/") or name in ("png", "jpeg", "svg") for name in data)
        written = _text(data.get("text/markdown")) or _text(data.get("text/latex") or data.get("latex"))
        if written:
            return _short(written.strip("\n")), True
        plain = _text(output.get("text")) or _text(data.get("text/plain"))
        page = _text(data.get("text/html") or data.get("html"))
        if page and not (plain.strip() and not NO_TEXT.fullmatch(plain.strip())):
            return _short(_markdown_of(page).strip("\n")), True
        return ("" if NO_TEXT.fullmatch(plain.strip()) else CONTROL.sub("", plain).strip("\n")), False


def _joined(outputs: list[tuple[str, bool]]) -> list[str]:
    """Outputs in order, with consecutive plain texts in one block."""
    blocks: list[str] = []
    plain: list[str] = []
    for text, is_markdown in [*outputs, ("", True)]:
        if not is_markdown:
            plain += [text] if text else []
            continue
        joined = "\n".join(plain)
        blocks += [fence(_short(joined), "text")] if joined.strip() else []
        blocks += [text] if text else []
        plain = []
    return blocks


def _markdown_of(page: str) -> str:
    from ingest.formats.webpage import html_to_markdown

    try:
        return html_to_markdown(page[:MAX_PAGE_CHARACTERS])
    except UnreadableError:
        return ""


def _short(text: str) -> str:
    lines = text.splitlines()
    kept = "\n".join(lines[:MAX_OUTPUT_LINES])[:MAX_OUTPUT_CHARACTERS]
    return kept if len(kept) >= len("\n".join(lines)) else f"{kept}\n…"


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []

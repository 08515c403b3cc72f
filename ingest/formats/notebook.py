"""Jupyter notebook -> Markdown: text unchanged, code in fences, outputs shortened."""

import json
from typing import Any

from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract, UnreadableError, join_blocks
from ingest.formats.markdown import fence

MAX_OUTPUT_LINES = 12
MAX_OUTPUT_CHARACTERS = 1_000


def read(data: bytes) -> Extract:
    text, warnings = decoded(data)
    try:
        notebook = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"is no Jupyter notebook: {error}", hint="save it anew with Jupyter") from error
    if not isinstance(notebook, dict):
        raise UnreadableError("is no Jupyter notebook: its JSON is no object", hint="save it anew with Jupyter")
    cells = notebook.get("cells")
    if not isinstance(cells, list):  # before format 4 there were worksheets
        sheets = notebook.get("worksheets")
        cells = [cell for sheet in _dicts(sheets) for cell in _dicts(sheet.get("cells"))]
        if not isinstance(sheets, list):
            raise UnreadableError("is no Jupyter notebook: it has no cells", hint="save it anew with Jupyter")
    metadata = _dict(notebook.get("metadata"))
    language = _dict(metadata.get("kernelspec")).get("language") or _dict(metadata.get("language_info")).get("name")
    language = language if isinstance(language, str) and language.isalnum() else "python"
    blocks = (block for cell in _dicts(cells) for block in _cell(cell, language))
    return Extract(join_blocks(blocks), warnings=warnings)


def _cell(cell: dict[str, Any], language: str) -> list[str]:
    source = _text(cell.get("source", cell.get("input")))
    kind = cell.get("cell_type")
    if kind == "heading":
        level = cell.get("level")
        return [f"{'#' * (level if isinstance(level, int) and 1 <= level <= 6 else 1)} {source}"]
    if kind == "markdown":
        return [source]
    if kind != "code" or not source.strip():
        return []
    outputs = "\n".join(filter(None, (_output(output).strip("\n") for output in _dicts(cell.get("outputs")))))
    return [fence(source, language), fence(_short(outputs), "text") if outputs.strip() else ""]


def _output(output: dict[str, Any]) -> str:
    kind = output.get("output_type")
    if kind in ("error", "pyerr"):
        return f"{_text(output.get('ename'))}: {_text(output.get('evalue'))}"
    return _text(output.get("text") or _dict(output.get("data")).get("text/plain"))


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

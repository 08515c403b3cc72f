"""Markdown with HTML tables -> Markdown with Markdown tables."""

import re
from collections.abc import Iterator

from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract
from ingest.formats.webpage import html_to_markdown
from rag.text.blocks import LINE_BREAK, code_lines
from rag.text.markdown import parse

MARK = re.compile(r"<(/?)table\b[^<>]*>", re.IGNORECASE)


def read(data: bytes) -> Extract:
    text, warnings = decoded(data)
    return Extract(with_tables(text), warnings=warnings)


def with_tables(text: str) -> str:
    """The text with its outermost HTML tables outside code laid out as Markdown."""
    parts: list[str] = []
    position = 0
    for start, end in _tables(text):
        parts += [text[position:start].rstrip(), html_to_markdown(text[start:end]).strip()]
        position = end
    return "\n\n".join(part for part in (*parts, text[position:].lstrip("\n") if parts else text) if part)


def _tables(text: str) -> Iterator[tuple[int, int]]:
    code = code_lines(text, parse(text))
    starts = [0, *(found.end() for found in LINE_BREAK.finditer(text))]
    depth = begun = line = 0
    for mark in MARK.finditer(text):
        while line + 1 < len(starts) and starts[line + 1] <= mark.start():
            line += 1
        if line in code:
            continue
        begun = mark.start() if depth == 0 and not mark[1] else begun
        depth += -1 if mark[1] else 1
        if depth == 0:
            yield begun, mark.end()
        depth = max(depth, 0)

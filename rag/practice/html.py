"""Markdown -> HTML for flash cards: formulas for MathJax, code verbatim, no HTML from the source."""

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

from rag.language.ends import INLINE_VERBATIM
from rag.text.blocks import BlockKind
from rag.text.markdown import parse

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

# Replaces a formula while Markdown is read: a character of private use, so that no text contains it.
HOLD = "\ue000{}\ue001"
HELD = re.compile("\ue000(\\d+)\ue001")
PRIVATE = re.compile("[\ue000\ue001]")


def as_html(markdown: str) -> str:
    r"""The text as HTML, formulas between \( \) or \[ \].

    >>> as_html("$a<b$")
    '<p>\\(a&lt;b\\)</p>'
    """
    text = PRIVATE.sub("", markdown)
    formulas: list[str] = []

    def hold(tex: str, opening: str, closing: str) -> str:
        formulas.append(f"{opening}{escape(tex.strip(), quote=False)}{closing}")
        return HOLD.format(len(formulas) - 1)

    def inline(match: re.Match[str]) -> str:
        return hold(match[0][1:-1], r"\(", r"\)") if match[0].startswith("$") else match[0]

    parts, position = [], 0
    for block in parse(text):
        parts.append(text[position : block.start])
        body = text[block.start : block.end]
        if block.kind is BlockKind.FORMULA:
            body = hold(text[block.body_start : block.body_end], r"\[", r"\]")
        elif block.kind is not BlockKind.CODE:
            body = INLINE_VERBATIM.sub(inline, body)
        parts.append(body)
        position = block.end
    rendered = _renderer().render("".join(parts) + text[position:])
    return HELD.sub(lambda match: formulas[int(match[1])], rendered).strip()


def link_to(uri: str, words: str) -> str:
    """A link; the words alone without an address."""
    shown = escape(words)
    return f'<a href="{escape(uri)}">{shown}</a>' if uri else shown


@cache
def _renderer() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")

"""Renames elements whose role, style or editor attribute says what they are to the proper HTML element."""

import re
from typing import Any

from ingest.formats.html.tree import HEADINGS, elements, make, name_of, remove, role_of, style_of, unwrap

ROLES = {
    "list": "ul", "listitem": "li", "table": "table", "grid": "table", "treegrid": "table", "rowgroup": "tbody",
    "row": "tr", "cell": "td", "gridcell": "td", "columnheader": "th", "rowheader": "th", "caption": "caption",
    "blockquote": "blockquote", "paragraph": "p", "code": "code", "deletion": "del", "main": "main",
    "article": "article", "navigation": "nav", "contentinfo": "footer", "banner": "header",
}  # fmt: skip
# Elements without a meaning of their own, to which a role gives one.
PLAIN = frozenset({"div", "span", "section", "p", "center"})
# How block editors (Feishu, Lark) mark the blocks that they save.
EDITOR_BLOCKS = {
    "bullet": "ul", "ordered": "ol", "quote": "blockquote", "quote_container": "blockquote", "code": "pre",
}  # fmt: skip
EDITOR_HEADING = re.compile(r"heading([1-9])")
KEEPS_LINES = re.compile(r"(?:^|\s)whitespace-pre(?:-wrap|-line)?(?:\s|$)")
BREAK = "\u2028"
RAISED = frozenset({"super", "text-top"})
LOWERED = frozenset({"sub", "text-bottom"})
TYPEWRITER = re.compile(r"mono|courier|consolas|menlo")


def name_roles(root: Any) -> None:
    for element in elements(root):
        name, role = name_of(element), role_of(element)
        if role == "heading" and name not in HEADINGS:
            level = str(element.get("aria-level") or "2")
            element.tag = f"h{min(int(level), 6)}" if level.isdecimal() and int(level) else "h2"
        elif name in PLAIN and role in ROLES:
            element.tag = ROLES[role]
        elif element.get("data-block-type") is not None:
            _name_editor_block(element)
        _name_style(element)
    for element in elements(root, "template"):
        if element.get("shadowrootmode") or element.get("shadowroot"):  # what a component shows
            unwrap(element)


def _name_editor_block(element: Any) -> None:
    kind = str(element.get("data-block-type") or "")
    heading = EDITOR_HEADING.fullmatch(kind)
    if heading is not None and not elements(element, *HEADINGS):
        element.tag = f"h{min(int(heading[1]), 6)}"
    elif kind in EDITOR_BLOCKS and name_of(element) == "div" and not elements(element, EDITOR_BLOCKS[kind]):
        element.tag = EDITOR_BLOCKS[kind]
        if kind in ("bullet", "ordered"):
            inner = make("li", element.text or "", *element)
            element.text = None
            element.append(inner)
            _join_list(element, kind)


def _join_list(element: Any, kind: str) -> None:
    """Append an item to the list before it."""
    before = element.getprevious()
    if before is not None and before.get("data-block-type") == kind and name_of(before) == name_of(element):
        before.extend(list(element))
        remove(element)


def _name_style(element: Any) -> None:
    style = style_of(element)
    if not style and not element.get("class"):
        return
    name = name_of(element)
    if name in ("span", "font", "a", "em", "i"):
        raised = style.get("vertical-align")
        if raised in RAISED or raised in LOWERED:
            _wrap(element, "sup" if raised in RAISED else "sub")
    if "line-through" in f"{style.get('text-decoration', '')} {style.get('text-decoration-line', '')}":
        _wrap(element, "del")
    keeps = style.get("white-space", "").startswith(("pre", "break-spaces"))
    if name in ("div", "section") and keeps and TYPEWRITER.search(style.get("font-family", "")):
        element.tag = "pre"
    elif name not in ("pre", "code") and (keeps or KEEPS_LINES.search(str(element.get("class") or ""))):
        _keep_lines(element)


def _wrap(element: Any, name: str) -> None:
    """Wrap the content of an element in a new element of this name."""
    inner = make(name, element.text or "", *element)
    element.text = None
    element.append(inner)


def _keep_lines(element: Any) -> None:
    """Keep the line breaks of the source, which the page shows."""
    for part in element.iter():
        if within_code(part):
            continue
        if isinstance(part.tag, str) and part.text and name_of(part) not in ("pre", "code"):
            part.text = part.text.replace("\n", BREAK)
        if part is not element and part.tail:
            part.tail = part.tail.replace("\n", BREAK)


def within_code(element: Any) -> bool:
    return any(name_of(parent) in ("pre", "code") for parent in element.iterancestors())

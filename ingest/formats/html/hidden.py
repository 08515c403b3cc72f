"""Hidden content: left out if it is hidden on purpose, kept if a reader can open it."""

from typing import Any

from ingest.formats.html.panels import is_panel
from ingest.formats.html.tree import (
    HEADINGS,
    LeftOut,
    elements,
    is_block,
    link_share,
    name_of,
    role_of,
    says_something,
    size_of,
    style_of,
    text_of,
    words_of,
)

CONTAINERS = frozenset({"div", "section", "li", "article", "figure", "dd", "tbody", "tr", "ul", "ol", "table"})
# Roles of windows and lists that pop up over a page.
PASSING = frozenset(
    {"dialog", "alertdialog", "menu", "menubar", "listbox", "tooltip", "status", "navigation", "search"}
)
LONGEST_CONTROL = 120
# A page that shows its text only after a script has run hides more than these shares of it.
MOST, NEARLY_ALL = 0.5, 0.8
LEAST_TEXT = 200


def leave_out_hidden(root: Any, out: LeftOut) -> None:
    whole, alike = size_of(root), _Alike()
    for element in elements(root):
        if element is root or element.getparent() is None or not any(p is root for p in element.iterancestors()):
            continue
        if _is_hidden(element) and not _can_be_opened(element, whole, alike):
            out.take(element)


def _is_hidden(element: Any) -> bool:
    style = style_of(element)
    return (
        element.get("hidden") is not None
        or style.get("display") == "none"
        or _is_invisible(style)
        or (element.get("aria-hidden") == "true" and not _is_seen(element))
    )


def _is_invisible(style: dict[str, str]) -> bool:
    moves_in = any(name.startswith(("transform", "transition", "animation", "will-change")) for name in style)
    return (
        style.get("visibility") in ("hidden", "collapse")
        or (style.get("opacity") in ("0", "0.0", "0%") and not moves_in)
        or style.get("font-size") in ("0", "0px", "0pt", "0em")
    )


def _is_seen(element: Any) -> bool:
    """Content hidden only from screen readers is kept, unless it is an icon or repeats its neighbour."""
    text = text_of(element)
    if not is_block(element) and (name_of(element) in ("a", "i", "svg") or (text.isascii() and len(text.split()) < 2)):
        return False
    parent = element.getparent()
    beside = "" if parent is None else text_of(parent)
    return says_something(text) and not is_block(element) and beside.count(text) == 1


def _can_be_opened(element: Any, whole: int, alike: "_Alike") -> bool:
    if role_of(element) in PASSING or name_of(element) in ("dialog", "nav", "form", "template", "input", "button"):
        return False
    if is_panel(element):
        return True
    size = size_of(element)
    if size > MOST * whole and (_is_invisible(style_of(element)) or size > max(LEAST_TEXT, NEARLY_ALL * whole)):
        return True
    if name_of(element) not in CONTAINERS and not (name_of(element) == "p" and _has_control(element)):
        return False
    if link_share(element) > MOST:
        return False
    return _has_control(element) or _is_below_heading(element) or alike.has(element)


def _has_control(element: Any) -> bool:
    """Whether the control that opens an element is directly before or after it."""
    return any(
        beside is not None and not is_panel(beside) and size_of(beside) <= LONGEST_CONTROL and _is_operated(beside)
        for beside in (element.getprevious(), element.getnext())
    )


def _is_operated(element: Any) -> bool:
    """Whether a short element is, or holds, something to click that does not lead to another page."""
    for part in elements(element):
        name = name_of(part)
        if name in ("button", "summary") or role_of(part) in ("button", "tab", "switch"):
            return True
        if part.get("aria-expanded") is not None or part.get("onclick") is not None:
            return True
        if name == "a" and str(part.get("href") or "#").strip() in ("#", "javascript:;", "javascript:void(0)"):
            return True
        if name in ("input", "label") and part.get("type") in (None, "checkbox", "radio") and part.get("for"):
            return True
    return False


def _is_below_heading(element: Any) -> bool:
    """Whether a visible heading would otherwise have nothing below it."""
    starts = (*HEADINGS, "dt")
    before, following = element.getprevious(), element.getnext()
    if before is None or name_of(before) not in starts:
        return False
    while following is not None and (not size_of(following) or _is_hidden(following)):
        following = following.getnext()
    return following is None or name_of(following) in starts


class _Alike:
    """Tells which elements have a visible sibling of their kind: slides, pages of a list, tabs."""

    def __init__(self) -> None:
        self._shown: dict[Any, set[tuple[str, str]]] = {}

    def has(self, element: Any) -> bool:
        parent = element.getparent()
        if parent not in self._shown:
            shown = [child for child in parent if name_of(child) and not _is_hidden(child) and size_of(child)]
            self._shown[parent] = {kind for child in shown for kind in _kinds(child)}
        return not self._shown[parent].isdisjoint(_kinds(element))


def _kinds(element: Any) -> set[tuple[str, str]]:
    names = [*words_of(element, "class"), *(f"role {role}" for role in words_of(element, "role"))]
    return {(name_of(element), name) for name in names}

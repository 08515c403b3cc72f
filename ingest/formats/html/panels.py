"""Tabs and folds as seen by a reader who opens them one after the other: each panel below its label.

Labels and panels are matched by the page's controls: roles, `aria-controls`, a button beside the element that it
opens, as many labels as panels.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from ingest.formats.html.tree import (
    HEADINGS,
    elements,
    is_block,
    is_empty,
    lines_of,
    make,
    name_of,
    outermost,
    remove,
    role_of,
    says_something,
    size_of,
    text_of,
    unwrap,
    within,
    words_of,
)

NOT_REFERRING = frozenset({"class", "style", "id", "name", "type", "title", "role", "alt", "src", "lang", "value"})
IDENTIFIER = re.compile(r"[\w:.-]+")
LONGEST_REFERENCE = 300
MOST_TABS = 60
MOST_LISTS = 500
# How many levels above the tabs their panels are searched.
MOST_LEVELS = 5
LONGEST_LABEL = 120
# The attribute that marks a panel which something on the page opens.
OPENED = "data-panel"


def open_panels(root: Any) -> None:
    ids = {str(element.get("id")): element for element in reversed(elements(root)) if element.get("id")}
    for element in elements(root):
        if role_of(element) == "tabpanel" or element.get("hidden") == "until-found":
            element.set(OPENED, "")
    controls = [element for element in elements(root) if _is_control(element)]
    for control in controls:
        for panel in _opened_by(control, ids):
            panel.set(OPENED, "")
    panels = _Panels(ids)
    for tabs in (*_tab_lists(root), *_button_groups(controls, ids)):
        _label(tabs, panels.of(tabs))
    for boxes, labels in _radio_labels(root):
        beside = _panels_beside(labels)
        for box in boxes if beside or _opens_next(labels[0]) else ():
            remove(box)
        _label(labels, beside)
    for control in controls:
        _name_fold(control, ids)


def _is_control(element: Any) -> bool:
    return (
        name_of(element) in ("button", "summary", "label")
        or role_of(element) in ("tab", "button", "switch")
        or any(element.get(name) is not None for name in ("aria-controls", "aria-expanded", "onclick"))
        or (name_of(element) == "a" and str(element.get("href") or "#").startswith(("#", "javascript:")))
    )


def _opened_by(control: Any, ids: dict[str, Any]) -> Iterable[Any]:
    """The elements whose ids a control names in any attribute; ordinary links within a page do not open anything."""
    for name, value in control.attrib.items():
        if name in NOT_REFERRING or len(value) > LONGEST_REFERENCE or name.startswith("data-clipboard"):
            continue
        if name == "href" and not _is_tab_link(control):
            continue
        for word in IDENTIFIER.findall(value):
            panel = ids.get(word)
            if panel is not None and panel is not control and name_of(panel) not in (*HEADINGS, "input", "a", "body"):
                yield panel


def _is_tab_link(link: Any) -> bool:
    return role_of(link) in ("tab", "button") or any(
        link.get(name) is not None for name in ("data-toggle", "data-bs-toggle", "aria-controls", "aria-expanded")
    )


def _tab_lists(root: Any) -> list[list[Any]]:
    """The tabs of each tab list, in order."""
    lists: dict[Any, list[Any]] = {}
    for element in elements(root):
        if role_of(element) == "tab" or (name_of(element) == "a" and element.get("data-toggle") == "tab"):
            if any(role_of(parent) == "tab" for parent in element.iterancestors()):
                continue
            holder = next((parent for parent in element.iterancestors() if role_of(parent) == "tablist"), None)
            lists.setdefault(element.getparent() if holder is None else holder, []).append(element)
    return list(lists.values())[:MOST_LISTS]


def _button_groups(controls: Sequence[Any], ids: dict[str, Any]) -> list[list[Any]]:
    """Buttons side by side, each of which opens one of several panels side by side."""
    groups: dict[Any, list[tuple[Any, Any]]] = {}
    for control in controls:
        panels = list(_opened_by(control, ids))
        if name_of(control) in ("button", "a", "li", "span", "div") and len(panels) == 1 and _is_attached(control):
            groups.setdefault(control.getparent(), []).append((control, panels[0]))
    return [
        [control for control, _ in group]
        for group in list(groups.values())[:MOST_LISTS]
        if len(group) > 1 and len({panel for _, panel in group}) == len(group)
        and len({panel.getparent() for _, panel in group}) == 1
    ]  # fmt: skip


def _is_attached(element: Any) -> bool:
    return element.getparent() is not None and name_of(element.getparent()) not in HEADINGS


class _Panels:
    """The panels of a page."""

    def __init__(self, ids: dict[str, Any]) -> None:
        self._ids = ids
        self._by_label = {
            word: panel
            for panel in ids.values()
            if role_of(panel) == "tabpanel"
            for word in words_of(panel, "aria-labelledby")
        }
        self._around: dict[Any, list[Any]] = {}

    def of(self, tabs: Sequence[Any]) -> list[Any]:
        """The panel of each tab, by id; else nearby panels, if there are as many as tabs."""
        named = [self._named_by(tab) for tab in tabs]
        if all(named):
            return [panels[0] for panels in named]
        for parent in islice(tabs[0].iterancestors(), MOST_LEVELS):
            if parent not in self._around:
                self._around[parent] = list(outermost(e for e in elements(parent) if role_of(e) == "tabpanel"))
            found = self._around[parent]
            if len(found) >= len(tabs):
                return found if len(found) == len(tabs) else []
        return _panels_beside(tabs)

    def _named_by(self, tab: Any) -> list[Any]:
        labelled = self._by_label.get(str(tab.get("id")))
        inner = (panel for part in tab.iter("a", "button") for panel in _opened_by(part, self._ids))
        return [*_opened_by(tab, self._ids), *([] if labelled is None else [labelled]), *inner]


def _panels_beside(labels: Sequence[Any]) -> list[Any]:
    """The children of the element after the labels, if there is one per label."""
    if not 2 <= len(labels) <= MOST_TABS:
        return []
    for parent in labels[0].iterancestors():
        following = parent.getnext()
        if following is not None and all(parent in list(label.iterancestors()) for label in labels):
            children = [child for child in following if name_of(child)]
            return children if len(children) == len(labels) and all(map(is_block, children)) else []
    return []


def _radio_labels(root: Any) -> list[tuple[list[Any], list[Any]]]:
    """Groups of radio buttons and their labels, apart from the panels that they choose: tabs without a script."""
    names: dict[str, tuple[list[Any], list[Any]]] = {}
    radios = {str(box.get("id")): box for box in root.iter("input") if box.get("type") == "radio" and box.get("id")}
    for label in list(root.iter("label")):
        box = radios.get(str(label.get("for")))
        if box is not None:
            boxes, labels = names.setdefault(str(box.get("name")), ([], []))
            boxes.append(box)
            labels.append(label)
    return [(boxes, labels) for boxes, labels in names.values() if len(labels) > 1 or _opens_next(labels[0])]


def _opens_next(label: Any) -> bool:
    following = label.getnext()
    return following is not None and name_of(following) in ("div", "section") and not (label.tail or "").strip()


def _label(labels: Sequence[Any], panels: Sequence[Any]) -> None:
    """Put each label on top of its panel."""
    if not panels or not all(map(_is_label_of, labels, panels)):
        for label in labels:
            if name_of(label) == "label" and _opens_next(label):
                _stand_alone(label)
        return
    for label, panel in zip(labels, panels, strict=True):
        text = text_of(label)
        if text and lines_of(panel)[:1] != [text]:
            title = make("p", "", make("b", text))
            title.tail, panel.text = panel.text, None
            panel.insert(0, title)
        panel.set(OPENED, "")
        parent = label.getparent()
        remove(label)
        while parent is not None and is_empty(parent) and name_of(parent) in ("li", "ul", "ol", "div", "span"):
            parent, empty = parent.getparent(), parent
            remove(empty)


def _is_label_of(label: Any, panel: Any) -> bool:
    apart = all(part is not panel for part in label.iter()) and all(part is not label for part in panel.iter())
    return (
        apart and size_of(label) <= LONGEST_LABEL and name_of(panel) not in ("table", "tbody", "thead", "tfoot", "tr")
    )


def _stand_alone(control: Any) -> None:
    """Turn the name of a fold into a line of its own."""
    text = text_of(control)
    for child in list(control):
        control.remove(child)
    control.text, control.tag = None, "p"
    control.append(make("b", text))
    control.attrib.pop("role", None)
    control.attrib.pop("onclick", None)


def _name_fold(control: Any, ids: dict[str, Any]) -> None:
    """Turn the button of a fold into its heading or the line above it."""
    if control.getparent() is None or name_of(control) not in ("button", "a", "div", "span", "label"):
        return
    if within(control, *HEADINGS, "summary", "dt"):
        if name_of(control) == "button" or role_of(control) == "button":
            unwrap(control)
        return
    text = text_of(control)
    opens = control.get("aria-expanded") is not None and any(
        is_panel(panel) and size_of(panel) for panel in (*_opened_by(control, ids), *_following(control))
    )
    if opens and says_something(text) and len(text) <= LONGEST_LABEL and not within(control, "nav", "header", "p"):
        _stand_alone(control)


def _following(control: Any) -> Iterable[Any]:
    following = control.getnext()
    return () if following is None else (following,)


def is_panel(element: Any) -> bool:
    """Whether something on the page opens this element, or one around it."""
    return element.get(OPENED) is not None or any(parent.get(OPENED) is not None for parent in element.iterancestors())

"""Marks beside, above or through the letters: readings, deletions, quotation marks, ticks."""

import re
from typing import Any

from ingest.formats.html.tree import (
    LeftOut,
    elements,
    is_block,
    name_of,
    remove,
    replace,
    role_of,
    says_something,
    size_of,
    text_of,
    words_of,
)

STRUCK = ("del", "s", "strike")
TICKED, UNTICKED = "☑", "☐"
CHINESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


def write_marks(root: Any, out: LeftOut) -> None:
    for element in elements(root, *STRUCK):
        out.take(element)
    for ruby in elements(root, "ruby"):
        _write_ruby(ruby)
    for quote in elements(root, "q"):
        quote.text = f"“{quote.text or ''}"
        _append(quote, "”")
        quote.tag = "span"
    write_ticks(root)


def _write_ruby(ruby: Any) -> None:
    """`注意力（zhùyìlì）`: the whole word, followed by its reading."""
    readings = [text_of(part) for part in ruby.iter("rt")]
    for part in elements(ruby, "rt", "rp"):
        remove(part)
    word, reading = text_of(ruby), " ".join(filter(None, readings))
    told = f"（{reading}）" if CHINESE.search(word) else f" ({reading})"
    replace(ruby, f"{word}{told}" if reading else word)


def _append(element: Any, text: str) -> None:
    if len(element):
        element[-1].tail = f"{element[-1].tail or ''}{text}"
    else:
        element.text = f"{element.text or ''}{text}"


def write_ticks(root: Any) -> None:
    """Write a sign for each box beside a text, ticked or not; boxes that only open or close something get none."""
    labels = {str(label.get("for")): label for label in root.iter("label") if label.get("for")}
    for box in elements(root, "input"):
        if str(box.get("type") or "").lower() not in ("checkbox", "radio"):
            continue
        label = labels.get(str(box.get("id")))
        ticked = box.get("checked") is not None or box.get("aria-checked") == "true"
        if label is not None and label is box.getprevious() and says_something(text_of(label)):
            label.text = f"{_sign(ticked)} {label.text or ''}"
        elif _is_answer(box, label):
            replace(box, f"{_sign(ticked)} ")
    for element in elements(root):
        if element.get("data-inline-task-id") is not None and name_of(element) == "li":  # Confluence
            ticked = "checked" in words_of(element, "class")
        elif element.get("aria-checked") in ("true", "false") and role_of(element) in ("checkbox", "radio"):
            ticked = element.get("aria-checked") == "true"
            element.attrib.pop("role")
        else:
            continue
        beside = element if size_of(element) or element.getnext() is None else _first_line(element.getnext())
        beside.text = f"{_sign(ticked)} {beside.text or ''}"


def _first_line(element: Any) -> Any:
    """The innermost element with which a block begins."""
    while len(element) and not (element.text or "").strip() and name_of(element[0]):
        element = element[0]
    return element


def _sign(ticked: bool) -> str:
    return TICKED if ticked else UNTICKED


def _is_answer(box: Any, label: Any) -> bool:
    """Whether a text directly follows a box. A label directly before a block opens that block."""
    following = box.getnext()
    if says_something(box.tail or ""):
        return True
    if label is not None and not _holds(box, label):
        after = label.getnext()
        opens = after is not None and is_block(after) and not (label.tail or "").strip()
        return following is label and says_something(text_of(label)) and not opens
    if following is not None and (size_of(following) or following.getnext() is not None):
        return name_of(following) not in ("input", "label") and size_of(following) > 0
    parent = box.getparent()
    after = parent.getnext()
    beside = f"{parent.tail or ''}{'' if after is None else text_of(after)}"
    return name_of(parent) in ("label", "span", "div", "p", "td", "th") and says_something(beside)


def _holds(box: Any, label: Any) -> bool:
    return any(parent is label for parent in box.iterancestors())

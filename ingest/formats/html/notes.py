"""Moves footnotes to the sentence with their mark: below its paragraph, list item or table."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from ingest.formats.html.layout import is_layout
from ingest.formats.html.tree import (
    HEADINGS,
    LeftOut,
    elements,
    is_block,
    make,
    name_of,
    outermost,
    remove,
    role_of,
    size_of,
    text_of,
    within,
    words_of,
)

LABEL = re.compile(
    r"[\[(（【〔]?\s*((?:注|note)?\s*\d{1,3}|[a-zA-Z]|[ivx]{1,5}|[*†‡§‖#]{1,3}|[\u2460-\u2473])\s*[\])）】〕]?",
    re.IGNORECASE,
)
BRACKETED = re.compile(r"[\[(（【〔].*[\])）】〕]", re.DOTALL)
LONGEST_NOTE = 3_000
# Elements that are not notes: parts of a text that links also lead to.
NO_NOTE = (*HEADINGS, "figure", "section", "math", "pre", "nav", "main", "article", "body")
HOLDERS = ("li", "dd", "aside", "tr", "p", "div", "td")


@dataclass(frozen=True, slots=True)
class _Mark:
    link: Any
    label: str
    note: Any
    place: int


class _Anchors:
    """The elements of the pages that links can lead to, and the place of each element in reading order."""

    def __init__(self, pages: Mapping[str, Any]) -> None:
        self.place: dict[Any, int] = {}
        self._found: dict[tuple[str, str], Any] = {}
        self._notes: dict[Any, Any] = {}
        for name, root in pages.items():
            for element in elements(root):
                self.place[element] = len(self.place)
                for attribute in ("id", "name"):
                    if element.get(attribute):
                        self._found.setdefault((name, str(element.get(attribute))), element)

    def target(self, page: str, link: Any) -> Any:
        address, mark, fragment = str(link.get("href") or "").partition("#")
        if not mark or ":" in address.partition("/")[0]:
            return None
        name = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(address))) if address else page
        found = self._found.get((name, fragment))
        return self._found.get((name, unquote(fragment))) if found is None else found

    def note(self, target: Any) -> Any:
        """The block of the note that a link leads to; None if it is not a note."""
        if target not in self._notes:
            self._notes[target] = _note_of(target)
        return self._notes[target]


def move_notes(pages: Mapping[str, Any], out: LeftOut) -> None:
    """Move the notes of pages, given by name in reading order; links may lead from one page to another."""
    anchors = _Anchors(pages)
    moved: set[Any] = set()
    last: dict[Any, Any] = {}
    for page, root in pages.items():
        for mark in [found for link in list(root.iter("a")) if (found := _mark(page, link, anchors)) is not None]:
            _write_mark(mark)
            if mark.note in moved or any(parent in moved for parent in mark.link.iterancestors()):
                continue
            moved.add(mark.note)
            note = _take_note(mark, out)
            block = _block_of(mark.link)
            before = last.get(block)
            if before is not None:
                before.addnext(note)
            else:
                _put_below(block, mark.link, note)
            last[block] = note
    for root in pages.values():
        for mark in elements(root, "note-mark"):
            mark.drop_tag()


def _mark(page: str, link: Any, anchors: _Anchors) -> _Mark | None:
    """The mark of a footnote that a link is; None if it is something else."""
    label = LABEL.fullmatch(text_of(link))
    target = anchors.target(page, link) if label is not None else None
    if label is None or target is None or anchors.place[target] <= anchors.place[link]:
        return None
    note = anchors.note(target)
    if note is None or anchors.place[note] <= anchors.place[link] or any(p is note for p in link.iterancestors()):
        return None
    said = any(_names_itself(part, label[1]) for part in (note, target))
    if not _is_raised(link) and not said and not _leads_back(page, note, link, anchors):
        return None
    return _Mark(link, label[1], note, anchors.place[link])


def _note_of(target: Any) -> Any:
    note = target
    if name_of(target) == "dt":
        note = target.getnext()
    elif name_of(target) == "table":
        note = target if len(elements(target, "tr")) == 1 else None
    elif name_of(target) not in HOLDERS:
        note = next((parent for parent in target.iterancestors() if is_block(parent)), None)
    if note is not None and name_of(note) in ("td", "th"):
        note = note.getparent()
    if note is None or name_of(note) in NO_NOTE or elements(note, *NO_NOTE):
        return None
    return note if 0 < size_of(note) <= LONGEST_NOTE else None


def _is_raised(link: Any) -> bool:
    kinds = {role_of(link), *words_of(link, "epub:type"), *words_of(link, "rel")}
    return bool(kinds & {"doc-noteref", "noteref", "footnote"}) or within(link, "sup") or bool(elements(link, "sup"))


def _names_itself(note: Any, label: str) -> bool:
    """Whether a note begins with the label of its mark, or is an item of a numbered list."""
    start = text_of(note)[:12]
    if label.isdecimal():
        in_order = name_of(note) == "li" and name_of(note.getparent()) == "ol" and _number_of(note) == int(label)
        return (
            in_order or re.match(rf"\W*(?:注|note)?\s*{label}(?:[\s\])）.、:：]|$)", start, re.IGNORECASE) is not None
        )
    return re.match(rf"[\[(（]?{re.escape(label)}[\])）.、:：\s]", start) is not None


def _number_of(item: Any) -> int:
    start = str(item.getparent().get("start") or "1")
    return (int(start) if start.isdecimal() else 1) + sum(1 for _ in item.itersiblings("li", preceding=True))


def _leads_back(page: str, note: Any, link: Any, anchors: _Anchors) -> bool:
    own = {link, *link.iterancestors()}
    return any(anchors.target(page, back) in own for back in note.iter("a"))


def _write_mark(mark: _Mark) -> None:
    """Write the mark as `[1]` in the sentence, no longer raised."""
    said = text_of(mark.link)
    link = mark.link
    for child in list(link):
        link.remove(child)
    parent = link.getparent()
    if name_of(parent) == "sup":
        around = text_of(parent)
        link.text = around if BRACKETED.fullmatch(around) and len(around) <= len(said) + 2 else _bracketed(said)
        if parent.getparent() is not None and len(around) <= len(said) + 2:
            link.tail = None
            for child in list(parent):
                if child is not link:
                    parent.remove(child)
            parent.text = None
            parent.tag = "span"
    else:
        before, behind = _text_before(link)[-1:], (link.tail or "")[:1]
        link.text = said if before in ("[", "［", "(") and behind in ("]", "］", ")") else _bracketed(said)
    link.tag = "note-mark"


def _text_before(element: Any) -> str:
    previous = element.getprevious()
    return str((element.getparent().text if previous is None else previous.tail) or "")


def _bracketed(label: str) -> str:
    return label if BRACKETED.fullmatch(label) else f"[{label}]"


def _take_note(mark: _Mark, out: LeftOut) -> Any:
    """The note, removed from its place, without the link back and with its label in front."""
    note = mark.note
    for back in list(note.iter("a")):
        leads = str(back.get("href") or "").partition("#")[1]
        text = text_of(back)
        if role_of(back) == "doc-backlink" or (leads and len("".join(filter(str.isalnum, text))) < 3):
            remove(back)
    term = note.getprevious()
    if term is not None and name_of(term) == "dt" and name_of(note) == "dd":
        remove(term)
    holder = note.getparent()
    remove(note)
    for cell in elements(note, "td", "th", "tr", "tbody", "table", "p"):
        if cell is not note:
            cell.tail = f" {cell.tail or ''}"
            cell.drop_tag()
    result = make("p", note.text or "", *note)
    _strip_label(result, mark.label)
    result.text = f"{_bracketed(mark.label)} {(result.text or '').lstrip()}"
    _drop_empty(holder, out)
    return result


def _strip_label(note: Any, label: str) -> None:
    """Remove the label at the start of a note, and the remains of its brackets."""
    pattern = re.compile(
        rf"\s*(?:[\[(（【]?\s*{re.escape(label)}(?![\w:：])\s*[\])）】]?[.、]?|\[\s*\]|[\^↑|]+)?\s*", re.IGNORECASE
    )
    while True:
        note.text = (note.text or "")[_end(pattern, note.text or "") :]
        first = note[0] if len(note) and not note.text.strip() else None
        if first is None or name_of(first) in ("code", "pre", "img"):
            return
        left = text_of(first)
        if left and pattern.fullmatch(left) is None:
            return
        note.text = first.tail
        first.tail = None
        note.remove(first)


def _end(pattern: re.Pattern[str], text: str) -> int:
    found = pattern.match(text)
    return 0 if found is None else found.end()


def _drop_empty(holder: Any, out: LeftOut) -> None:
    """Remove an element that held only notes; its title is recorded as left out."""
    while holder is not None and name_of(holder) in (
        "ol",
        "ul",
        "dl",
        "div",
        "section",
        "aside",
        "footer",
        "tbody",
        "table",
    ):
        titles = list(outermost(holder.iter(*HEADINGS, "hr", "dt")))
        if size_of(holder) > sum(map(size_of, titles)) or elements(holder, "img", "math"):
            return
        for title in titles:
            out.say(text_of(title).rstrip("¶#§ "))
        holder, empty = holder.getparent(), holder
        remove(empty)
    if holder is not None and not size_of(holder) and name_of(holder) not in ("body", "html"):
        remove(holder)


def _block_of(link: Any) -> Any:
    """The block below which a note is put: the outermost table of values, else the innermost block."""
    tables = [parent for parent in link.iterancestors() if name_of(parent) == "table" and not is_layout(parent)]
    return tables[-1] if tables else next((parent for parent in link.iterancestors() if is_block(parent)), None)


def _put_below(block: Any, link: Any, note: Any) -> None:
    if block is None or block.getparent() is None:
        return
    if name_of(block) in ("p", "table", "dt", "summary", *HEADINGS):
        block.addnext(note)
        return
    child = next(part for part in (link, *link.iterancestors()) if part.getparent() is block)
    while child is not None and not is_block(child):
        last, child = child, child.getnext()
    if child is not None:
        child.addprevious(note)
    else:
        last.addnext(note)
        note.tail, last_tail = None, note.tail
        if last_tail:  # the sentence goes on after its mark
            note.getprevious().tail = last_tail

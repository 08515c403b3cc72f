"""Leaves out links that only serve navigation: marks beside headings, tables of contents, rows of links."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ingest.formats.html.tree import (
    BLOCKS,
    HEADINGS,
    LeftOut,
    elements,
    is_block,
    link_share,
    name_of,
    outermost,
    remove,
    says_something,
    size_of,
    text_of,
    within,
    within_of,
    words_of,
)
from rag.language.ends import COMMAS, FULL_STOPS, QUESTION_MARKS, ends_with

# A block with at least this share of links leads elsewhere.
WHOLLY = 0.9
LEAST_LINKS = 3
LONGEST_TITLE = 30
# Values of `rel` by which links say that they lead to other pages of the site.
WAYS = frozenset({"tag", "prev", "next", "author", "license"})
EMBRACED = re.compile(r"[\[【（(][^\[\]【】]{1,20}[\])）】]")


def leave_out_permalinks(root: Any, out: LeftOut) -> None:
    """Leave out `¶`, `#` and `[edit]` beside headings and terms, and everywhere same-page links without a word."""
    for link in list(root.iter("a")):
        text = text_of(link)
        leads_here = str(link.get("href") or "").startswith("#")
        if link.getparent() is None or elements(link, "img"):
            continue
        if leads_here and not says_something(text):
            remove(link)
        elif within(link, *HEADINGS, "dt") or name_of(link.getparent()) in (*HEADINGS, "dt"):
            _leave_out_edit_link(link, text, out)


def _leave_out_edit_link(link: Any, text: str, out: LeftOut) -> None:
    holder = link.getparent()
    if EMBRACED.fullmatch(text) and not text[1:-1].isdecimal():
        out.take(link)
    elif EMBRACED.fullmatch(text_of(holder)) and name_of(holder) == "span" and not text.isdecimal():
        out.take(holder)


def leave_out_contents(root: Any, out: LeftOut) -> None:
    """Leave out lists of links to parts of the same page, with the title above them."""
    ids = {str(element.get(name)) for element in elements(root) for name in ("id", "name") if element.get(name)}
    for block in list(
        outermost(part for part in elements(root, "ul", "ol", "p", "div", "table") if _is_contents(part, ids))
    ):
        block = _with_its_title(block)
        title = block.getprevious()
        if (
            title is not None and not (title.tail or "").strip() and _is_title(title)
            and _is_followed_by_heading(block)
        ):  # fmt: skip
            out.take(title)
        out.take(block)


def _is_contents(element: Any, ids: set[str]) -> bool:
    links = [link for link in element.iter("a") if says_something(text_of(link))]
    here = [link for link in links if str(link.get("href") or "").startswith("#")]
    if len(here) < LEAST_LINKS - (name_of(element) in ("ul", "ol")) or len(here) < len(links):
        return False
    if elements(element, *HEADINGS, "pre") or link_share(element) < WHOLLY:
        return False
    known = sum(str(link.get("href"))[1:] in ids for link in here)
    return known * 2 >= len(here)


def _with_its_title(block: Any) -> Any:
    """The outermost element around a list of links that holds nothing else but a short title."""
    parent = block.getparent()
    while parent is not None and name_of(parent) in ("div", "aside", "section", "details"):
        if size_of(parent) - size_of(block) > LONGEST_TITLE or elements(parent, "pre", "img"):
            break
        block, parent = parent, parent.getparent()
    return block


def _is_title(element: Any) -> bool:
    is_short = size_of(element) <= LONGEST_TITLE
    return is_short and (name_of(element) in HEADINGS[1:] or (name_of(element) in ("p", "div") and is_short))


def _is_followed_by_heading(block: Any) -> bool:
    following = block.getnext()
    before = block.getprevious()
    if name_of(before) not in HEADINGS:
        return not ends_with(text_of(before), FULL_STOPS + QUESTION_MARKS + COMMAS)
    return following is None or name_of(following) in (*HEADINGS, "section", "div", "hr")


def leave_out_link_rows(root: Any, out: LeftOut) -> None:
    """Leave out blocks of links to other pages: before the text, after it, and in rows between its parts."""
    leaves = list(_leaves(root))
    for block in _leading(leaves):
        out.take(block)
    for block in _trailing(leaves):
        out.take(block)
    for block in leaves:
        if block.getparent() is None or not _is_link_only(block):
            continue
        links = [link for link in block.iter("a") if says_something(text_of(link))]
        is_row = len(links) > 1 and name_of(block) not in ("p", "li", "td", "th", "dd", "dt")
        if is_row or all(WAYS.intersection(words_of(link, "rel")) for link in links):
            out.take(block)


def _leaves(root: Any) -> Iterator[Any]:
    """The innermost blocks that hold text, in order."""
    holders: set[Any] = set()
    for element in elements(root):
        if is_block(element):
            for parent in element.iterancestors():
                if parent in holders:
                    break
                holders.add(parent)
    for element in elements(root):
        if element is root or not is_block(element):
            continue
        is_leaf = element not in holders and (size_of(element) or elements(element, "img"))
        if is_leaf or _has_own_text(element):
            yield element


def _has_own_text(element: Any) -> bool:
    texts: Iterable[str | None] = (element.text, *(child.tail for child in element))
    return any(says_something(text) for text in texts if text)


def _is_link_only(block: Any) -> bool:
    if name_of(block) in (*HEADINGS, "pre") or within(block, *HEADINGS, "table", "dl"):
        return False
    links = [link for link in block.iter("a") if link.get("href") is not None and not within_of(link, block, "a")]
    if not links or elements(block, "code", "img"):
        return False
    rest = sum(map(str.isalnum, text_of(block))) - sum(sum(map(str.isalnum, text_of(link))) for link in links)
    return rest <= 0 or (len(links) > 1 and rest * 5 < sum(map(len, map(text_of, links))) and rest < 12)


def _leading(leaves: list[Any]) -> list[Any]:
    found: list[Any] = []
    for block in leaves:
        if not _is_link_only(block):
            return found
        found.append(block)
    return []  # the page consists of links


def _trailing(leaves: list[Any]) -> list[Any]:
    """The link blocks after the text; those directly below a heading are its content and stay."""
    found: list[Any] = []
    for block in reversed(leaves):
        if not _is_link_only(block):
            if name_of(block) in HEADINGS or within(block, *HEADINGS):
                return [one for one in found if name_of(one) not in ("li", "p", "td", "dd") and name_of(one) in BLOCKS]
            return found
        found.append(block)
    return []

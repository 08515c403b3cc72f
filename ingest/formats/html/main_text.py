"""Finds the main text of a page: the part marked as such, else the element with its heading and most of its text."""

from typing import Any

from ingest.formats.html.tree import (
    HEADINGS,
    LeftOut,
    elements,
    is_site_name,
    link_share,
    name_of,
    outermost,
    says_something,
    size_of,
    words_of,
)

# The least share of the page that its main part must hold, and of the main part that a single article must hold.
MAIN, ARTICLE = 0.3, 0.5
# An element with more than MOST of the text is the page; a plain element beside it must hold WORTH to be kept.
MOST, WORTH = 0.7, 0.1
LINKS = 0.5
HOLDERS = ("div", "section", "td", "tr", "tbody", "table", "center", "form", "span", "font", "main", "article", "body")


def keep_main_text(root: Any, out: LeftOut) -> None:
    whole = size_of(root)
    base = _main(root, whole)
    main = base
    articles = [article for article in outermost(base.iter("article")) if article is not base]
    if len(articles) == 1 and size_of(articles[0]) > ARTICLE * size_of(base):
        base = articles[0]
    elif base is root and len(articles) > 1 and sum(map(size_of, articles)) > ARTICLE * whole:
        base = _common(articles, root)
    if base is not root:
        _keep_only(base, root, main, out)
    if base is root or not elements(root, "main", "article"):
        _drop_beside(root, out, whole)


def _main(root: Any, whole: int) -> Any:
    found = max(outermost(root.iter("main")), key=size_of, default=root)
    return found if size_of(found) > MAIN * whole else root


def _common(found: list[Any], root: Any) -> Any:
    others = set(found[1:])
    for parent in found[0].iterancestors():
        if parent is root or others <= set(parent.iter("article")):
            return parent
    return root


def _keep_only(base: Any, root: Any, main: Any, out: LeftOut) -> None:
    """Take out everything outside an element except the heading of the page and the sections of its main part."""
    has_title = any(map(_is_title, base.iter("h1")))
    inside_main = base is not main
    node = base
    while node is not root:
        parent = node.getparent()
        inside_main = inside_main and node is not main
        before = True
        for sibling in list(parent):
            if sibling is node:
                before = False
            elif not name_of(sibling):
                continue
            elif before and not has_title and elements(sibling, "h1") and any(map(_is_title, sibling.iter("h1"))):
                has_title = True
                _keep_title(sibling, out)
            elif not (inside_main and _is_section(sibling)):
                out.take(sibling)
        _drop_own_text(parent, out)
        node = parent


def _keep_title(element: Any, out: LeftOut) -> None:
    if name_of(element) == "h1":
        return
    title = next(h1 for h1 in element.iter("h1") if _is_title(h1))
    out.say(" ".join((title.tail or "").split()))
    title.tail = None
    element.addprevious(title)
    out.take(element)


def _is_title(heading: Any) -> bool:
    return size_of(heading) > 0 and not is_site_name(heading)


def _is_section(element: Any) -> bool:
    """Whether an element beside the article is part of the text: a section with a heading that is not just links."""
    return (
        name_of(element) == "section"
        and bool(elements(element, *HEADINGS))
        and link_share(element) < LINKS
        and not elements(element, "textarea", "article")
    )


def _drop_own_text(parent: Any, out: LeftOut) -> None:
    for text in (parent.text, *(child.tail for child in parent)):
        if text and says_something(text):
            out.say(" ".join(text.split()))
    parent.text = None
    for child in parent:
        child.tail = None


def _drop_beside(root: Any, out: LeftOut, whole: int) -> None:
    """Descend to the element that holds most of the page; small elements beside it are frame."""
    title = next((h1 for h1 in root.iter("h1") if _is_title(h1)), None)
    if title is None:
        title = next(iter(elements(root, *HEADINGS)), None)
    node = root
    while True:
        child = max((part for part in node if name_of(part) in HOLDERS), key=size_of, default=None)
        if child is None or size_of(child) <= MOST * whole:
            return
        holds_title = title is not None and any(parent is child for parent in title.iterancestors())
        for sibling in list(node):
            if sibling is not child and name_of(sibling) and _is_frame(sibling, child, whole, strict=holds_title):
                out.take(sibling)
        node = child


def _is_frame(element: Any, beside: Any, whole: int, *, strict: bool) -> bool:
    if not size_of(element):
        return False
    if link_share(element) > LINKS or name_of(element) in ("aside", "footer") or elements(element, "textarea"):
        return True
    alike = name_of(element) == name_of(beside) and set(words_of(element, "class")) & set(words_of(beside, "class"))
    if (
        not strict
        or alike
        or name_of(element) in ("section", "article", "p", "pre", "table", "ul", "ol", "dl", *HEADINGS)
    ):
        return False
    return size_of(element) < WORTH * whole

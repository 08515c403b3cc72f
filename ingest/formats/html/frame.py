"""Leaves out the frame around a text, which serves navigation: landmarks, buttons, fields, links to places.

The frame is recognised by the kinds and positions of its elements, never by names that a designer gave them.
"""

import re
from typing import Any

from ingest.formats.html.tree import (
    ADDRESS,
    HEADINGS,
    LeftOut,
    elements,
    is_site_name,
    link_share,
    name_of,
    outermost,
    remove,
    replace,
    role_of,
    says_something,
    size_of,
    text_of,
    unwrap,
    within,
    words_of,
)

LANDMARKS = frozenset({
    "navigation", "search", "menu", "menubar", "toolbar", "dialog", "alertdialog", "progressbar", "tablist", "tooltip",
    "listbox", "contentinfo", "banner", "doc-toc", "doc-pagelist",
})  # fmt: skip
MEDIA = ("iframe", "object", "embed", "canvas", "video", "audio", "svg", "noscript", "template", "portal")
FIELDS = ("input", "select", "textarea", "datalist", "output")
TYPED = frozenset({"", "text", "search", "email", "password", "tel", "url"})
SECTIONS = ("article", "aside", "main", "nav", "section", "blockquote", "td", "li", "figure")
# A block with more than this share of links leads elsewhere.
MOSTLY, WHOLLY = 0.6, 0.9
SHORT_FORM = 300
LONGEST_BUTTON = 30
LEAST_TEXT = 200


def leave_out_frame(page: Any, root: Any, out: LeftOut) -> None:
    whole = size_of(root)
    _shorten_own_links(page)
    for element in list(outermost(element for element in elements(root) if _is_landmark(element))):
        if element is not root and (size_of(element) * 2 < whole or link_share(element) > MOSTLY):
            out.take(element)
    _leave_out_heads_and_feet(root, out, whole)
    for element in elements(root, "script", "style", "link", "meta", "base"):
        if element is not root:
            remove(element)
    _leave_out_media(root, out, whole)
    _leave_out_forms(root, out)
    _leave_out_buttons(root, out)


def _is_landmark(element: Any) -> bool:
    kinds = {role_of(element), *words_of(element, "epub:type")}
    if name_of(element) == "aside" or "complementary" in kinds:
        return link_share(element) > MOSTLY
    return name_of(element) in ("nav", "search", "dialog") or not LANDMARKS.isdisjoint(kinds) or "toc" in kinds


def _shorten_own_links(page: Any) -> None:
    """Undo the full addresses that browsers write into the internal links of a page that they save."""
    own = set()
    for link in page.iter("link", "meta"):
        if link.get("rel") == "canonical" or link.get("property") == "og:url":
            own.add(str(link.get("href") or link.get("content") or "").partition("#")[0])
    own.add(str(page.get(ADDRESS) or "").partition("#")[0])
    own.discard("")
    for link in page.iter("a") if own else ():
        address, mark, fragment = str(link.get("href") or "").partition("#")
        if mark and address in own:
            link.set("href", f"#{fragment}")


def _leave_out_heads_and_feet(root: Any, out: LeftOut, whole: int) -> None:
    """The header and footer of the page are frame; those of one of its parts are text unless they are mostly links. A
    header with a heading stays without its blocks of links; one with sentences stays too."""
    for element in list(outermost(root.iter("header", "footer"))):
        if element is root or size_of(element) * 2 > whole:
            continue
        of_page = not any(name_of(p) in SECTIONS for p in element.iterancestors())
        titles = [title for title in element.iter("h1") if not of_page or not is_site_name(title)]
        if name_of(element) == "footer":
            if of_page or link_share(element) > MOSTLY:
                out.take(element)
        elif titles:
            for lists in list(outermost(part for part in element.iter("ul", "ol", "p", "div") if _only_leads(part))):
                out.take(lists)
        elif (of_page and not _has_sentences(element)) or link_share(element) > MOSTLY:
            out.take(element)


def _only_leads(element: Any) -> bool:
    return link_share(element) > WHOLLY and not elements(element, *HEADINGS)


def _has_sentences(element: Any) -> bool:
    return any(re.search(r"[。！？.!?](?:\s|$)", text_of(part)) for part in element.iter("p"))


def _leave_out_media(root: Any, out: LeftOut, whole: int) -> None:
    for drawing in list(outermost(root.iter("svg"))):
        said = drawing.get("aria-label") or " ".join(text_of(title) for title in drawing.iter("title"))
        labels = [text_of(part) for part in elements(drawing, "text", "foreignobject")]
        if (
            said
            and says_something(said)
            and drawing.get("aria-hidden") != "true"
            and not within(drawing, "a", "button")
        ):
            out.say(*labels)
            replace(drawing, f" {' '.join(said.split())} ")
        else:
            out.say(*labels)
            remove(drawing)
    for picture in elements(root):
        if role_of(picture) == "img" and name_of(picture) != "img" and picture.get("aria-label"):
            out.say(text_of(picture))
            replace(picture, str(picture.get("aria-label")))
    for element in elements(root, *MEDIA):
        if element is root or element.getparent() is None:
            continue
        if name_of(element) in ("noscript", "object") and size_of(element) > max(LEAST_TEXT, whole / 2):
            unwrap(element)  # a page that shows its text only without scripts
        else:
            out.take(element)


def _leave_out_forms(root: Any, out: LeftOut) -> None:
    """Forms to fill in are frame; a form around a text is unwrapped."""
    for form in list(root.iter("form")):
        fields = [field for field in form.iter("input", "textarea") if _is_typed(field)]
        if fields and size_of(form) < SHORT_FORM and not _has_sentences(form) and not elements(form, "table", "pre"):
            out.take(form)
        else:
            unwrap(form)
    for field in elements(root, *FIELDS):
        if name_of(field) == "select" and field.getparent() is not None:
            out.say(" · ".join(text_of(option) for option in field.iter("option")))
            remove(field)
        elif field.getparent() is not None:
            out.take(field)


def _is_typed(field: Any) -> bool:
    return name_of(field) == "textarea" or str(field.get("type") or "").lower() in TYPED


def _leave_out_buttons(root: Any, out: LeftOut) -> None:
    for element in elements(root):
        if element.getparent() is None or element is root or not _is_button(element):
            continue
        if not (within(element, *HEADINGS, "summary", "dt") or _is_in_sentence(element) or _is_long(element)):
            out.take(element)
        elif element.tag == "button":
            element.tag = "span"


def _is_button(element: Any) -> bool:
    name = name_of(element)
    return (
        name in ("button", "clipboard-copy")
        or role_of(element) in ("button", "switch", "menuitem")
        or any(str(key).startswith("data-clipboard") for key in element.attrib)
        or (name == "a" and str(element.get("href") or "").startswith("javascript:") and len(text_of(element)) < 9)
    )


def _is_in_sentence(element: Any) -> bool:
    """Whether a button is part of a sentence: 点击「保存」按钮."""
    parent = element.getparent()
    block = name_of(parent) in ("p", "li", "td", "th", "dd", "span", "em", "strong", "b")
    around = [parent.text, *(child.tail for child in parent)]
    return block and any(says_something(text) for text in around if text)


def _is_long(element: Any) -> bool:
    """Whether a clickable element is a piece of text, such as an answer to choose or a card."""
    if name_of(element) in ("a", "button") and not elements(element, "p", "pre", *HEADINGS):
        return len(text_of(element)) > LONGEST_BUTTON
    return bool(elements(element, "p", "pre", "li", "table", *HEADINGS)) or len(text_of(element)) > LONGEST_BUTTON

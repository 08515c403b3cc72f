"""HTML -> a tree, and the questions that every step asks about its elements."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import lxml.html
from lxml import etree

from ingest.formats.extract import UnreadableError

HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "dir", "div",
    "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html", "legend", "li",
    "listing", "main", "menu", "nav", "ol", "optgroup", "option", "p", "pre", "search", "section", "summary", "table",
    "tbody", "td", "tfoot", "th", "thead", "tr", "ul", "xmp", *HEADINGS,
})  # fmt: skip
# Elements that never show text.
SILENT = ("script", "style", "head", "link", "meta", "base", "param", "source", "track", "col", "colgroup", "map")
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Invisible characters: zero-width spaces and joiners, soft hyphens, byte order marks.
UNSEEN = re.compile("[\u00ad\u200b\u2060\ufeff]")
XML_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
XHTML = re.compile(r'<html[^<>]{0,500}xmlns\s*=\s*["\']http://www\.w3\.org/1999/xhtml')
CLOSED_AT_ONCE = re.compile(r"<([A-Za-z][\w:.-]{0,40})((?:\s[^<>]{0,2000})?)/>")
HOME = re.compile(r"(?:https?://[^/]+)?/?(?:[a-z]{2}/)?(?:index\.\w+)?|\.{1,2}/?")
VOID = frozenset({
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
})  # fmt: skip
# Elements that authors must close; hundreds of others may be left open without being nested.
CLOSED = re.compile(
    r"<(/?)(?:a|article|aside|b|big|blockquote|center|code|details|div|dl|em|figure|font|form|i|main|math|mrow|nav|ol|q|s"
    r"|section|small|span|strong|sub|sup|table|tt|u|ul)\b[^<>]*>",
    re.IGNORECASE,
)
ANY = re.compile(r"<(/?)(?!(?:area|base|br|col|embed|hr|img|input|link|meta|source|wbr)\b)[a-z][^<>]*>", re.IGNORECASE)
# libxml2 silently drops elements nested deeper than 2,048; a table counts as four.
MOST_OPEN = 400
# Below this depth only the text is kept: no real page is nested so deeply, and Python's stack is limited.
MOST_DEPTH = 120
# What a flattened element must become to be valid in its parent.
PARTS = {"tr": "td", "ul": "li", "ol": "li", "dl": "dd"}
# The comment in which a browser notes the address of a page that it saves.
SAVED_FROM = re.compile(r"<!--\s*saved from url=\(\d+\)(\S+)")
SAVED_WITHIN = 5_000
ADDRESS = "data-saved-from"


def parse(text: str) -> Any:
    """The tree of an HTML text. Raises UnreadableError if there is none. Nothing is loaded."""
    # lxml refuses characters that XML does not allow, and a declared encoding in decoded text.
    text = NOT_IN_XML.sub("", text)
    is_xml = XML_DECLARATION.match(text) is not None or XHTML.search(text[:5_000]) is not None
    text = XML_DECLARATION.sub("", text)
    if is_xml:
        text = CLOSED_AT_ONCE.sub(_opened_and_closed, text)
    try:
        page = _document(_shallow(text, CLOSED))
        if page is None:
            page = _document(_shallow(text, ANY))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as error:
        raise UnreadableError(f"contains no HTML: {error}", hint="open it in a browser and save it again") from error
    if page is None:
        raise UnreadableError("is nested too deeply", hint="open it in a browser and save it again")
    saved = SAVED_FROM.search(text[:SAVED_WITHIN])
    if saved is not None:
        page.set(ADDRESS, saved[1])
    _flatten(page)
    return page


def _document(text: str) -> Any:
    """The tree of a text; None if the parser gave up because of its depth."""
    parser = lxml.html.HTMLParser(no_network=True, huge_tree=True, remove_pis=True, remove_comments=True)
    page = lxml.html.document_fromstring(text, parser=parser)
    return None if any("RESOURCE_LIMIT" in entry.type_name for entry in parser.error_log) else page


def _opened_and_closed(tag: re.Match[str]) -> str:
    """`<title/>` closes itself in XHTML; an HTML parser would take the rest of the page for its content."""
    return tag[0] if tag[1].lower() in VOID else f"<{tag[1]}{tag[2]}></{tag[1]}>"


def _shallow(text: str, tags: re.Pattern[str]) -> str:
    """The text without the tags that are nested too deeply for the parser."""
    depth, position = 0, 0
    parts: list[str] = []
    for tag in tags.finditer(text):
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        if depth > MOST_OPEN or (tag[1] and depth == MOST_OPEN):
            parts.append(text[position : tag.start()])
            position = tag.end()
    return "".join([*parts, text[position:]]) if parts else text


def _flatten(page: Any) -> None:
    level = [page]
    for _ in range(MOST_DEPTH):
        level = [child for element in level for child in element]
    for element in level:
        if isinstance(element.tag, str) and len(element):
            text = " ".join("\n".join(lines_of(element)).split())
            for child in list(element):
                element.remove(child)
            element.text, element.tag = text, PARTS.get(name_of(element.getparent()), "div")


def name_of(element: Any) -> str:
    """The name of an element's tag, lower case; empty for comments and the like."""
    return element.tag.lower() if isinstance(element.tag, str) else ""


def words_of(element: Any, attribute: str) -> list[str]:
    return str(element.get(attribute) or "").split()


def role_of(element: Any) -> str:
    role = element.get("role")
    return role.strip().lower().partition(" ")[0] if role else ""


def style_of(element: Any) -> dict[str, str]:
    """The properties of an element's own style."""
    style = element.get("style")
    if not style:
        return {}
    parts = (part.partition(":") for part in style.lower().split(";"))
    return {name.strip(): value.replace("!important", "").strip() for name, _, value in parts if value}


def elements(root: Any, *names: str) -> list[Any]:
    """`root` and the elements below it that have one of these names, in order; all elements if no name is given."""
    return list(root.iter(*names)) if names else [element for element in root.iter() if isinstance(element.tag, str)]


def within(element: Any, *names: str) -> bool:
    return any(name_of(parent) in names for parent in element.iterancestors())


def is_block(element: Any) -> bool:
    return name_of(element) in BLOCKS or style_of(element).get("display", "") in ("block", "flex", "grid", "table")


def text_of(element: Any) -> str:
    """The text of an element in one line."""
    return " ".join(lines_of(element))


def size_of(element: Any) -> int:
    """How many characters other than white space an element holds."""
    return sum(len("".join(text.split())) for text in element.itertext())


def is_empty(element: Any) -> bool:
    """Whether an element shows no text."""
    return not any(text.strip() for text in element.itertext())


def says_something(text: str) -> bool:
    return any(map(str.isalnum, text))


def lines_of(element: Any) -> list[str]:
    """The text of an element, one string for each block and each line."""
    parts: list[str] = [str(element.text or "")]
    silent = 0
    walk = etree.iterwalk(element, events=("start", "end"))
    for event, node in walk:
        if node is element:
            continue
        name = name_of(node)
        if event == "start":
            silent += name in SILENT
            parts.append("\0" if name == "br" or is_block(node) else " " * _is_link_beside_link(node))
            parts.append(str(node.text or "") if not silent else "")
        else:
            silent -= name in SILENT
            parts.append("\0" if is_block(node) else "")
            parts.append(str(node.tail or "") if not silent else "")
    lines = (" ".join(UNSEEN.sub("", line).split()) for line in "".join(parts).split("\0"))
    return [line for line in lines if line]


def _is_link_beside_link(element: Any) -> bool:
    """Whether only a margin separates a link from the one before it."""
    before = element.getprevious()
    names = ("a", "button")
    return before is not None and name_of(element) in names and name_of(before) in names and not before.tail


def is_site_name(heading: Any) -> bool:
    """Whether a heading is the name of the site: mostly a link to its home page."""
    links = list(heading.iter("a"))
    return (
        bool(links)
        and size_of(links[0]) * 2 > size_of(heading)
        and HOME.fullmatch(links[0].get("href") or "") is not None
    )


def remove(element: Any) -> None:
    """Remove an element; the text after it stays, separated from the text before it if the element was a block."""
    if element.getparent() is None:
        return
    if is_block(element) and element.tail and element.tail.strip():
        element.tail = f" {element.tail}"
    element.drop_tree()


def unwrap(element: Any) -> None:
    """Replace an element with its content."""
    if element.getparent() is not None:
        element.drop_tag()


def replace(element: Any, text: str) -> None:
    """Replace an element with a text."""
    if element.getparent() is not None:
        element.tail = text + (element.tail or "")
        element.drop_tree()


def make(name: str, text: str = "", *children: Any) -> Any:
    element = lxml.html.Element(name)
    element.text = text or None
    element.extend(children)
    return element


def link_share(element: Any) -> float:
    """The share of an element's text that is in links."""
    whole = size_of(element)
    links = [link for link in element.iter("a") if link.get("href") is not None and not within_of(link, element, "a")]
    return sum(map(size_of, links)) / whole if whole else 0.0


def within_of(element: Any, root: Any, *names: str) -> bool:
    """Whether an element below `root` is within one of these."""
    for parent in element.iterancestors():
        if parent is root:
            return False
        if name_of(parent) in names:
            return True
    return False


def outermost(found: Iterable[Any]) -> Iterator[Any]:
    """Of elements in page order, those that are not within another one."""
    taken: set[Any] = set()
    for element in found:
        if not any(parent in taken for parent in element.iterancestors()):
            taken.add(element)
            yield element


@dataclass(slots=True)
class LeftOut:
    """The lines that were taken out of a page; those without a letter or digit are not recorded."""

    lines: list[str] = field(default_factory=list)

    def take(self, element: Any) -> None:
        self.say(*lines_of(element))
        remove(element)

    def say(self, *lines: str) -> None:
        self.lines += (line for line in lines if says_something(line))

    def told(self) -> tuple[str, ...]:
        """Each line once."""
        return tuple(dict.fromkeys(self.lines))

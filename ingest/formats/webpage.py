"""HTML -> Markdown: the main text, without the page's frame."""

import re
from collections.abc import Iterable
from copy import deepcopy
from html import unescape
from typing import Any

import lxml.html
from lxml import etree
from markdownify import MarkdownConverter
from readability import Document as Readability

from ingest.formats.encoding import decoded
from ingest.formats.extract import Extract, UnreadableError
from ingest.formats.markdown import formula, lowered, raised
from ingest.formats.mathematics import mathml_to_tex

DROPPED = (
    "script", "style", "noscript", "template", "nav", "aside", "footer", "form", "button", "iframe", "object", "embed",
    "svg", "canvas", "video", "audio", "dialog", "select", "textarea", "input", "link", "meta",
)  # fmt: skip
FRAME = re.compile(
    r"(?:^|[-_ ])(?:nav|navbar|menu|sidebar|side-bar|breadcrumbs?|comments?|comment-list|share|share-bar|sharing|social"
    r"|related|recommend(?:ed|ation)?s?|advert\w*|ads?|footer|copyright|cookie\w*|popup|toolbar|pagination|pager)"
    r"(?:$|[-_ ])",
    re.IGNORECASE,
)
NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
MARK = "data-place"
BLOCKS = ("p", "li", "pre", "table", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "dd", "td")
# What readability leaves below this share of the page's text, it has misjudged.
MIN_SHARE = 0.3
MIN_ALT = 4
FILE_NAME = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|bmp)$", re.IGNORECASE)
# Rows and columns over which a cell may go; more are a mistake, or made to do harm.
MOST_SPAN = 100
MOST_COPIES = 5_000


class _Converter(MarkdownConverter):
    def convert_a(self, element: Any, text: str, parent_tags: set[str]) -> str:
        return text

    def convert_img(self, element: Any, text: str, parent_tags: set[str]) -> str:
        """What the picture shows, where somebody has written it down; the name of a file says nothing."""
        said = " ".join(str(element.get("alt") or "").split())
        return "" if len(said) < MIN_ALT or FILE_NAME.search(said) else said

    def convert_sup(self, element: Any, text: str, parent_tags: set[str]) -> str:
        return raised(text)

    def convert_sub(self, element: Any, text: str, parent_tags: set[str]) -> str:
        return lowered(text)


def read(data: bytes) -> Extract:
    source, warnings = decoded(data, declares=True)
    page = parse(source)
    title = " ".join((page.findtext(".//title") or "").split())
    _keep_formulas(page)
    body = page.find(".//body")
    root = page if body is None else body
    _drop_frame(root)
    text = to_markdown(_main(root))
    return Extract(text, title=title, warnings=warnings)


def parse(text: str) -> Any:
    """The tree of an HTML text. Raises UnreadableError where there is none."""
    # lxml refuses characters that XML has not, and a declared encoding in text that is decoded.
    text = re.sub(r"^\s*<\?xml[^>]*\?>", "", NOT_IN_XML.sub("", text))
    try:
        page = lxml.html.document_fromstring(text, parser=lxml.html.HTMLParser(no_network=True, huge_tree=False))
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as error:
        raise UnreadableError(f"holds no HTML: {error}", hint="open it in a browser and save the page anew") from error
    return page


def to_markdown(root: Any) -> str:
    """The Markdown of an element. Its formulas must already be text."""
    for cell in root.iter("td", "th"):
        for element in cell.iter():
            if isinstance(element.tag, str):
                element.text = element.text.replace("|", r"\|") if element.text else element.text
            if element is not cell and element.tail:
                element.tail = element.tail.replace("|", r"\|")
    _lay_out_tables(root)
    html = lxml.html.tostring(root, encoding="unicode")
    converter = _Converter(
        heading_style="ATX", bullets="-", escape_asterisks=False, escape_underscores=False, escape_misc=False,
        code_language_callback=_language, table_infer_header=True, newline_style="BACKSLASH",
    )  # fmt: skip
    text = str(converter.convert(html))
    lines = (line.rstrip().removesuffix("\\") if "\\" in line[-3:] else line.rstrip() for line in text.splitlines())
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"


def _lay_out_tables(root: Any) -> None:
    """A cell that goes over several rows or columns stands in all of them, as Markdown has one cell for each place."""
    copies = 0
    for table in root.iter("table"):
        going_on: dict[int, tuple[Any, int]] = {}  # by column: a cell, and the rows that it still goes over
        for row in table.iter("tr"):
            column, cells = 0, [cell for cell in row if cell.tag in ("td", "th")]
            for cell in [*cells, None]:
                while column in going_on and copies < MOST_COPIES:
                    above, rows = going_on.pop(column)
                    copies += 1
                    row.insert(len(row) if cell is None else row.index(cell), deepcopy(above))
                    if rows > 1:
                        going_on[column] = above, rows - 1
                    column += 1
                if cell is None:
                    break
                across, down = (_span(cell, name) for name in ("colspan", "rowspan"))
                for name in ("colspan", "rowspan"):
                    cell.attrib.pop(name, None)
                cell.tail = None
                for place in range(across):
                    if place and copies < MOST_COPIES:
                        copies += 1
                        row.insert(row.index(cell) + place, deepcopy(cell))
                    if down > 1:
                        going_on[column + place] = cell, down - 1
                column += across


def _span(cell: Any, name: str) -> int:
    value = str(cell.get(name, "1")).strip()
    return min(int(value), MOST_SPAN) if value.isdecimal() and int(value) > 0 else 1


def extract_fragment(text: str) -> str:
    """The Markdown of a whole page that has no frame, such as a chapter of a book."""
    page = parse(text)
    _keep_formulas(page)
    for element in list(page.iter("script", "style", "head")):
        _remove(element)
    return to_markdown(page)


def _language(element: Any) -> str:
    names = [*(element.get("class") or []), *((element.code or {}).get("class", []) if element.code else [])]
    for name in names:
        match = re.fullmatch(r"(?:language|lang|brush:?)-?([\w+#-]+)", str(name))
        if match:
            return match[1]
    return ""


def _keep_formulas(page: Any) -> None:
    """Formulas in the ways that pages hold them become TeX between dollar signs."""
    for element in list(page.iter("script")):
        kind = element.get("type") or ""
        if kind.startswith("math/tex"):
            _replace(element, formula(unescape(element.text or ""), display="display" in kind))
    # KaTeX and MathJax draw a formula twice: for the eye, and as MathML for screen readers.
    for element in list(page.xpath("//*[contains(concat(' ', @class, ' '), ' katex-html ')]")):
        _remove(element)
    for element in list(page.xpath("//*[contains(@class, 'MathJax') and not(.//math)]")):
        _remove(element)
    for element in list(page.iter("math")):
        display = element.get("display") == "block" or any(
            "katex-display" in (parent.get("class") or "") for parent in element.iterancestors()
        )
        _replace(element, formula(mathml_to_tex(element), display=display))
    for element in list(page.iter("img")):
        if re.search(r"\b(?:math|latex|tex|equation)\b", element.get("class") or "") and element.get("alt"):
            _replace(element, formula(element.get("alt"), display=False))


def _replace(element: Any, text: str) -> None:
    parent = element.getparent()
    if parent is None:
        return
    if text.startswith("$$"):
        # Lines of their own survive as preformatted text without a fence only in a paragraph with breaks.
        block = lxml.html.Element("p")
        block.text = f"$$ {text[2:-2].strip()} $$"
        block.tail = element.tail
        parent.replace(element, block)
    else:
        element.tail = text + (element.tail or "")
        _remove(element)


def _remove(element: Any) -> None:
    if element.getparent() is not None:
        element.drop_tree()


def _drop_frame(root: Any) -> None:
    for element in list(root.iter(*DROPPED)):
        if element is not root:
            _remove(element)
    for element in list(root.iter(etree.Element)):
        style = (element.get("style") or "").replace(" ", "")
        names = f"{element.get('class') or ''} {element.get('id') or ''}"
        hidden = element.get("hidden") is not None or "display:none" in style or element.get("aria-hidden") == "true"
        framed = FRAME.search(names) is not None and element.tag not in ("body", "article", "main", "pre", "code")
        # A frame that holds most of the page is no frame.
        if element is not root and (hidden or (framed and not _holds_most(element, root))):
            _remove(element)


def _holds_most(element: Any, root: Any) -> bool:
    return len(element.text_content()) * 2 > len(root.text_content())


def _main(root: Any) -> Any:
    """The element with the main text: a single `article` or `main`, else where readability finds it."""
    whole = len("".join(root.text_content().split()))
    for name in ("article", "main"):
        found = list(root.iter(name))
        if len(found) == 1 and len("".join(found[0].text_content().split())) > MIN_SHARE * whole:
            return found[0]
    places = list(root.iter(*BLOCKS))
    for place, element in enumerate(places):
        element.set(MARK, str(place))
    try:
        summary = Readability(lxml.html.tostring(root, encoding="unicode")).summary(html_partial=True)
        kept = [places[int(name)] for name in re.findall(rf'{MARK}="(\d+)"', summary)]
    except Exception:  # it gives up on odd pages in many ways; the whole page is what is left then
        kept = []
    chosen = _common(kept, root)
    return chosen if len("".join(chosen.text_content().split())) > MIN_SHARE * whole else root


def _common(elements: Iterable[Any], root: Any) -> Any:
    """The innermost element that holds all of these: what stands between them belongs to the text, too."""
    common: list[Any] | None = None
    for element in elements:
        path = [element, *element.iterancestors()][::-1]
        if common is None:
            common = path[:-1]
        else:
            common = [one for one, other in zip(common, path, strict=False) if one is other]
    return common[-1] if common and root in common else root

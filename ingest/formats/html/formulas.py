"""Turns formulas, in every form that pages use, into TeX between dollar signs, each once."""

import re
from html import unescape
from typing import Any

from ingest.formats.html.tree import make, name_of, remove, replace
from ingest.formats.markdown import formula
from ingest.formats.mathematics import mathml_to_tex

# Formula renderers put several renderings into one element: visible, for screen readers, a picture.
DRAWN = re.compile(r"(?:^|\s)(?:katex(?:-display)?|MathJax\w*|MJX\w*|mjx-\S+|mwe-math-element\S*|mathjax\S*)(?=\s|$)")
# Attributes in which editors keep the TeX of a formula that they draw.
SOURCES = ("data-tex", "data-latex", "data-formula", "data-math", "data-katex", "data-expr")
PICTURE = re.compile(r"\b(?:math|latex|tex|equation|formula)\b")
DISPLAYED = re.compile(r"display|block", re.IGNORECASE)


def keep_formulas(page: Any) -> None:
    _from_scripts(page)
    for math in list(page.iter("math")):
        _put(_drawing(math), mathml_to_tex(math), display=_is_displayed(math))
    for drawing in page.xpath("//*[contains(@class, 'katex-html')]"):
        drawing.attrib.pop("aria-hidden", None)  # if nothing else is there, this is the text
    for attribute in SOURCES:
        for element in list(page.xpath(f"//*[@{attribute}]")):
            tex = unescape(str(element.get(attribute)))
            if element.getparent() is not None and tex.strip() and name_of(element) not in ("pre", "code", "textarea"):
                _put(_drawing(element), tex, display=_is_displayed(element))
    for picture in list(page.iter("img")):
        alt = str(picture.get("alt") or "")
        is_formula = PICTURE.search(str(picture.get("class") or "")) or picture.get("eeimg")
        if is_formula and alt.strip():
            _put(picture, alt, display=_is_displayed(picture))


def _from_scripts(page: Any) -> None:
    """Formulas in `<script type="math/tex">` of MathJax 2, whose renderings are beside or around it."""
    for script in list(page.iter("script")):
        kind = str(script.get("type") or "")
        if not kind.startswith("math/tex"):
            continue
        beside = script.getprevious()
        while beside is not None and _is_drawing(beside) and not (beside.tail or "").strip():
            before = beside.getprevious()
            remove(beside)
            beside = before
        for parent in script.iterancestors():
            if _is_drawing(parent):  # the preview and the rendering are around it
                parent.addnext(script)
                break
        _put(script, unescape(script.text or ""), display="display" in kind)


def _is_drawing(element: Any) -> bool:
    name = name_of(element)
    return name.startswith("mjx-") or (bool(name) and DRAWN.search(str(element.get("class") or "")) is not None)


def _drawing(element: Any) -> Any:
    """The outermost element around a formula that holds nothing but its renderings."""
    found = element
    for parent in element.iterancestors():
        if _is_drawing(parent):
            found = parent
        elif len(parent) > 1 or (parent.text or "").strip() or (parent[0].tail or "").strip():
            break
    return found


def _is_displayed(element: Any) -> bool:
    for part in (element, *element.iterancestors()):
        if part.get("display") in ("block", "true"):
            return True
        if part is not element and name_of(part) in ("p", "li", "td", "th", "div", "body"):
            return "display" in str(part.get("class") or "").lower() and _is_drawing(part)
        if DISPLAYED.search(str(part.get("class") or "")) and _is_drawing(part):
            return True
    return False


def _put(element: Any, tex: str, *, display: bool) -> None:
    parent = element.getparent()
    if parent is None:
        return
    text = formula(tex.strip().strip("$"), display=display)
    if text.startswith("$$"):
        block = make("p", f"$$ {text[2:-2].strip()} $$")
        block.tail = element.tail
        parent.replace(element, block)
    else:
        replace(element, text)

"""Properties that a page's own style sheets give to classes and ids: hidden, raised, struck through, line breaks kept.

Saved pages include their styles, and word processors use classes where others use elements. Only rules for a single
class or id are read, and only these properties.
"""

import re
from typing import Any

from ingest.formats.html.tree import elements, words_of

MOST_CHARACTERS = 2_000_000
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SELECTOR = re.compile(r"\s*[a-z0-9]*([.#][\w-]+)\s*")
PROPERTY = re.compile(
    r"(?:^|;)\s*(display|visibility|vertical-align|text-decoration|text-decoration-line|white-space)\s*:\s*([^;]+)"
)
CLASS = re.compile(r"\.((?:[\w-]|\\.)+)")
# Rules within these blocks apply only sometimes; within others (`@layer`) they always apply.
AT_TIMES = re.compile(r"@(?:media|supports|container|keyframes|page|font-face)")


def write_styles(page: Any) -> None:
    """Copy the properties that the style sheets give an element into its own style."""
    found, shown = _read(page)
    if not found:
        return
    for element in elements(page):
        marks = [f".{name}" for name in words_of(element, "class")]
        marks += [f"#{element.get('id')}"] if element.get("id") else []
        said: dict[str, str] = {}
        for mark in marks:
            said.update(found.get(mark, {}))
        if said.get("display") == "none" and any(mark in shown for mark in marks):
            del said["display"]  # hidden on some screens only
        said = {
            name: value for name, value in said.items() if (name == "display" and value == "none") or name != "display"
        }
        if said:
            own = str(element.get("style") or "")
            element.set("style", "; ".join([*(f"{name}: {value}" for name, value in said.items()), own]))


def _read(page: Any) -> tuple[dict[str, dict[str, str]], set[str]]:
    """The properties by class or id, and the classes for which some rule shows the element."""
    found: dict[str, dict[str, str]] = {}
    shown: set[str] = set()
    for sheet in page.iter("style"):
        if "print" in str(sheet.get("media") or ""):
            continue
        text = COMMENT.sub("", "".join(sheet.itertext())[:MOST_CHARACTERS].lower())
        for selectors, body, at_times in _rules(text):
            properties = {name: value.replace("!important", "").strip() for name, value in PROPERTY.findall(body)}
            shows = properties.get("display", "none") != "none" or properties.get("visibility") == "visible"
            for selector in selectors.split(",") if properties else ():
                if shows:
                    shown.update(f".{name}" for name in CLASS.findall(selector.replace("\\", "")))
                whole = SELECTOR.fullmatch(selector)
                if whole and not at_times:
                    found.setdefault(whole[1], {}).update(properties)
    return found, shown


def _rules(text: str) -> list[tuple[str, str, bool]]:
    """The selectors and body of each rule, and whether it is in a block that applies only sometimes."""
    rules: list[tuple[str, str, bool]] = []
    open_blocks: list[bool] = []
    position = 0
    for brace in re.finditer(r"[{}]", text):
        head = text[position : brace.start()]
        position = brace.end()
        if brace[0] == "{":
            open_blocks.append(AT_TIMES.match(head.strip()) is not None)
            rules.append((head.strip(), "", any(open_blocks)))
        elif open_blocks:
            open_blocks.pop()
            if rules and not rules[-1][1]:
                rules[-1] = (rules[-1][0], head, rules[-1][2])
    return [rule for rule in rules if rule[1] and not rule[0].startswith("@")]

"""The XML of Office files, by local names: the namespaces of the two editions of the standard differ."""

from collections.abc import Iterable, Iterator
from typing import Any

from ingest.formats.markdown import formula, lowered, raised
from ingest.formats.mathematics import OMML, omml_to_tex

# Deleted text, and fallbacks for old programs.
SKIPPED = frozenset({"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr", "fldData", "sdtPr", "sdtEndPr"})
# Content controls, custom XML, smart tags, insertions.
WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo"})
# Properties by which a run does not count as text: struck out, hidden.
NO_TEXT = frozenset({"strike", "dstrike", "vanish"})
ON, OFF = ("1", "true", "on"), frozenset({"0", "false", "off", "none"})


def local_name(element: Any) -> str:
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def attribute(element: Any, name: str, default: str = "") -> str:
    """An attribute by its local name."""
    for key, value in element.attrib.items():
        if key.rsplit("}", 1)[-1] == name:
            return str(value)
    return default


def relation(element: Any, name: str = "id") -> str:
    """The relationship to which an element refers."""
    for key, value in element.attrib.items():
        if key.endswith(f"/relationships}}{name}"):
            return str(value)
    return ""


def child(element: Any, *path: str) -> Any:
    """The first element at the end of a path of names; None if there is none."""
    for name in path:
        if element is None:
            return None
        element = next((one for one in element if local_name(one) == name), None)
    return element


def value(element: Any, *path: str) -> str | None:
    """The attribute `val` of the element at the end of a path; None if there is no such element."""
    found = child(element, *path)
    return None if found is None else attribute(found, "val")


def number(text: str | None, default: int = 0, *, most: int = 1_000_000_000) -> int:
    """A whole number from an attribute, within bounds; the default for anything else."""
    digits = (text or "").strip()
    if not digits.removeprefix("-").isdecimal() or len(digits) > 12:
        return default
    return max(-most, min(int(digits), most))


def is_on(switch: Any) -> bool:
    """Whether a switch such as `<w:b/>` is on, as it is without a value."""
    return attribute(switch, "val", "true") not in OFF


def children(element: Any, name: str) -> Iterable[Any]:
    """The children with a name, including those within content controls and the like."""
    return (child for child in unwrapped(element) if local_name(child) == name)


def unwrapped(element: Any) -> Iterator[Any]:
    """An element's children, with wrappers replaced by their own children."""
    stack = list(element)[::-1]
    while stack:
        child = stack.pop()
        if local_name(child) in WRAPPERS:
            stack += list(child)[::-1]
        else:
            yield child


def shown_form(alternatives: Any) -> Iterable[Any]:
    """The content of the first of several alternative forms (`mc:AlternateContent`)."""
    forms = [form for form in alternatives if local_name(form) in ("Choice", "Fallback")]
    return list(forms[0]) if forms else []


def formulas(element: Any) -> str | None:
    """The TeX of a formula element, or of several displayed ones; None for any other."""
    if element.tag == f"{OMML}oMathPara":
        return "".join(f"\n{formula(omml_to_tex(math), display=True)}\n" for math in element.iter(f"{OMML}oMath"))
    return formula(omml_to_tex(element), display=False) if element.tag == f"{OMML}oMath" else None


def text_of(element: Any) -> str:
    """The text of a paragraph by itself; formulas as TeX."""
    parts: list[str] = []
    # Not recursive: documents may be nested deeper than Python's stack.
    stack = list(element)[::-1]
    while stack:
        child = stack.pop()
        name = local_name(child)
        said = formulas(child)
        if said is not None:
            parts.append(said)
        elif name == "t":
            parts.append(child.text or "")
        elif name in ("tab", "ptab"):
            parts.append("\t")
        elif name in ("br", "cr"):
            parts.append("\n")
        elif name == "noBreakHyphen":
            parts.append("-")
        elif name == "r" and (said := _off_the_line(child)) is not None:
            parts.append(said)
        elif name not in SKIPPED:
            stack += list(child)[::-1]
    return "".join(parts)


def _off_the_line(run: Any) -> str | None:
    """The text of a run that is raised, lowered, struck out or hidden; None for any other."""
    properties = child(run, "rPr")
    if properties is None:
        return None
    if properties.get("strike", "noStrike") != "noStrike" or any(
        local_name(one) in NO_TEXT and is_on(one) for one in properties
    ):
        return ""
    place = place_of(properties)
    if not place:
        return None
    return (raised if place > 0 else lowered)("".join(text.text or "" for text in run if local_name(text) == "t"))


def place_of(properties: Any) -> int:
    """1 for a run that is raised, -1 for one that is lowered, else 0."""
    baseline = number(properties.get("baseline"))  # in thousandths of a percent, of PowerPoint
    if baseline:
        return 1 if baseline > 0 else -1
    return {"superscript": 1, "subscript": -1}.get(value(properties, "vertAlign") or "", 0)

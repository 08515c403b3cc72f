"""What Word and PowerPoint files have in common: paragraphs of runs and formulas, and tables."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ingest.formats.markdown import formula, lowered, raised, table
from ingest.formats.mathematics import OMML, omml_to_tex

# Deleted text, and the second form of what old programs cannot show.
SKIPPED = frozenset({"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr", "fldData", "sdtPr", "sdtEndPr"})
# Content controls, custom XML, smart tags, insertions.
WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo"})
# Properties of a run that make it no text: struck out, hidden.
NO_TEXT = frozenset({"strike", "dstrike", "vanish"})


# Columns over which a cell may go.
MOST_COLUMNS = 100


def local_name(element: Any) -> str:
    return element.tag.rsplit("}", 1)[-1] if isinstance(element.tag, str) else ""


def text_of(element: Any) -> str:
    """The text of a paragraph; formulas as TeX."""
    parts: list[str] = []
    _collect(element, parts)
    return "".join(parts)


def _collect(element: Any, parts: list[str]) -> None:
    # Not recursive: documents may be nested deeper than Python's stack.
    stack = list(element)[::-1]
    while stack:
        child = stack.pop()
        name = local_name(child)
        if child.tag == f"{OMML}oMathPara":
            parts += [formula(omml_to_tex(math), display=True) for math in child.iter(f"{OMML}oMath")]
        elif child.tag == f"{OMML}oMath":
            parts.append(formula(omml_to_tex(child), display=False))
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


def _off_the_line(run: Any) -> str | None:
    """The text of a run that is raised, lowered, struck out or hidden; None for any other."""
    properties = next(iter(children(run, "rPr")), None)
    if properties is None:
        return None
    if properties.get("strike", "noStrike") != "noStrike" or any(
        local_name(child) in NO_TEXT and _is_on(child) for child in properties
    ):
        return ""
    baseline = properties.get("baseline", "0")  # in thousandths of a percent, of PowerPoint
    align = next((value for child in children(properties, "vertAlign") for value in child.attrib.values()), "")
    if align == "superscript" or (baseline.isdecimal() and baseline != "0"):
        return raised("".join(text.text or "" for text in run if local_name(text) == "t"))
    if align == "subscript" or (baseline.startswith("-") and baseline != "-0"):
        return lowered("".join(text.text or "" for text in run if local_name(text) == "t"))
    return None


def _is_on(switch: Any) -> bool:
    return next(iter(switch.attrib.values()), "true") not in ("0", "false", "off", "none")


def children(element: Any, name: str) -> Iterable[Any]:
    """The children of a name, those within content controls and the like as well."""
    return (child for child in unwrapped(element) if local_name(child) == name)


def unwrapped(element: Any) -> Iterator[Any]:
    """The children of an element, with those of what only wraps others in its place."""
    stack = list(element)[::-1]
    while stack:
        child = stack.pop()
        if local_name(child) in WRAPPERS:
            stack += list(child)[::-1]
        else:
            yield child


def table_of(element: Any, width: Callable[[Any], int]) -> str:
    """The Markdown of a table element (`tbl`); `width` says over how many columns a cell goes."""
    rows: list[list[str]] = []
    for row in children(element, "tr"):
        cells: list[str] = []
        for cell in children(row, "tc"):
            paragraphs = (text_of(paragraph) for paragraph in cell.iter() if local_name(paragraph) == "p")
            text = " ".join(filter(None, paragraphs))
            if _goes_on(cell) and rows and len(cells) < len(rows[-1]):
                text = rows[-1][len(cells)]
            cells += [text] * min(width(cell), MOST_COLUMNS)
        rows.append(cells)
    return table(rows)


def _goes_on(cell: Any) -> bool:
    """Whether a cell is part of the one above it."""
    if cell.get("vMerge") in ("1", "true"):  # of PowerPoint
        return True
    merges = [merge for properties in children(cell, "tcPr") for merge in children(properties, "vMerge")]
    return any(next(iter(merge.attrib.values()), "continue") == "continue" for merge in merges)

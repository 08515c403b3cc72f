"""What Word and PowerPoint files have in common: paragraphs of runs and formulas, and tables."""

from collections.abc import Callable, Iterable
from typing import Any

from ingest.formats.markdown import formula, table
from ingest.formats.mathematics import OMML, omml_to_tex

# Deleted text, and the second form of what old programs cannot show.
SKIPPED = frozenset({"del", "moveFrom", "Fallback", "instrText", "pPr", "rPr", "fldData"})


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
        elif name not in SKIPPED:
            stack += list(child)[::-1]


def children(element: Any, name: str) -> Iterable[Any]:
    return (child for child in element if local_name(child) == name)


def table_of(element: Any, width: Callable[[Any], int]) -> str:
    """The Markdown of a table element (`tbl`); `width` says over how many columns a cell goes."""
    rows = []
    for row in children(element, "tr"):
        cells: list[str] = []
        for cell in children(row, "tc"):
            paragraphs = (text_of(paragraph) for paragraph in cell.iter() if local_name(paragraph) == "p")
            cells += [" ".join(filter(None, paragraphs)), *[""] * (min(width(cell), 100) - 1)]
        rows.append(cells)
    return table(rows)

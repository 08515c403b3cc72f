"""Small pieces of HTML that every room uses: outcomes, tables, files to save."""

import json
from collections.abc import Mapping, Sequence

from rag.ui.templates import macros_of

HTML = macros_of("elements.html")
Rows = Sequence[Sequence[str]]


def introduction(title: str, intro: str) -> str:
    return HTML("introduction", title=title, intro=intro)


def hint(text: str) -> str:
    return HTML("hint", text=text)


def under_way(text: str) -> str:
    return HTML("under_way", text=text)


def done(text: str) -> str:
    return HTML("done", text=text)


def problem(text: str, *, details: str = "", summary: str = "") -> str:
    """An error; a `summary` unfolds its `details`."""
    return HTML("problem", text=text, details=details, summary=summary)


def figures(rows: Rows, raw: Rows = ()) -> str:
    """A table whose first row is its head. `raw` are the same cells as files and commands call them: a different name
    becomes the cell's title."""
    pairs = [[*zip(texts, names, strict=True)] for texts, names in zip(rows, raw or rows, strict=True)]
    return HTML("figures", head=pairs[0], rows=pairs[1:])


def parcel(moment: str, value: Mapping[str, str]) -> str:
    """A file for the browser to save; `moment` makes it unique."""
    return HTML("parcel", moment=moment, value=json.dumps(value, ensure_ascii=False))

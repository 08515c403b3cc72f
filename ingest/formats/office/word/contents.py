"""Finds the paragraphs of a Word document that are a table of contents, made by a field."""

import re
from typing import Any

from ingest.formats.office_xml import attribute, local_name, value

LISTS = re.compile(r"\s*TOC\b")
GALLERY = "Table of Contents"
MOST_FIELDS = 50


def is_contents(control: Any) -> bool:
    """Whether a content control was inserted as a table of contents."""
    return (
        value(next((one for one in control if local_name(one) == "sdtPr"), None), "docPartObj", "docPartGallery")
        == GALLERY
    )


def contents_paragraphs(body: Any) -> set[Any]:
    """The paragraphs between the beginning and the end of such a field. A field without an end does not count."""
    found: set[Any] = set()
    paragraphs: list[Any] = []
    open_fields: list[tuple[int, list[str]]] = []
    after: Any = None  # the paragraph in which a list has ended
    for one in body.iter():
        name = local_name(one)
        if name == "p":
            paragraphs.append(one)
            after = None
        elif name == "instrText" and open_fields:
            open_fields[-1][1].append(one.text or "")
        elif name == "fldChar" and paragraphs:
            kind = attribute(one, "fldCharType")
            if kind == "begin" and len(open_fields) < MOST_FIELDS:
                open_fields.append((len(paragraphs) - 1, []))
            elif kind == "end" and open_fields:
                start, instruction = open_fields.pop()
                if LISTS.match("".join(instruction)):
                    found.update(paragraphs[start:])
                    after = paragraphs[-1]
        elif name == "t" and after is not None and (one.text or "").strip():
            found.discard(after)
            after = None
    return found

"""PowerPoint presentation -> Markdown: for each slide a heading, its content and its notes."""

import io
from collections.abc import Iterable, Iterator
from typing import Any

import pptx

from ingest.formats.archive import open_archive, parsing
from ingest.formats.extract import Extract, TextBuilder
from ingest.formats.markdown import heading
from ingest.formats.office_xml import children, local_name, table_of, text_of

MAX_TITLE_CHARACTERS = 60


def read(data: bytes) -> Extract:
    open_archive(data, "PPTX").close()
    with parsing("PPTX", "pptx"):
        return _read(data)


def _read(data: bytes) -> Extract:
    presentation = pptx.Presentation(io.BytesIO(data))
    builder = TextBuilder()
    pages = []
    for number, slide in enumerate(presentation.slides, start=1):
        shape = slide.shapes.title
        blocks = list(_shapes(other for other in slide.shapes._spTree if shape is None or other is not shape._element))
        title = " ".join(text_of(shape._element).split()) if shape is not None else ""
        if not title and blocks and len(blocks[0]) <= MAX_TITLE_CHARACTERS and blocks[0][0] not in "|-$\n":
            title = blocks.pop(0)  # a deck made without the title's own place
        blocks.insert(0, heading(title or f"{number}", 2))
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            notes = "\n".join(_paragraphs(slide.notes_slide.notes_text_frame._txBody))
            if notes.strip():
                blocks.append(notes)
        pages.append(builder.add("\n\n".join(blocks)))
    return Extract(builder.text, title=presentation.core_properties.title, pages=tuple(pages))


def _shapes(elements: Iterable[Any]) -> Iterator[str]:
    """The text of shapes and tables, also of those in groups and in the first of several forms."""
    stack = list(elements)[::-1]
    while stack:
        element = stack.pop()
        name = local_name(element)
        if name == "tbl":
            yield table_of(element, _span)
        elif name == "txBody":
            text = "\n".join(_paragraphs(element, is_list=_is_list_place(element.getparent())))
            if text.strip():
                yield text
        elif name == "sp" and _is_frame(element):
            continue
        elif name != "Fallback":
            stack += list(element)[::-1]


def _places(shape: Any) -> list[str]:
    """What a shape stands for on its slide, where its layout has a place for that."""
    return [element.get("type", "obj") for element in shape.iter() if local_name(element) == "ph"]


def _is_frame(shape: Any) -> bool:
    """Date, footer and slide number stand on every slide."""
    return any(place in ("dt", "ftr", "sldNum", "hdr") for place in _places(shape))


def _is_list_place(shape: Any) -> bool:
    return any(place in ("obj", "body") for place in _places(shape))


def _paragraphs(body: Any, *, is_list: bool = False) -> Iterator[str]:
    paragraphs = [(paragraph, text_of(paragraph).strip()) for paragraph in children(body, "p")]
    filled = [(paragraph, text) for paragraph, text in paragraphs if text]
    for paragraph, text in filled:
        properties = next(iter(children(paragraph, "pPr")), None)
        level = properties.get("lvl", "0") if properties is not None else "0"
        marks = {local_name(item) for item in properties} if properties is not None else set()
        bullet = bool(marks & {"buChar", "buAutoNum"}) or (is_list and len(filled) > 1 and "buNone" not in marks)
        depth = min(int(level), 8) if level.isdecimal() else 0
        yield f"{'  ' * depth}- {text.replace(chr(10), ' ')}" if depth or bullet else text


def _span(cell: Any) -> int:
    span = cell.get("gridSpan", "1")
    return int(span) if span.isdecimal() else 1

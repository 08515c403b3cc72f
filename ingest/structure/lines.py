"""The lines of a document, each character with its place in the source."""

import re
from dataclasses import dataclass

from ingest.formats.encoding import CONTROL_CHARACTERS
from ingest.reading.loading import Document
from rag.text.mapped import MappedText

LINE_ENDS = "\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
# MathML has invisible operators, which other renderings of a formula lack.
UNSEEN = re.compile(rf"{CONTROL_CHARACTERS.pattern}|[\u2061-\u2064]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a document, and whether it is part of a code block, including its fences."""

    content: MappedText
    is_code: bool = False

    @property
    def text(self) -> str:
        return self.content.text


def lines_of(document: Document) -> list[MappedText]:
    """The lines after the front matter, without characters that cannot be seen."""
    result = []
    position = document.body_start
    for raw in document.source[document.body_start :].splitlines(keepends=True):
        text = raw.rstrip(LINE_ENDS)
        line = MappedText.copied(text, position)
        if UNSEEN.search(text):
            line = line.without(match.span() for match in UNSEEN.finditer(text))
        result.append(line)
        position += len(raw)
    return result

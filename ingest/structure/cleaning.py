"""Document -> cleaned lines. Markdown stays as written, but for extensions that only some programs understand; scraped
pages are repaired, by `scraped`."""

from dataclasses import dataclass

from ingest.reading.loading import Document, is_written_markdown
from ingest.structure.dialects import plain
from ingest.structure.lines import Line, lines_of
from ingest.structure.scraped.repair import is_scraped, repair, repair_without_markup
from rag.text.blocks import Block, code_lines
from rag.text.markdown import parse


@dataclass(frozen=True, slots=True)
class CleanedText:
    """The lines of a document, and the text removed from between them. `blocks` are the blocks of its Markdown, if its
    lines are as they were when parsed."""

    lines: list[Line]
    removed: list[str]
    blocks: tuple[Block, ...] | None = None

    @property
    def length(self) -> int:
        return sum(len(line.text) + 1 for line in self.lines) - 1


def clean(document: Document) -> CleanedText:
    """The cleaned lines of a document. Markdown keeps its fences and lists; texts without markup get theirs back."""
    raw = lines_of(document)
    removed: list[str] = []
    if not document.is_markdown:
        return CleanedText(repair_without_markup(raw, removed), removed)
    text = "\n".join(line.text for line in raw)
    blocks = parse(text)
    code = code_lines(text, blocks)
    as_written = [Line(line, number in code) for number, line in enumerate(raw)]
    lines = plain(as_written, removed) if is_written_markdown(document.name) else as_written
    if is_scraped(document.name, lines):
        return CleanedText(repair(lines, removed), removed)
    return CleanedText(lines, removed, blocks if lines == as_written else None)

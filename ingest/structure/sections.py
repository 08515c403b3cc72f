"""Cleaned lines -> a tree of sections: chapters, numbered questions, headings, and the blocks of text below them."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ingest.reading.loading import Document
from ingest.structure.cleaning import clean
from ingest.structure.lines import Line
from ingest.structure.scraped.questions import question_lines, title_line, unmarked_headings, without_answer_marks
from rag.language.ends import QUESTION_MARKS, ends_with
from rag.text.blocks import Block, BlockKind
from rag.text.mapped import MappedText
from rag.text.markdown import parse


@dataclass(frozen=True, slots=True)
class Part:
    """A block and its text: the offsets of `block` are those in `content`."""

    content: MappedText
    block: Block

    @property
    def body(self) -> str:
        return self.content.text[self.block.body_start : self.block.body_end]


def cut_out(whole: MappedText, block: Block) -> Part:
    """A block of a text as a part of its own."""
    return Part(whole[block.start : block.end], block.moved(-block.start))


def put_together(parts: Iterable[Part]) -> tuple[MappedText, tuple[Block, ...]]:
    """The text of parts, joined by line breaks, and its blocks."""
    contents, blocks, length = [], [], 0
    for part in parts:
        contents.append(part.content)
        blocks.append(part.block.moved(length))
        length += len(part.content) + 1
    return MappedText.join("\n", contents), tuple(blocks)


@dataclass(slots=True)
class Section:
    """A heading with the text below it. `parts` come before `children`; the root has no heading."""

    head: Part | None
    level: int
    is_question: bool = False
    parts: list[Part] = field(default_factory=list)
    children: list["Section"] = field(default_factory=list)

    @property
    def name(self) -> str:
        return "" if self.head is None else self.head.body.replace("**", "").strip()

    @property
    def heading(self) -> MappedText | None:
        return None if self.head is None else self.head.content

    @property
    def blocks(self) -> list[MappedText]:
        return [part.content for part in self.parts]

    @property
    def own_parts(self) -> list[Part]:
        """The heading and the parts directly below it."""
        return self.parts if self.head is None else [self.head, *self.parts]

    def walk(self) -> Iterator["Section"]:
        """The section and all below it, in the order of the document, by which blocks number their sections."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class StructuredDocument:
    """`removed` are the lines that cleaning removed."""

    title: str
    root: Section
    removed: tuple[str, ...] = ()


def structure(document: Document) -> StructuredDocument:
    """Clean a document and find its sections. Every line of the cleaned text is in exactly one of them, or is the
    title."""
    cleaned = clean(document)
    lines, blocks = cleaned.lines, cleaned.blocks
    title = document.title
    first = None if document.is_markdown else title_line(lines)
    if first is not None and title in ("", lines[first].text.strip()):
        title = lines[first].text.strip()
        lines = lines[first + 1 :]
    questions = question_lines(lines)
    headings = unmarked_headings(lines, questions, is_markdown=document.is_markdown)
    lines = without_answer_marks(lines, questions, headings)
    whole = MappedText.join("\n", (line.content for line in lines))
    if blocks is None or headings or len(whole) != cleaned.length:
        blocks = parse(whole.text, headings)
    root = _tree(whole, blocks, lines, questions)
    if not title:
        # In Markdown a heading without a mark names a part of the document.
        unmarked = {lines[number].text.replace("**", "").strip() for number in headings if document.is_markdown}
        first_heading = next((section.name for section in root.walk() if section.name not in {"", *unmarked}), "")
        title = first_heading or document.name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return StructuredDocument(title, root, tuple(cleaned.removed))


def _tree(whole: MappedText, blocks: Sequence[Block], lines: Sequence[Line], questions: frozenset[int]) -> Section:
    starts = list(accumulate((len(line.text) + 1 for line in lines), initial=0))
    root = Section(None, 0)
    stack = [root]
    count = 0
    for block in blocks:
        count += block.kind is BlockKind.HEADING
        part = cut_out(whole, block._replace(section=count))
        if block.kind is not BlockKind.HEADING:
            stack[-1].parts.append(part)
            continue
        is_question = bisect_right(starts, block.start) - 1 in questions or ends_with(part.content.text, QUESTION_MARKS)
        indent = len(part.content.text) - len(part.content.text.lstrip())
        heading = part.content.strip()
        moved = part.block.moved(-indent)._replace(start=0, end=len(heading))
        section = Section(Part(heading, moved), block.level, is_question=is_question)
        while stack[-1].level >= block.level:
            stack.pop()
        stack[-1].children.append(section)
        stack.append(section)
    return root

"""Cleaned lines -> a tree of sections: chapters, numbered questions, headings, and the blocks of text below them.

It knows these styles of questions: `31、…？` + `答案:`, `Q1：…`, `1. …` + `面试官想听`, `### 2. …`. Numbered lines are
questions when they count up through the document and answers follow; a numbered list inside an answer starts again at
1.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from ingest.reading.loading import Document
from ingest.structure.cleaning import CHAPTER, clean
from ingest.structure.code_blocks import Line
from rag.language.headings import NUMBERING
from rag.text.blocks import Block, BlockKind
from rag.text.mapped import MappedText
from rag.text.markdown import parse

MARKED_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
QUESTION_STYLES = (
    re.compile(r"^\s*(?:#{1,6}\s*)?(?:\*\*)?Q\s?(\d{1,3})\s*[:：.、]\s*\S"),
    re.compile(r"^\s*(?:#{1,6}\s*)?(?:\*\*)?(\d{1,3})\s*、\s*\S"),
    re.compile(r"^\s*(?:#{1,6}\s*)?(?:\*\*)?(\d{1,3})\s*[.．]\s+\S"),
)
Q = re.compile(r"\W*Q")
SUBHEADING = re.compile(r"^(?:[(（]\d{1,2}[)）]\s*\S|\d{1,2}[.．]\s?\S)[^。；;！!]{1,32}$")
ANSWER = r"(?:(?:参考|标准)?(?:答案|解答|回答)|[Aa]nswer|ANSWER)"
ANSWER_MARK = re.compile(rf"^\s*(?:\*\*{ANSWER}(?:\*\*\s*[:：]|\s*[:：]\s*\*\*)|{ANSWER}\s*[:：])\s*")
ANSWER_FOLLOWS = re.compile(rf"^\s*(?:(?:\*\*)?{ANSWER}(?:\*\*)?\s*[:：]|A\d{{0,3}}\s*[:：]|面试官想听)")
ENDS_AS_QUESTION = re.compile(r"[?？]\s*(?:\*\*\s*)?$")
ENDS_AS_SENTENCE = re.compile(r"[。！？!?；;，,、：:.…](?:[”’」』）)]*\s*$)|[。！？；]|[：:]\s*\S")
MOST_TITLE = 80
# A series without question or answer marks counts as questions if its items are this far apart (median, in lines).
MIN_SERIES = 5
MIN_MEDIAN_GAP = 5
CHAPTER_LEVEL, QUESTION_LEVEL, SUBHEADING_LEVEL = 1, 2, 4


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


def without_numbering(heading: str) -> str:
    """`31、请说明…` -> `请说明…`; `3.5 倍` stays."""
    return NUMBERING.sub("", heading)


def structure(document: Document) -> StructuredDocument:
    """Clean a document and find its sections. Every line of the cleaned text is in exactly one of them, or is the
    title."""
    cleaned = clean(document)
    lines, blocks = cleaned.lines, cleaned.blocks
    title = document.title
    first = None if document.is_markdown else _title_line(lines)
    if first is not None and title in ("", lines[first].text.strip()):
        title = lines[first].text.strip()
        lines = lines[first + 1 :]
    questions = _question_lines(lines)
    headings = _unmarked_headings(lines, questions, is_markdown=document.is_markdown)
    lines = _without_answer_marks(lines, questions, headings)
    whole = MappedText.join("\n", (line.content for line in lines))
    if blocks is None or headings or len(whole) != cleaned.length:
        blocks = parse(whole.text, headings)
    root = _tree(whole, blocks, lines, questions)
    if not title:
        first_heading = next((section.name for section in root.walk() if section.head is not None), "")
        title = first_heading or document.name.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return StructuredDocument(title, root, tuple(cleaned.removed))


def _title_line(lines: Sequence[Line]) -> int | None:
    """The number of the first line, if it reads as a title: it does not end like a sentence, and it is set apart by an
    empty line, by being much shorter than the next line, or because that is a sentence or a heading. A text of one line
    has no title."""
    said = [number for number, line in enumerate(lines) if line.text.strip()]
    if len(said) < 2:
        return None
    first, second = said[:2]
    text, following = lines[first].text.strip(), lines[second].text.strip()
    stands_apart = (
        second > first + 1
        or 2 * len(text) <= len(following)
        or bool(ENDS_AS_SENTENCE.search(following))
        or _is_any_heading(lines[second].text)
    )
    is_title = len(text) <= MOST_TITLE and not ENDS_AS_SENTENCE.search(text) and not _is_any_heading(lines[first].text)
    return first if stands_apart and is_title and not lines[first].is_code else None


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
        is_question = bisect_right(starts, block.start) - 1 in questions or bool(
            ENDS_AS_QUESTION.search(part.content.text)
        )
        indent = len(part.content.text) - len(part.content.text.lstrip())
        heading = part.content.strip()
        moved = part.block.moved(-indent)._replace(start=0, end=len(heading))
        section = Section(Part(heading, moved), block.level, is_question=is_question)
        while stack[-1].level >= block.level:
            stack.pop()
        stack[-1].children.append(section)
        stack.append(section)
    return root


def _unmarked_headings(lines: Sequence[Line], questions: frozenset[int], *, is_markdown: bool) -> dict[int, int]:
    """The level of each line that is a heading though Markdown does not mark it as one."""
    levels = {number: QUESTION_LEVEL for number in questions if not MARKED_HEADING.match(lines[number].text)}
    if is_markdown:
        return levels
    for number, line in enumerate(lines):
        text = line.text.strip()
        if line.is_code or number in questions or MARKED_HEADING.match(line.text):
            continue
        if CHAPTER.match(line.text) and len(text) <= 40:
            levels[number] = CHAPTER_LEVEL
        elif SUBHEADING.match(text) and text[-1] not in ":：,，":
            levels[number] = SUBHEADING_LEVEL
    return levels


def _without_answer_marks(lines: Sequence[Line], questions: frozenset[int], headings: dict[int, int]) -> list[Line]:
    result = list(lines)
    for number in (question + 1 for question in questions):
        if number < len(lines) and number not in headings and not lines[number].is_code:
            mark = ANSWER_MARK.match(lines[number].text)
            result[number] = Line(lines[number].content[mark.end() :]) if mark else lines[number]
    return result


def _is_any_heading(text: str) -> bool:
    return bool(
        MARKED_HEADING.match(text) or CHAPTER.match(text) or any(style.match(text) for style in QUESTION_STYLES)
    )


def _question_lines(lines: Sequence[Line]) -> frozenset[int]:
    found: set[int] = set()
    for style in QUESTION_STYLES:
        matches = [
            (index, int(match[1]), _is_marked(lines, index))
            for index, line in enumerate(lines)
            if not line.is_code and (match := style.match(line.text))
        ]
        chain = _longest_count(matches)
        if _are_questions(lines, chain, len(matches)):
            found.update(chain)
    return frozenset(found)


def _longest_count(matches: Sequence[tuple[int, int, bool]]) -> list[int]:
    """The line numbers of the longest run that counts up by one: 1, 2, 3, … or 31, 32, …

    `matches` are (line, number, whether it is marked as a question). A run of which at least half the lines are marked
    precedes any other; each number takes its first marked place in the run, or its first.
    """
    best: tuple[bool, int, int] = (False, 0, 0)
    lines_of_best: list[int] = []
    runs: dict[int, tuple[int, list[int]]] = {}  # by their last number: how many are marked, and the lines
    for index, number, is_marked in matches:
        marked, run = runs.get(number - 1, (0, []))
        marked, run = marked + is_marked, [*run, index]
        known_marked, known = runs.get(number, (0, []))
        if (len(run), marked) > (len(known), known_marked):
            runs[number] = marked, run
        worth = (2 * marked >= len(run), len(run), marked)
        if worth > best:
            best, lines_of_best = worth, run
    # A list in the last answer may continue the count, but its items are on adjacent lines.
    numbered = {index: is_marked for index, _, is_marked in matches}
    while best[2] and lines_of_best and not numbered[lines_of_best[-1]] and lines_of_best[-1] - 1 in numbered:
        lines_of_best = lines_of_best[:-1]
    return lines_of_best


def _are_questions(lines: Sequence[Line], chain: Sequence[int], match_count: int) -> bool:
    if not chain:
        return False
    texts = [lines[index].text for index in chain]
    if len(chain) >= 2 and all(Q.match(text) for text in texts):
        return True
    answered = sum(bool(ANSWER_FOLLOWS.match(_next_text(lines, index))) for index in chain)
    asked = sum(bool(ENDS_AS_QUESTION.search(text)) for text in texts)
    if 2 * answered >= len(chain) or (2 * asked >= len(chain) and len(chain) >= 2):
        return True
    gaps = sorted(b - a for a, b in pairwise(chain))
    return len(chain) >= MIN_SERIES and 2 * len(chain) > match_count and gaps[len(gaps) // 2] >= MIN_MEDIAN_GAP


def _is_marked(lines: Sequence[Line], index: int) -> bool:
    """Whether the line is a question by its ending or its numbering, or an answer follows."""
    text = lines[index].text
    return bool(Q.match(text) or ENDS_AS_QUESTION.search(text) or ANSWER_FOLLOWS.match(_next_text(lines, index)))


def _next_text(lines: Sequence[Line], index: int) -> str:
    return next((line.text for line in lines[index + 1 : index + 4] if line.text.strip()), "")

"""The statements of the indexed documents: their sentences, each an exact slice of its source.

They exclude questions, code, formulas and tables, and text that a page states as wrong on purpose: text under a heading
such as 常见错误 before the mark of the right answer (`**正确**`), and sentences introduced as hearsay.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.index.storage import StoredDocument, StoredPassage
from rag.language.claim_marks import HEARSAY, LISTS_MISTAKES, RIGHT
from rag.language.language import Language, language_of
from rag.text.blocks import PROSE, Block, BlockKind
from rag.text.sentences import UnitKind, units

QUESTION_END = re.compile(r"[？?][”」』）)*]*$")
# A shorter sentence says too little.
SHORTEST = 6


@dataclass(frozen=True, slots=True)
class Statement:
    """`source[start:end] == quote`. `text` is the same, cleaned; `passage` is the number of its passage. `section` is
    the path of headings above, outermost first."""

    document: str
    title: str
    section: tuple[str, ...]
    start: int
    end: int
    quote: str
    passage: int
    text: str

    @property
    def language(self) -> Language:
        return language_of(self.text)


def statements_of(document: StoredDocument) -> Iterator[Statement]:
    """In document order, each once. A passage that repeats another one has no statements of its own."""
    seen: set[tuple[int, int]] = set()
    for passage in document.passages:
        if passage.number is None:
            continue
        for start, end, section in _sentences(passage):
            span = passage.content.source_range(start, end)
            if span is None or span in seen:
                continue
            seen.add(span)
            yield Statement(
                document.name,
                document.title,
                section,
                *span,
                document.source[span[0] : span[1]],
                passage.number,
                passage.content.text[start:end],
            )


def _sentences(passage: StoredPassage) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The start and end of each in the passage's text, and the headings above it."""
    text, sections = passage.content.text, _sections(passage)
    wrong = _wrong_parts(text, passage.blocks, sections)
    for unit in units(text, passage.blocks):
        start = max((stop for begin, stop in wrong if begin <= unit.start < stop), default=unit.start)
        sentence = text[start : unit.end]
        if unit.kind is not UnitKind.SENTENCE or len(sentence.strip()) < SHORTEST:
            continue
        if not QUESTION_END.search(sentence) and not HEARSAY.search(sentence):
            place = bisect_right(passage.blocks, unit.start, key=lambda block: block.start) - 1
            yield start, unit.end, sections[place]


def _sections(passage: StoredPassage) -> list[tuple[str, ...]]:
    """The headings above each block: a passage may hold several sections below its own."""
    below: list[tuple[int, str]] = []
    result = []
    for block in passage.blocks:
        if block.kind is BlockKind.HEADING:
            heading = passage.content.text[block.body_start : block.body_end].strip()
            below = [each for each in below if each[0] < block.level]
            if heading not in passage.section:
                below.append((block.level, heading))
        result.append((*passage.section, *(heading for _, heading in below)))
    return result


def _wrong_parts(text: str, blocks: Sequence[Block], sections: Sequence[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Text wrong on purpose: under mistakes, a block up to the mark of what is right, or all of it."""
    parts = []
    for block, section in zip(blocks, sections, strict=True):
        if block.kind in PROSE and any(map(LISTS_MISTAKES.search, section)):
            right = RIGHT.search(text, block.start, block.end)
            parts.append((block.start, right.end() if right else block.end))
    return parts

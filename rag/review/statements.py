"""The statements of the indexed documents: their sentences, each an exact slice of its source.

They exclude questions, code, formulas and tables, and text that a page states as wrong on purpose: text under a heading
such as 常见错误 before the mark of the right answer (`**正确**`), and sentences introduced as hearsay.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rag.index.storage import StoredDocument, StoredPassage
from rag.language.claim_marks import HEARSAY, RIGHT
from rag.language.language import Language, language_of
from rag.text.blocks import PROSE, Block
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
        for start, end, section in _sentences(document, passage):
            span = passage.content.source_range(start, end)
            if span is None or span in seen:
                continue
            seen.add(span)
            quote, text = document.source[slice(*span)], passage.content.text[start:end]
            yield Statement(document.name, document.title, section, *span, quote, passage.number, text)


def _sentences(document: StoredDocument, passage: StoredPassage) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """The start and end of each in the passage's text, and the headings above it."""
    text = passage.content.text
    for block in passage.blocks:
        section = document.outline.sections[block.section]
        begin = _end_of_wrong(text, block) if section.lists_mistakes else block.start
        for unit in units(text, [block]):
            start = max(unit.start, begin)
            sentence = text[start : unit.end]
            if unit.kind is not UnitKind.SENTENCE or len(sentence.strip()) < SHORTEST:
                continue
            if not QUESTION_END.search(sentence) and not HEARSAY.search(sentence):
                yield start, unit.end, section.path


def _end_of_wrong(text: str, block: Block) -> int:
    """Where a block that lists mistakes begins to say what is right; its end, if it does not."""
    if block.kind not in PROSE:
        return block.start
    right = RIGHT.search(text, block.start, block.end)
    return right.end() if right else block.end

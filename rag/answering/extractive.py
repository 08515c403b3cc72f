"""An answer without a chat model: the section that answers, its sentences in order, each with its citation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag.index import Index
from rag.retrieval import Evidence
from rag.sentences import Unit, UnitKind, units
from rag.types import Citation, Claim, Passage

# About what is read in a minute; longer sections are cut at a passage border.
ANSWER_CHARACTERS = 900
# Other passages of the page are quoted only from the first ranks, and only if they scored nearly as well as the best.
MAX_RANK = 4
NEARLY = 0.8
# A line like `常见追问` in a document without markup heads what follows.
LABEL = re.compile(r"[\u4e00-\u9fff]{2,8}[:：]?")
# A heading may hold several sentences; a shorter text stands in one by accident.
LONG_ENOUGH = 6
# A page of the corpus opens with the answer in one sentence; it leads, whichever part of the page matched.
SHORT_ANSWER_HEADINGS = frozenset({"一句话回答", "in one sentence", "tl;dr"})


@dataclass(frozen=True, slots=True)
class Written:
    """Text of an answer with its claims and citations; `chunks` are the pieces in which it can be shown."""

    chunks: tuple[str, ...]
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]

    @property
    def text(self) -> str:
        return "".join(self.chunks).strip()


def choose_passages(index: Index, evidence: Evidence) -> list[Passage]:
    """The passages to quote, in document order: the short answer of the page, the best hit and the rest of its section,
    and passages of the same page that were found nearly as well."""
    best = evidence.hits[0]
    siblings = [
        passage
        for passage in index.storage.passages(index.storage.document_numbers(best.passage.document))
        if passage.document == best.passage.document and _same_question(passage, best.passage)
    ]
    also_good = [hit.passage for hit in evidence.hits[1:MAX_RANK] if hit.score >= NEARLY * best.score]
    wanted = [
        *(passage for passage in siblings if _is_short_answer(passage)),
        *(passage for passage in siblings if passage.section == best.passage.section),
        *(passage for passage in siblings if any(passage.number == other.number for other in also_good)),
    ]
    chosen = {best.passage.number}
    room = ANSWER_CHARACTERS - len(best.passage.text)
    for passage in wanted:
        if passage.number not in chosen and len(passage.text) <= room:
            chosen.add(passage.number)
            room -= len(passage.text)
    return [passage for passage in siblings if passage.number in chosen]


def write_extract(passages: Sequence[Passage], sources: dict[str, str]) -> Written:
    """Quote passages sentence by sentence. `sources` maps a document to its source text."""
    chunks: list[str] = []
    claims: list[Claim] = []
    citations: list[Citation] = []
    for passage in passages:
        heading = ""
        new_passage = True
        for unit in units(passage.text):
            part = passage.text[unit.start : unit.end]
            span = passage.content.source_range(unit.start, unit.end)
            if unit.kind is UnitKind.HEADING or span is None or _is_own_heading(unit, part, passage):
                heading = part.lstrip("# ").replace("**", "").strip()
                continue
            if heading and chunks and heading != passage.title:
                chunks.append(f"\n\n**{heading}**\n\n")
                new_passage = False
            marker = len(citations) + 1
            quote = sources[passage.document][span[0] : span[1]]
            citations.append(Citation(marker, passage.document, passage.title, span[0], span[1], quote))
            claims.append(Claim(part, (marker,), supported=True))
            chunk = _render(unit, part, marker)
            if new_passage and chunks:
                chunk = f"\n\n{chunk.lstrip()}"
            elif heading or not chunks or chunks[-1].endswith("\n\n"):
                chunk = chunk.lstrip()
            chunks.append(chunk)
            heading, new_passage = "", False
    return Written(tuple(chunks), tuple(claims), tuple(citations))


def _render(unit: Unit, part: str, marker: int) -> str:
    if unit.kind in (UnitKind.CODE, UnitKind.FORMULA, UnitKind.TABLE):
        return f"\n\n{part}\n\n[{marker}]\n\n"
    if unit.mark:
        return f"\n{'-' if unit.mark in '-*+•' else unit.mark} {part} [{marker}]"
    return f"\n\n{part} [{marker}]" if unit.begins_line else f" {part} [{marker}]"


def _is_own_heading(unit: Unit, part: str, passage: Passage) -> bool:
    """Headings of plain-text documents have no `#`: they are known from the passage's path, or are a bare label."""
    return (unit.begins_line and not unit.mark and bool(LABEL.fullmatch(part))) or any(
        part == name or (len(part) >= LONG_ENOUGH and part in name) for name in passage.section
    )


def _is_short_answer(passage: Passage) -> bool:
    return bool(passage.section) and passage.section[-1].lower() in SHORT_ANSWER_HEADINGS


def _same_question(passage: Passage, best: Passage) -> bool:
    """Whether both stand under the same question: the page, or one of many questions of an article."""
    depth = next((place for place, name in enumerate(best.section, start=1) if name.endswith(("?", "？"))), 1)
    return passage.section[:depth] == best.section[:depth]

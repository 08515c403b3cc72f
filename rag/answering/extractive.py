"""An answer without a chat model: the section that answers, its sentences in order, each with its citation."""

from collections.abc import Sequence
from dataclasses import dataclass

from rag.index import Index
from rag.retrieval import Evidence
from rag.sentences import Unit, UnitKind, units
from rag.types import Citation, Claim, Hit, Passage

# About what is read in a minute; longer sections are cut at a passage border.
ANSWER_CHARACTERS = 1_000
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
    """The passages to quote, in document order: the short answer of the page, the best hit, and what goes with it.

    Passages of the best hit's own question come first, then others of its page that were found too.
    """
    best = evidence.hits[0].passage
    siblings = index.storage.passages(list(dict.fromkeys(index.storage.document_numbers(best.document))))
    siblings = [passage for passage in siblings if passage.document == best.document]
    found = {hit.passage.number: hit for hit in evidence.hits}
    chosen = {best.number}
    room = ANSWER_CHARACTERS - len(best.text)
    wanted = [
        *(passage for passage in siblings if _is_short_answer(passage) and passage.section[:1] == best.section[:1]),
        *_following(siblings, best),
        *(
            passage
            for passage in sorted(siblings, key=lambda p: _rank(found, p))
            if passage.number in found and _related(passage, best)
        ),
    ]
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
    shown: set[str] = set()
    for passage in passages:
        text = passage.text
        for unit in units(text):
            part = text[unit.start : unit.end]
            span = passage.content.source_range(unit.start, unit.end)
            if unit.kind is UnitKind.HEADING or span is None or _is_own_heading(part, passage):
                heading = part.lstrip("# ").strip()
                if heading and heading not in shown and heading != passage.title and len(chunks) > 0:
                    chunks.append(f"\n\n**{heading}**\n\n")
                    shown.add(heading)
                continue
            marker = len(citations) + 1
            quote = sources[passage.document][span[0] : span[1]]
            citations.append(Citation(marker, passage.document, passage.title, span[0], span[1], quote))
            claims.append(Claim(part, (marker,), supported=True))
            chunks.append(_render(unit, part, marker))
        chunks.append("\n\n")
    return Written(tuple(chunks), tuple(claims), tuple(citations))


def _render(unit: Unit, part: str, marker: int) -> str:
    if unit.kind in (UnitKind.CODE, UnitKind.FORMULA, UnitKind.TABLE):
        return f"\n\n{part}\n\n[{marker}]\n\n"
    if unit.mark:
        return f"\n{'-' if unit.mark in '-*+•' else unit.mark} {part} [{marker}]"
    return f"\n\n{part} [{marker}]" if unit.begins_line else f" {part} [{marker}]"


def _is_own_heading(part: str, passage: Passage) -> bool:
    """Headings of plain-text documents have no `#`; they are known from the passage's path."""
    return any(
        (part.strip() and part.strip() in (name, f"**{name}**")) or (name.startswith(part.strip()) and len(part) > 8)
        for name in passage.section
    )


def _is_short_answer(passage: Passage) -> bool:
    return bool(passage.section) and passage.section[-1].lower() in SHORT_ANSWER_HEADINGS


def _following(siblings: Sequence[Passage], best: Passage) -> list[Passage]:
    """The other passages of exactly the same section, in order: a long answer that was cut."""
    return [passage for passage in siblings if passage.section == best.section]


def _related(passage: Passage, best: Passage) -> bool:
    """Under the same top heading: the same page, or the same question of an article with many."""
    return passage.section[:1] == best.section[:1] and (
        len(best.section) < 2 or passage.section[:2] == best.section[:2] or _is_page(best)
    )


def _is_page(passage: Passage) -> bool:
    return passage.section[0] == passage.title


def _rank(found: dict[int, Hit], passage: Passage) -> int:
    return found[passage.number].rank if passage.number in found else len(found) + 1

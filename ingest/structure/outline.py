"""A structured document -> its outline: what is read of a page once and stored, so that nobody reads headings again."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ingest.reading.loading import Document
from ingest.structure.sections import Section, StructuredDocument
from rag.language.headings import FOLLOW_UPS_BEGIN, FOLLOW_UPS_END, MARKED_QUESTION, QUESTION
from rag.language.language import Language
from rag.text.blocks import PROSE, Block, BlockKind
from rag.text.markdown import parse
from rag.text.page import FollowUps, Outline, PageSection, english_of
from rag.text.roles import SectionRole, role_of, translation_of

# Characters read after the heading of a section of follow-ups.
REACH = 20_000


def outline_of(document: Document, structured: StructuredDocument) -> Outline:
    """The sections are in the order in which blocks number them."""
    front_matter, names = document.front_matter, _english_names(structured.root)
    sections = _sections(structured.root, (), document.body_start)
    code = tuple(_code(structured.root))
    follow_ups = (
        one
        for one in follow_ups_in(document.source, document.body_start)
        if not any(start <= one.heading_end <= end for start, end in code)
    )
    return Outline(
        tuple(replace(section, english=_english_name(section, names)) for section in sections),
        document.body_start, _english_title(structured.root), tuple(follow_ups), code,
        front_matter.rubric, front_matter.dated, front_matter.date_field,
    )  # fmt: skip


def _sections(section: Section, above: tuple[str, ...], start: int) -> Iterator[PageSection]:
    """A section and all below it; one without a place in the source begins where the one before it does."""
    path = (*above, section.name) if section.name else above
    spans = next((part.content.spans for part in section.own_parts if part.content.spans), ())
    own = PageSection.under(path, spans[0][0] if spans else start)
    yield own
    for child in section.children:
        for below in _sections(child, path, own.start):
            yield below
            own = below


def _english_names(root: Section) -> Mapping[str, str]:
    """English names of the follow-ups, if a page repeats all of them in English: after its title in the same order."""
    asked: list[str] = []
    english: list[str] = []
    for section in root.walk():
        names = [child.name for child in section.children]
        if role_of(section.name) is SectionRole.FOLLOW_UPS:
            asked += names
        elif translation_of((section.name,)) is Language.EN:
            english += (name for name in names if role_of(name) is not SectionRole.SPOKEN)
    return dict(zip(asked, english[1:], strict=False)) if len(english) > len(asked) else {}


def _english_name(section: PageSection, names: Mapping[str, str]) -> str:
    return names.get(section.heading) or english_of(section.heading)


def _english_title(root: Section) -> str:
    """The heading right below that of the English part; empty if there is none."""
    for section in root.walk():
        if translation_of((section.name,)) is Language.EN and section.children and not section.parts:
            return section.children[0].name
    return ""


def _code(root: Section) -> Iterator[tuple[int, int]]:
    for section in root.walk():
        for part in section.parts:
            if part.block.kind is BlockKind.CODE:
                span = part.content.source_range(part.block.body_start, part.block.body_end)
                if span is not None:
                    yield span


def follow_ups_in(source: str, start: int = 0) -> Iterator[FollowUps]:
    """The follow-up questions that a text names, below headings such as `## 追问`, `**常见追问**`, `常见追问：` and
    `### Follow-up questions`: each section of them from `start` on, up to the next one."""
    headings = list(FOLLOW_UPS_BEGIN.finditer(source, start))
    ends = [*(heading.start() for heading in headings), len(source)][1:]
    for heading, end in zip(headings, ends, strict=True):
        text = source[heading.end() : min(end, heading.end() + REACH)]
        level = len(heading["marks"] or heading["english"] or "")
        yield FollowUps(heading.end(), tuple(_questions(text, _blocks_of_section(text, level or 6), level)))


def _blocks_of_section(text: str, level: int) -> Sequence[Block]:
    """The blocks of a text, at least up to the next heading of at most `level`."""
    following = re.search(rf"^#{{1,{level}}} .*", text, re.MULTILINE)
    blocks = parse(text[: following.end()]) if following else ()
    if following and blocks and blocks[-1].kind is BlockKind.HEADING and blocks[-1].end == following.end():
        return blocks
    return parse(text)  # the line may be a comment in code


def _questions(text: str, blocks: Iterable[Block], level: int) -> Iterator[str]:
    """The questions of a section whose heading has `level` marks (0: a plain line): headings, list items, and lines
    marked as questions."""
    for block in blocks:
        if block.kind is BlockKind.HEADING and block.level <= (level or 6):
            return
        if block.kind is not BlockKind.HEADING and block.kind not in PROSE:
            continue
        is_marked = block.kind in (BlockKind.HEADING, BlockKind.LIST_ITEM)
        for number, line in enumerate(text[block.body_start : block.body_end].splitlines()):
            whole = f"{block.mark} {line}" if block.mark and not number else line
            if not level and FOLLOW_UPS_END.match(whole):
                return
            question = (QUESTION if is_marked and not number else MARKED_QUESTION).match(line)
            if question:
                yield " ".join(question[1].strip("* ").split())

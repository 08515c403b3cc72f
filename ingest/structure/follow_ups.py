"""The follow-up questions that a text names, below headings such as `## 追问`, `**常见追问**`, `常见追问：` and
`### Follow-up questions`."""

from collections.abc import Iterable, Iterator

from rag.language.headings import FOLLOW_UPS_BEGIN, FOLLOW_UPS_END, MARKED_QUESTION, QUESTION
from rag.text.blocks import PROSE, Block, BlockKind
from rag.text.markdown import parse
from rag.text.page import FollowUps

# Characters read after the heading of such a section.
REACH = 20_000


def follow_ups_in(source: str, start: int = 0) -> Iterator[FollowUps]:
    """Each section of follow-ups from `start` on, up to the next one."""
    headings = list(FOLLOW_UPS_BEGIN.finditer(source, start))
    ends = [*(heading.start() for heading in headings), len(source)][1:]
    for heading, end in zip(headings, ends, strict=True):
        text = source[heading.end() : min(end, heading.end() + REACH)]
        level = len(heading["marks"] or heading["english"] or "")
        yield FollowUps(heading.end(), tuple(_questions(text, parse(text), level)))


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

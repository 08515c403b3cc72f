"""Markdown -> blocks: the one place that knows Markdown's syntax. markdown-it parses the blocks.

Notes and scraped pages are the reason for these departures from CommonMark: lines that begin with `|` are a table even
without a rule below the first; `2.` may begin a list right after a paragraph, and `•` and `1、` are list marks; a line
that has lost its indentation does not continue the list item before it; `---` below a line is a rule unless it is as
long as the line, and four spaces make no code. HTML and definitions of links are text.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rag.language.ends import BEHIND_A_COLON, COLONS, ends_with
from rag.text.blocks import LINE_BREAK, PROSE, WHOLE, Block, BlockKind, columns

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.ruler import RuleOptionsType
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

# Deeper nesting is flat text: no reader follows it, and each level costs time and a frame of the stack.
MAX_NESTING = 60
MAX_FORMULA_LINES = 200
LOOSE_MARK = re.compile(r"([•·]|\d{1,3}、)[ \t\u3000]+(?=\S)")
INTERRUPTING_MARK = re.compile(r"\d{1,2}[.)][ \t]+\S")
CONTAINER_MARK = re.compile(r"[^\s>]")
# The parser's tokens that hold no others; the last three are ours.
LEAVES = frozenset({"paragraph_open", "heading_open", "fence", "hr", "table_open", "rows", "formula", "loose_item"})
# Stands for the numbers of lists unknown to the parser; one for each kind of mark.
LOOSE = -2
LONGEST_TAIL = 40
# A rule this long may differ from the line above it by one character.
LONG_RULE = 8
# Opening and closing marks of displayed formulas.
FORMULAS = {"$$": "$$", "\\[": "\\]"}
# `> [!NOTE]` of an alert, `:::` of a container, the line below a title, folding or wrapping tags, a comment.
MARK_LINE = re.compile(
    r"\[![A-Za-z]{1,20}\]|:{3,}.{0,60}|</?(?:details|summary|div|section|center|br|p)\b[^<>]{0,200}>"
    r"|<!--(?:(?!-->).){0,2000}-->"
)
INTERRUPTS = ["paragraph", "reference", "blockquote", "list"]


def parse(text: str, headings: Mapping[int, int] | None = None) -> tuple[Block, ...]:
    """The blocks of a text in order; they cover every line that is not blank.

    `headings` are known headings without a mark, by line number, with their level. The time is linear in the length of
    the text.
    """
    lines = _Lines(text)
    # Only the line numbers of the parser's tokens are used, so it may read a stand-in with the same lines.
    source = "\n".join("" if not line or line.isspace() else line.replace("\0", "\ufffd") for line in lines.texts)
    tokens: list[Token] = []
    parser = _parser()
    parser.block.parse(source, parser, {"headings": headings or {}, "lines": lines}, tokens)
    blocks = [block for block in _from_tokens(tokens, lines) if text[block.start : block.end].strip()]
    blocks = sorted([*blocks, *_left_over(blocks, lines)])
    return tuple(_with_announcers(text, _with_list_numbers(blocks)))


def prose_of(text: str) -> str:
    """A Markdown text without its code blocks and displayed formulas."""
    left_out = [block for block in parse(text) if block.kind in (BlockKind.CODE, BlockKind.FORMULA)]
    starts = [0, *(block.end for block in left_out)]
    ends = [*(block.start for block in left_out), len(text)]
    return "".join(text[start:end] for start, end in zip(starts, ends, strict=True))


class _Lines:
    """The lines of a text, and their spans."""

    def __init__(self, text: str) -> None:
        breaks = [match.span() for match in LINE_BREAK.finditer(text)]
        self.starts = [0, *(end for _, end in breaks)]
        self.ends = [*(start for start, _ in breaks), len(text)]
        self.texts = [text[start:end] for start, end in zip(self.starts, self.ends, strict=True)]

    def until(self, first: int, last: int) -> int:
        """The line after the last nonblank one of first:last."""
        while last > first + 1 and not self.texts[last - 1].strip():
            last -= 1
        return last

    def block(self, kind: BlockKind, first: int, last: int, body: tuple[int, int] | None = None, **more: Any) -> Block:
        """A block of the lines first:last; its body is all of it unless given."""
        start, end = self.starts[first], self.ends[last - 1]
        return Block(start, end, kind, *(body or (start, end)), **more)

    @cached_property
    def formula_ends(self) -> dict[str, list[int]]:
        """The numbers of the lines that end with a closing mark, by mark."""
        ends: dict[str, list[int]] = {mark: [] for mark in FORMULAS.values()}
        for number, line in enumerate(self.texts):
            if line.rstrip().endswith(tuple(ends)):
                ends[line.rstrip()[-2:]].append(number)
        return ends

    @cached_property
    def comment_ends(self) -> list[int]:
        return [number for number, line in enumerate(self.texts) if line.rstrip().endswith("-->")]


def _from_tokens(tokens: "Sequence[Token]", lines: _Lines) -> Iterator[Block]:
    lists = quotes = 0  # how deep
    number = -1
    open_items: list[int] = []
    marks: dict[int, str] = {}  # list marks by line
    filled: set[int] = set()  # lines at which something begins
    for place, token in enumerate(tokens):
        first = token.map[0] if token.map else 0
        inside: dict[str, Any] = {
            "level": lists, "list_number": number if lists else -1, "mark": marks.get(first, ""),
        }  # fmt: skip
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                number += not lists
                lists += 1
            case "bullet_list_close" | "ordered_list_close":
                lists -= 1
            case "list_item_open":
                marks[first] = token.info + token.markup
                open_items.append(first)
            case "list_item_close":
                first = open_items.pop()
                if first not in filled:  # an item without text
                    filled.add(first)
                    yield lines.block(
                        BlockKind.LIST_ITEM,
                        first,
                        first + 1,
                        (lines.ends[first],) * 2,
                        **inside | {"mark": marks[first]},
                    )
            case "blockquote_open":
                quotes += 1
            case "blockquote_close":
                quotes -= 1
            case kind if kind in LEAVES:
                filled.add(first)
                content = tokens[place + 1].content if kind in ("paragraph_open", "heading_open") else token.content
                yield from _leaf(lines, token, content, inside, quotes)


def _leaf(lines: _Lines, token: "Token", content: str, inside: dict[str, Any], quotes: int) -> Iterator[Block]:
    """The blocks of a token without children; `inside` describes the lists around it."""
    first, last = token.map or (0, 0)
    last = lines.until(first, last)
    match token.type:
        case "heading_open" if not quotes:
            body = _span_of(lines, first, content)
            yield lines.block(BlockKind.HEADING, first, last, body, **inside | {"level": int(token.tag[1:])})
        case "paragraph_open" | "heading_open":
            yield from _prose(lines, first, last, content, inside, quotes)
        case "loose_item":
            number = LOOSE - ord(token.markup[-1])
            inside = {"level": inside["level"] + 1, "list_number": number, "mark": token.markup}
            yield from _prose(lines, first, last, content, inside, quotes)
        case "fence":
            yield _code(lines, first, last, token, inside)
        case "formula":
            start = lines.starts[first] + lines.texts[first].index(token.markup) + len(token.markup)
            end = lines.starts[last - 1] + lines.texts[last - 1].rindex(FORMULAS[token.markup])
            yield lines.block(BlockKind.FORMULA, first, last, (start, end), **inside)
        case "hr":
            yield lines.block(BlockKind.RULE, first, last, None, **inside)
        case _:
            yield lines.block(BlockKind.TABLE, first, last, None, **inside)


def _prose(lines: _Lines, first: int, last: int, content: str, inside: dict[str, Any], quotes: int) -> Iterator[Block]:
    """A paragraph; and apart from it the lines that lack the mark or indentation of its container."""
    kind = BlockKind.QUOTE if quotes else BlockKind.LIST_ITEM if inside["mark"] else BlockKind.PARAGRAPH

    def belongs(line: str) -> bool:
        if quotes:
            return line.lstrip().startswith(">")
        return not inside["level"] or line.startswith(("  ", "\t"))

    own = next((number for number in range(first + 1, last) if not belongs(lines.texts[number])), last)
    start, _ = _span_of(lines, first, content.split("\n", 1)[0])
    yield lines.block(kind, first, own, (start, lines.ends[own - 1]), **inside)
    if own < last:
        yield lines.block(BlockKind.PARAGRAPH, own, last)


def _span_of(lines: _Lines, number: int, content: str) -> tuple[int, int]:
    """The span of the last occurrence of `content` in a line, after the marks of its containers."""
    content = content.strip()
    at = lines.texts[number].replace("\0", "\ufffd").rfind(content)
    start = lines.starts[number] + at if content and at >= 0 else lines.ends[number]
    return start, start + len(content)


def _code(lines: _Lines, first: int, last: int, token: "Token", inside: dict[str, Any]) -> Block:
    opening, closing = lines.texts[first], lines.texts[last - 1].strip(" \t>")
    is_closed = last > first + 1 and len(closing) >= len(token.markup) and not closing.strip(token.markup[0])
    start = lines.starts[first + 1] if last > first + 1 else lines.ends[first]
    end = max(lines.ends[last - 2], start) if is_closed else lines.ends[last - 1]
    return lines.block(
        BlockKind.CODE, first, last, (start, end), **inside,
        language=next(iter(token.info.split()), ""),
        indent=CONTAINER_MARK.sub(" ", opening[: opening.index(token.markup)]),
    )  # fmt: skip


def _left_over(blocks: Sequence[Block], lines: _Lines) -> Iterator[Block]:
    """The lines nested too deeply for the parser."""
    covered = [False] * len(lines.texts)
    for block in blocks:
        first, last = bisect_left(lines.starts, block.start), bisect_right(lines.starts, block.end)
        covered[first:last] = [True] * (last - first)
    for number, line in enumerate(lines.texts):
        if not covered[number] and line.strip():
            yield lines.block(BlockKind.PARAGRAPH, number, number + 1)


def _with_list_numbers(blocks: Iterable[Block]) -> Iterator[Block]:
    """The lists numbered in order. A block outside lists ends the list before it."""
    number, before = -1, -1
    for block in blocks:
        number += block.list_number != -1 and block.list_number != before
        before = block.list_number
        yield block if before == -1 else block._replace(list_number=number)


def _with_announcers(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    for block, after in pairwise([*blocks, None]):
        assert block is not None
        if block.kind in PROSE and after is not None and after.kind is not BlockKind.HEADING:
            tail = text[max(block.body_start, block.body_end - LONGEST_TAIL) : block.body_end]
            leads = ends_with(tail, COLONS, behind=BEHIND_A_COLON) or (after.kind in WHOLE and not ends_with(tail))
            yield block._replace(announces=leads)
        else:
            yield block


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("zero", {"maxNesting": MAX_NESTING})
    parser.enable(["fence", "blockquote", "hr", "list", "heading", "table"])
    alternatives: RuleOptionsType = {"alt": INTERRUPTS}
    ruler = parser.block.ruler
    ruler.before("table", "rows", _rows_rule, alternatives)
    ruler.before("fence", "formula", _formula_rule, alternatives)
    ruler.before("fence", "mark", _mark_rule, alternatives)
    ruler.before("rows", "known_heading", _known_heading_rule, alternatives)
    ruler.before("rows", "underlined_heading", _underlined_heading_rule)
    ruler.before("list", "loose_item", _loose_item_rule, alternatives)
    return parser


def _line(state: "StateBlock", number: int) -> str:
    """A line without the marks of its containers."""
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def _push(state: "StateBlock", kind: str, first: int, last: int) -> "Token":
    token = state.push(kind, "", 0)
    token.map = [first, last]
    state.line = last
    return token


def _known_heading_rule(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    level = state.env["headings"].get(first)
    if level is None:
        return False
    from markdown_it.rules_block import heading

    if heading(state, first, last, silent):  # it states its own level
        return True
    if not silent:
        token = _push(state, "heading_open", first, first + 1)
        token.tag = f"h{level}"
        _push(state, "inline", first, first + 1).content = _line(state, first)
    return True


def _underlined_heading_rule(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """A line above `====`; or above `----` if that is as long as the line is wide, else that is a rule."""
    if first + 1 >= last or state.sCount[first + 1] < state.blkIndent:
        return False
    text, underline = _line(state, first).strip(), _line(state, first + 1).strip()
    if len(underline) < 3 or underline.strip(underline[:1]) or underline[0] not in "=-" or not text:
        return False
    is_as_long = abs(len(underline) - columns(text)) <= (len(underline) >= LONG_RULE)
    if text[0] in "|>" or not (underline[0] == "=" or is_as_long):
        return False
    if not silent:
        token = _push(state, "heading_open", first, first + 2)
        token.tag = "h1" if underline[0] == "=" else "h2"
        _push(state, "inline", first, first + 1).content = text
        state.line = first + 2
    return True


def _rows_rule(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    if not _line(state, first).startswith("|"):
        return False
    if not silent:
        end = first + 1
        while end < last and state.sCount[end] >= state.blkIndent and _line(state, end).startswith("|"):
            end += 1
        _push(state, "rows", first, end)
    return True


def _formula_rule(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    line = _line(state, first).rstrip()
    opening = line[:2]
    closing = FORMULAS.get(opening)
    if closing is None:
        return False
    end = first
    if not (line.endswith(closing) and len(line) > 4):
        if closing in line[2:]:
            return False
        ends = state.env["lines"].formula_ends[closing]
        place = bisect_right(ends, first)
        if place == len(ends) or not first < ends[place] < min(last, first + MAX_FORMULA_LINES):
            return False
        end = ends[place]
        if any(state.sCount[n] < state.blkIndent and not state.isEmpty(n) for n in range(first + 1, end + 1)):
            return False
    if not silent:
        _push(state, "formula", first, end + 1).markup = opening
    return True


def _mark_rule(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    """Lines without content of their own: comments, and marks for folded or separate parts."""
    line = _line(state, first).strip()
    end = first
    if line.startswith("<!--") and "-->" not in line:
        ends = state.env["lines"].comment_ends
        place = bisect_right(ends, first)
        if place == len(ends) or ends[place] >= last:
            return False
        end = ends[place]
    elif not MARK_LINE.fullmatch(line):
        return False
    if not silent:
        _push(state, "hr", first, end + 1)
    return True


def _loose_item_rule(state: "StateBlock", first: int, last: int, silent: bool) -> bool:
    line = _line(state, first)
    mark = LOOSE_MARK.match(line)
    if mark is None:
        # Only ends the paragraph: the parser's own rule finds the list itself.
        return silent and bool(INTERRUPTING_MARK.match(line))
    if not silent:
        end = first + 1
        while end < last and not state.isEmpty(end) and state.src.startswith(("  ", "\t"), state.bMarks[end]):
            end += 1
        token = _push(state, "loose_item", first, end)
        token.markup, token.content = mark[1], line[mark.end() :]
    return True

"""Rewrites extensions of Markdown as plain Markdown: comments, folds, boxes with titles, definitions, HTML tags,
footnotes, links between notes. Every character that stays keeps its place in the source; comments are reported."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence, Set
from html import unescape
from itertools import accumulate

from ingest.formats.markdown import lowered, raised
from ingest.structure.lines import Line
from rag.language.ends import INLINE_VERBATIM
from rag.text.blocks import PROSE, BlockKind
from rag.text.mapped import MappedText
from rag.text.markdown import parse

FOLD = re.compile(r"</?(?:details|summary)\b[^<>]{0,200}>", re.IGNORECASE)
HEADING = re.compile(r"\s{0,3}(#{1,6})\s")
# `:::tip Title` (VitePress, Docusaurus), `!!! note "Title"`, `??? note "Title"` and `=== "Tab"` (MkDocs).
BOX = re.compile(r'\s*(?::{3,}\s*\{?[\w-]+\}?|(?:!!!|\?\?\?\+?)\s+[\w-]+|={3,}(?=\s+"))(?:\s+(?P<title>\S.*?))?\s*')
ALERT = re.compile(r"\s{0,3}(?:>\s?)+(\[!\w{1,20}\][+-]?)[ \t]+\S")
DEFINITION = re.compile(r"\s{0,3}:[ \t]+(?=\S)")
# HTML elements that are used in prose. `List<String>` and `<pad>` are not among them.
ELEMENTS = (
    "a|abbr|b|big|blockquote|br|center|cite|dd|del|dfn|div|dl|dt|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|picture"
    "|q|ruby|s|section|samp|small|source|span|strike|strong|sub|sup|u|ul|var|wbr"
)
# A tag with an event handler stays as text.
TAG = re.compile(rf"</?(?:{ELEMENTS})(?![^<>]{{0,2000}}\son\w+\s*=)(?:\s[^<>]{{0,2000}})?/?>", re.IGNORECASE)
OFF_THE_LINE = re.compile(r"<(sup|sub)>([^<>]{1,40})</\1>", re.IGNORECASE)
STRUCK_OUT = re.compile(r"<(del|s|strike)>[^<>]{0,2000}</\1>|(?<![~\\])~~(?=[^\s~])[^~]{0,2000}~~(?!~)", re.IGNORECASE)
# End tags of block elements. The end of a term separates it from its definition.
BLOCK_END = re.compile(r"</(?:p|div|li|h[1-6]|blockquote|section|center|ul|ol|dl|dd|(?P<term>dt))\s*>", re.IGNORECASE)
ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
# Characters that Markdown would read as markup.
MARKS = frozenset("|*_`#$~[]\\\n\r")
# Characters examined around a mark: a line may hold very many.
NEAR = 40
CONTENTS = re.compile(r"\s*(?:\[TOC\]|\[\[_?TOC_?\]\]|\{:toc\}|\$\{toc\}|@\[toc\](?:\(.{0,40}\))?)\s*", re.IGNORECASE)
ANCHOR = re.compile(
    r"""<a\s[^<>]{0,500}?href=["']?(?P<to>[^"'\s<>]{1,1000})["']?[^<>]{0,500}>(?P<said>[^<>]{1,500})</a>"""
)
ALTERNATIVE = re.compile(r"""\balt=["'](?P<said>[^"'<>]{1,500})["']""")
SOURCE = re.compile(r"""\bsrc=["']?(?P<to>[^"'\s<>()]{1,1000})""")
# What notes of Obsidian and its like add: [[page|text]], ![[picture]], ==highlight==, %%comment%%, ^name at the end.
WIKI_LINK = re.compile(r"!?\[\[(?![\d\s,.-]+\]\])(?P<to>[^\[\]|\n]{1,200}?)(?:\\?\|(?P<said>[^\[\]\n]{1,200}))?\]\]")
HIGHLIGHT = re.compile(r"(?<![\w=!<>)\]])==(?=[^\s=])(?P<said>[^\n]{1,500}?)(?<=[^\s=])==(?![\w=(\[\"'])", re.ASCII)
REMARK = re.compile(r"(?<![\d%])%%[^%\n]{1,2000}%%")
BLOCK_NAME = re.compile(r"(?<=\S)\s+\^(?=[A-Za-z-]*[\d-])[A-Za-z0-9-]{4,40}\s*$")
HAS_TAGS = re.compile(r"<|~~|&[#\w]|\[\[|==|%%|\s\^")
FOOTNOTE = re.compile(r"\s{0,3}\[\^([^\]\s]{1,40})\]:[ \t]*")
REFERENCE = re.compile(r"\[\^([^\]\s]{1,40})\](?!:)")


def plain(lines: Sequence[Line], removed: list[str]) -> list[Line]:
    """The lines of a Markdown text without extensions that only some programs understand; `removed` gets comments and
    struck-out text."""
    result = _without_comments(lines, removed)
    result = _unfolded(result)
    result = [line if line.is_code else _opened(line) for line in result]
    result = _defined(result)
    result = [
        line if line.is_code or not HAS_TAGS.search(line.text) else _without_tags(line, removed) for line in result
    ]
    return _with_footnotes(result)


def _without_comments(lines: Sequence[Line], removed: list[str]) -> list[Line]:
    last = max((n for n, line in enumerate(lines) if not line.is_code and "-->" in line.text), default=-1)
    result: list[Line] = []
    is_open = False
    for number, line in enumerate(lines):
        if line.is_code or not (is_open or "<!--" in line.text):
            result.append(line)
            continue
        verbatim = [found.span() for found in INLINE_VERBATIM.finditer(line.text)]
        kept: list[tuple[int, int]] = []
        place = 0
        while place <= len(line.text):
            end = line.text.find("-->", place) if is_open else line.text.find("<!--", place)
            if is_open:
                stop = len(line.text) if end < 0 else end + 3
                removed.append(line.text[place:stop].strip())
                is_open = end < 0
            else:
                inside = any(low <= end < high for low, high in verbatim)
                stop = len(line.text) if end < 0 else end + 4 * inside
                kept.append((place, stop))
                is_open = end >= 0 and not inside and (line.text.find("-->", end) >= 0 or number < last)
                if end >= 0 and not inside and not is_open:  # nothing closes it: text
                    kept[-1] = (place, len(line.text))
                    stop = len(line.text)
            if stop >= len(line.text):
                break
            place = stop
        result.append(Line(MappedText.join("", (line.content[low:high] for low, high in kept))))
    return result


def _unfolded(lines: Sequence[Line]) -> list[Line]:
    """Open `<details>`. The summary becomes a heading if the next fold, a heading or nothing follows."""
    pieces = list(_fold_pieces(lines))
    if all(isinstance(piece, Line) for piece in pieces):
        return list(lines)
    ends_apart = _ends_apart(pieces)
    result: list[Line] = []
    summary: list[MappedText] | None = None
    folds: list[int] = []
    level = 0
    for place, piece in enumerate(pieces):
        if isinstance(piece, Line) and summary is not None and not piece.is_code:
            summary.append(piece.content.strip())
        elif isinstance(piece, Line):
            marked = None if piece.is_code or folds else HEADING.match(piece.text)
            level = len(marked[1]) if marked else level
            result.append(piece)
        elif piece == "details":
            folds.append(place)
            result.append(BLANK)
        elif piece == "summary":
            summary = []
        else:
            is_heading = bool(folds) and ends_apart[folds[-1]]
            result += _summed_up(summary or [], min(level + len(folds), 6) if is_heading else 0)
            summary = None
            if piece == "/details" and folds:
                folds.pop()
    return [*result, *_summed_up(summary or [], 0)]


def _summed_up(summary: Sequence[MappedText], level: int) -> list[Line]:
    """A summary as a heading of `level`, or as a paragraph if that is 0."""
    said = MappedText.join(" ", (part for part in summary if part.text))
    return [BLANK, Line(MappedText.added("#" * level + " " * bool(level)) + said), BLANK] if said.text else [BLANK]


def _ends_apart(pieces: Sequence[Line | str]) -> dict[int, bool]:
    """For each fold, by the index where it opens: whether the text after it cannot be mistaken for part of it."""
    apart: dict[int, bool] = {}
    open_folds: list[int] = []
    closed: list[int] = []  # nothing has followed these yet
    for place, piece in enumerate(pieces):
        if piece == "/details" and open_folds:
            closed.append(open_folds.pop())
        elif piece == "details":
            apart.update(dict.fromkeys(closed, True))
            closed = []
            open_folds.append(place)
        elif isinstance(piece, Line) and piece.text.strip() and closed:
            apart.update(dict.fromkeys(closed, not piece.is_code and bool(HEADING.match(piece.text))))
            closed = []
    return {**dict.fromkeys(open_folds, False), **dict.fromkeys(closed, True), **apart}


BLANK = Line(MappedText.added(""))


def _fold_pieces(lines: Iterable[Line]) -> Iterator[Line | str]:
    """The lines, cut at the tags of folds; a tag is represented by its name."""
    for line in lines:
        found = [] if line.is_code else list(FOLD.finditer(line.text))
        if not found:
            yield line
            continue
        position = 0
        for tag in found:
            if line.text[position : tag.start()].strip():
                yield Line(line.content[position : tag.start()])
            yield re.sub(r"[<>\s].*", "", tag[0][1:].lower(), flags=re.DOTALL)
            position = tag.end()
        if line.text[position:].strip():
            yield Line(line.content[position:])


def _opened(line: Line) -> Line:
    """Remove the mark of a box but keep its title; remove placeholders for a table of contents."""
    if CONTENTS.fullmatch(line.text):
        return BLANK
    box = BOX.fullmatch(line.text)
    if box is not None:
        if box["title"] is None:
            return BLANK
        start, end = box.span("title")
        return Line(line.content[start:end].strip('"“”'))
    alert = ALERT.match(line.text)
    return line if alert is None else Line(line.content.without([alert.span(1)]))


def _defined(lines: Sequence[Line]) -> list[Line]:
    """Join a term and the `: ` lines that define it into one line."""
    result: list[Line] = []
    for line in lines:
        mark = None if line.is_code else DEFINITION.match(line.text)
        before = result[-1] if result else None
        if mark and before and before.text.strip() and not before.is_code and not HEADING.match(before.text):
            joint = "；" if "：" in before.text else "："
            ends = before.content.strip("。；;")
            result[-1] = Line(MappedText.join(joint, (ends, line.content[mark.end() :])))
        else:
            result.append(line)
    return result


def _without_tags(line: Line, removed: list[str]) -> Line:
    """Remove HTML tags and the marks of notes: superscripts and subscripts become characters; links, pictures with an
    alternative text and highlights stay."""
    verbatim = [found.span() for found in INLINE_VERBATIM.finditer(line.text)]
    found = sorted(
        (match.start(), -match.end(), match)
        for pattern in (STRUCK_OUT, OFF_THE_LINE, ANCHOR, TAG, ENTITY, WIKI_LINK, HIGHLIGHT, REMARK, BLOCK_NAME)
        for match in pattern.finditer(line.text)
    )
    parts: list[MappedText] = []
    position = 0
    for start, _, match in found:
        if start < position or any(low <= start < high or low < match.end() < high for low, high in verbatim):
            continue
        parts.append(line.content[position:start])
        parts += _in_place_of(line.content, match, removed)
        position = match.end()
    return Line(MappedText.join("", [*parts, line.content[position:]])) if parts else line


def _in_place_of(content: MappedText, tag: re.Match[str], removed: list[str]) -> list[MappedText]:
    if tag.re in (STRUCK_OUT, REMARK):
        removed.append(TAG.sub("", tag[0]).strip("~%"))
        return []
    if tag.re is WIKI_LINK and not tag[0].startswith("!"):
        return [content[slice(*tag.span("said" if tag["said"] else "to"))]]
    if tag.re is HIGHLIGHT:
        return [_without_tags(Line(content[slice(*tag.span("said"))]), removed).content]
    if tag.re is OFF_THE_LINE:
        written = (raised if tag[1].lower() == "sup" else lowered)(tag[2])
        return [content[slice(*tag.span(2))] if written == tag[2] else MappedText.added(written)]
    if tag.re is ANCHOR:
        said, to = (content[slice(*tag.span(name))] for name in ("said", "to"))
        return [MappedText.added("["), said, MappedText.added("]("), to, MappedText.added(")")]
    if tag.re is ENTITY:
        return [_character(content, tag)]
    if ends := BLOCK_END.fullmatch(tag[0]):
        goes_on = bool(content.text[tag.end() : tag.end() + NEAR].strip())
        return [MappedText.added(("：" if ends["term"] else " ") * goes_on)]
    if tag[0].lower().startswith(("<br", "<hr")):
        return [MappedText.added(" ")]
    said_of_picture = ALTERNATIVE.search(tag[0]) if tag[0].lower().startswith("<img") else None
    if said_of_picture is None:
        return []
    inside = content[tag.start() : tag.end()]
    source = SOURCE.search(tag[0])
    to = inside[slice(*source.span("to"))] if source else MappedText.added("")
    said = inside[slice(*said_of_picture.span("said"))]
    return [MappedText.added("!["), said, MappedText.added("]("), to, MappedText.added(")")]


def _character(content: MappedText, entity: re.Match[str]) -> MappedText:
    """The character of an entity; the entity itself if Markdown would read the character as markup."""
    written = unescape(entity[0]).replace("\xa0", " ")
    is_first = entity.start() < NEAR and not content.text[: entity.start()].strip()
    if written == entity[0] or is_first or not written.isprintable() or not MARKS.isdisjoint(written):
        return content[entity.start() : entity.end()]
    return MappedText.added(written)


def _with_footnotes(lines: Sequence[Line]) -> list[Line]:
    """Move each footnote after the block that first refers to it, as a paragraph without its marks."""
    notes, rest = _notes(lines, {name for line in lines if not line.is_code for name in REFERENCE.findall(line.text)})
    if not notes:
        return list(lines)
    cited = frozenset(notes)
    after: dict[int, list[Line]] = {}
    text = "\n".join(line.text for line in rest)
    starts = list(accumulate((len(line.text) + 1 for line in rest), initial=0))
    blocks = parse(text)
    for place, block in enumerate(blocks):
        if block.kind not in PROSE | {BlockKind.TABLE, BlockKind.HEADING}:
            continue
        last = bisect_right(starts, blocks[place + block.announces].end) - 1
        for name in REFERENCE.findall(text[block.start : block.end]):
            if name in notes:
                indent = MappedText.added("  " * block.level if block.kind is BlockKind.LIST_ITEM else "")
                after.setdefault(last, []).extend([BLANK, *(Line(indent + one) for one in notes.pop(name)), BLANK])
    result: list[Line] = []
    for number, line in enumerate(rest):
        if not line.is_code:
            marks = [found.span() for found in REFERENCE.finditer(line.text) if found[1] in cited]
            line = Line(line.content.without(marks)) if marks else line
        result += [line, *after.get(number, ())]
    return [*result, *(Line(one) for note in notes.values() for one in note)]


def _notes(lines: Sequence[Line], cited: Set[str]) -> tuple[dict[str, list[MappedText]], list[Line]]:
    """The footnotes that the text refers to, by name, with their continuation lines; and all other lines. A second
    footnote of the same name is text."""
    notes: dict[str, list[MappedText]] = {}
    rest: list[Line] = []
    current: list[MappedText] | None = None
    for line in lines:
        mark = None if line.is_code else FOOTNOTE.match(line.text)
        if mark and mark[1] in cited and mark[1] not in notes:
            current = notes[mark[1]] = [line.content[mark.end() :]]
        elif current is not None and not line.is_code and line.text.startswith(("  ", "\t")) and line.text.strip():
            current.append(line.content.strip())
        else:
            current = None
            rest.append(line)
    return notes, rest

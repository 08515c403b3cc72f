"""Source text with its quotes -> HTML that reads like the rendered page, yet keeps that text to the character.

Markdown's own signs (`##`, `**`, `|`, fences) are in `<span class="sign">`, which the style sheet hides unless the
reader wants the source as written. sources.js draws formulas.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from html.parser import HTMLParser
from itertools import pairwise

from rag.text.blocks import Block, BlockKind
from rag.text.markdown import parse

# A run of text and the markers of the quotes covering it (none: surroundings).
Run = tuple[str, tuple[int, ...]]
# A stretch of text with one look, and that look.
Atom = tuple[int, int, tuple[str, ...]]
Show = Callable[[Sequence[Atom]], str]
SHOWN = frozenset({BlockKind.HEADING, BlockKind.CODE, BlockKind.FORMULA, BlockKind.TABLE})
ROW = re.compile(r"[ \t]*\|.*\|[ \t\r]*\n?\Z")
RULE = re.compile(r"[ \t]*\|(?:[ \t]*:?-+:?[ \t]*\|)+[ \t\r]*\n?\Z")
# All bounded: a hostile page must not keep the server busy.
INLINE = re.compile(
    r"(?P<bullet>^(?:[ \t]{0,8}[-*+] )(?=\S))"
    r"|(?<!`)(?P<ticks>`+)(?!`)(?P<code>[^\n]{1,400}?)(?<!`)(?P=ticks)(?!`)"
    r"|(?P<display>\$\$[^$]{1,2000}\$\$)"
    r"|(?P<formula>(?<![\\$])\$(?![\s$])[^$\n]{1,400}?(?<!\s)\$(?![\d$])|\\\([^\n]{1,400}?\\\))"
    r"|\*\*(?=\S)(?P<strong>[^*\n]{1,400})\*\*"
    r"|(?P<opening>!?\[)(?P<link>[^\[\]\n]{1,200})\]\([^()\s]{0,400}\)",
    re.MULTILINE,
)
BAR = re.compile(rf"(?P<bar>(?<!\\)\|[ \t]*)|{INLINE.pattern}", re.MULTILINE)
TAGS = {
    "sign": '<span class="sign">{}</span>',
    "bullet": '<span class="bullet">{}</span>',
    "code": "<code>{}</code>",
    "strong": "<b>{}</b>",
    "formula": '<span class="formula">{}</span>',
    "display": '<span class="formula display">{}</span>',
}
FORMULAS = {"formula", "display"}
WHOLES = FORMULAS | {"bullet"}
# Neither a formula nor a word of Latin letters is split.
ATOM = re.compile(r"\$\$?[^$]+\$\$?|[A-Za-z0-9_.+-]+|.", re.DOTALL)


def readable(runs: Sequence[Run], mark: Callable[[tuple[int, ...], str], str]) -> str:
    """HTML whose text is that of the runs, in order. `mark` makes a highlight from a run's markers and HTML; a run
    across lines or cells is highlighted in pieces."""
    text = "".join(part for part, _ in runs)
    borders = [0]
    for part, _ in runs:
        borders.append(borders[-1] + len(part))
    spans = [(low, high, markers) for (low, high), (_, markers) in zip(pairwise(borders), runs, strict=True)]

    def show(atoms: Sequence[Atom]) -> str:
        if not atoms:
            return ""
        result = []
        for low, high, markers in spans:
            if high <= atoms[0][0] or atoms[-1][1] <= low:
                continue
            shown = "".join(
                _piece(text[max(low, start) : min(high, end)], names, whole=low <= start and end <= high)
                for start, end, names in atoms
                if start < high and low < end
            )
            result.append(mark(markers, shown) if markers and shown else shown)
        return "".join(result)

    return "".join(_blocks(text, show))


def text_of(text: str) -> str:
    """Escaped for element content and attributes. A parser would turn a bare carriage return into a line feed."""
    return escape(text).replace("\r", "&#13;")


def words(text: str) -> str:
    """Material as it reads, within a line."""
    return f'<span class="readable">{readable([(balanced(text.strip()), ())], lambda markers, html: html)}</span>'


def prose(text: str) -> str:
    """Material as it reads, on lines of its own."""
    return f'<div class="readable prose">{readable([(balanced(text), ())], lambda markers, html: html)}</div>'


def _piece(text: str, names: tuple[str, ...], *, whole: bool) -> str:
    html = text_of(text)
    for name in reversed(names):
        if whole or name not in FORMULAS:  # half a formula cannot be drawn
            html = TAGS[name].format(html)
    return html


def _blocks(text: str, show: Show) -> Iterator[str]:
    """The non-prose blocks of a text, and the prose between them."""
    position, blocks = 0, parse(text)
    codes = [block for block in blocks if block.kind is BlockKind.CODE]
    if codes and not codes[-1].is_closed and not codes[0].language:  # the text begins within code
        fence, position = codes[0].start, _line_end(text, codes[0].start)
        yield f'<div class="code">{show(_atoms_of([(0, fence, ()), (fence, position, ("sign",))]))}</div>'
        blocks = parse(text[position:])
    plain = start = position
    for block in blocks:
        if block.kind not in SHOWN:
            continue
        block = block.moved(start)
        if plain < block.start:
            yield show(_inline(text, plain, block.start))
        plain = _line_end(text, block.end)
        yield _block(text, block, plain, show)
    if plain < len(text):
        yield show(_inline(text, plain, len(text)))


def _block(text: str, block: Block, end: int, show: Show) -> str:
    """One block; `end` is where its last line ends."""
    low = block.start
    match block.kind:
        case BlockKind.FORMULA:  # it has its own lines: the line ends in the text would add an empty one
            first, last = block.body_start - 2, block.body_end + 2
            return show(_atoms_of([(low, first, ("sign",)), (first, last, ("display",)), (last, end, ("sign",))]))
        case BlockKind.HEADING:
            words = _inline(text, block.body_start, end)
            return f'<div class="heading">{show(_atoms_of([(low, block.body_start, ("sign",)), *words]))}</div>'
        case BlockKind.TABLE:
            return f'<div class="table">{"".join(_rows(text, low, end, show))}</div>'
        case _:
            opening = min(_line_end(text, low), end)
            closing = _line_end(text, block.body_end) if block.is_closed else end
            closing = max(opening, closing)
            atoms = [(low, opening, ("sign",)), (opening, closing, ()), (closing, end, ("sign",))]
            return f'<div class="code">{show(_atoms_of(atoms))}</div>'


def _atoms_of(atoms: Sequence[Atom]) -> list[Atom]:
    """The non-empty ones."""
    return [atom for atom in atoms if atom[0] < atom[1]]


def _inline(text: str, low: int, high: int, outer: tuple[str, ...] = ()) -> list[Atom]:
    """The stretches of prose; none of them is empty."""
    atoms: list[Atom] = []
    position = low
    for found in INLINE.finditer(text, low, high):
        atoms.append((position, found.start(), outer))
        atoms += _atoms(text, found, outer)
        position = found.end()
    return _atoms_of([*atoms, (position, high, outer)])


def _atoms(text: str, found: re.Match[str], outer: tuple[str, ...]) -> list[Atom]:
    kind = next(name for name in ("bullet", "code", "display", "formula", "strong", "link") if found[name] is not None)
    if kind in WHOLES:
        return [(*found.span(), (*outer, kind))]
    start, end = found.span(kind)
    inner = outer if kind == "link" else (*outer, kind)
    within = [(start, end, inner)] if kind == "code" else _inline(text, start, end, inner)
    return [(found.start(), start, (*outer, "sign")), *within, (end, found.end(), (*outer, "sign"))]


def _rows(text: str, low: int, high: int, show: Show) -> Iterator[str]:
    while low < high:
        end = min(_line_end(text, low), high)
        after = text[end : min(_line_end(text, end), high)]
        if RULE.match(text[low:end]):
            yield f'<div class="row rule"><span class="cell">{show([(low, end, ("sign",))])}</span></div>'
        elif not ROW.match(text[low:end]):
            yield f'<div class="row"><span class="cell">{show(_inline(text, low, end))}</span></div>'
        else:
            style = "row head" if RULE.match(after) else "row"
            yield f'<div class="{style}">{"".join(_cells(text, low, end, show))}</div>'
        low = end


def _cells(text: str, low: int, high: int, show: Show) -> Iterator[str]:
    """Each with the bar before it, the last also with that after it: nothing may stand between cells."""
    last = low + text[low:high].rstrip(" \t\r\n").rindex("|")
    bars = [found.span() for found in BAR.finditer(text, low, last) if found["bar"]]
    for place, (start, inside) in enumerate(bars):
        begin = start if place else low
        end = bars[place + 1][0] if place + 1 < len(bars) else last
        atoms: list[Atom] = [(begin, inside, ("sign",)), *_inline(text, inside, end)]
        if end == last:
            atoms.append((last, high, ("sign",)))
        yield f'<span class="cell">{show(atoms)}</span>'


def _line_end(text: str, position: int) -> int:
    """The offset after the line feed that ends the line."""
    return text.find("\n", position) + 1 or len(text)


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[str] = []
        self._signs: list[bool] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = (dict(attrs).get("class") or "").split()
        self._signs.append("sign" in names)
        if {"cell", "row", "heading", "code"} & set(names):
            self.said.append(" ")

    def handle_endtag(self, tag: str) -> None:
        self._signs.pop()

    def handle_data(self, data: str) -> None:
        if not any(self._signs):
            self.said.append(data)


def words_of(text: str, most: int | None = None) -> str:
    """Words on one line; cut with "…" at `most` characters, never within a word or a formula."""
    parser = _Words()
    parser.feed(readable([(text, ())], lambda markers, html: html))
    parser.close()
    words = " ".join("".join(parser.said).split())
    if most is None or len(words) <= most:
        return words
    end = 0
    for atom in ATOM.finditer(words):
        if atom.end() > most:
            break
        end = atom.end()
    return words[:end].rstrip() + "…"


def balanced(text: str) -> str:
    """A quote without its bold signs if it begins or ends within bold words."""
    return text.replace("**", "") if text.count("**") % 2 else text

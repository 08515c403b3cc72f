"""Blocks -> sentences, and blocks that can be quoted one by one."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby, pairwise

from rag.language.ends import INLINE_VERBATIM, SENTENCE_END, is_finished
from rag.text.blocks import Block, BlockKind, columns

# Marks of emphasis, which belong to the sentence they close.
EMPHASIS = re.compile(r"(\*{1,3}|_{1,3}|~~)[”’」』）)]*")
LONGEST_EMPHASIS = 1_000
# The least width of a wrapped line of prose, in columns; and the least width if no line but the last is short, and
# sentences or clauses end within lines.
NARROWEST, NARROWEST_FILLED = 36, 24
WITHIN_A_LINE = re.compile(r"[，。；！？][^\s”’」』）]|[a-z0-9)][.,;] +[A-Za-z]")
FIRST_WORD = re.compile(r"[\u2e80-\uffef][，。、；：！？）」』”]?|[^\s\u2e80-\uffef]+")
LABEL = re.compile(r"[^\s：:]{1,12}[：:](?=\s|[^\x00-\x7f]|\Z)")
FIGURES, LETTERS = re.compile(r"\d+"), re.compile(r"[A-Za-z]+")
LINE_BREAK = re.compile(r"((?<=[\u2e80-\uffef])[ \t]*\n[ \t]*(?=[\u2e80-\uffef]))|[ \t]*\n[ \t]*")
QUOTE_MARK = re.compile(r"(?:[ \t]*>)+[ \t]?")


class UnitKind(StrEnum):
    HEADING = "heading"
    SENTENCE = "sentence"
    CODE = "code"
    FORMULA = "formula"
    TABLE = "table"


WHOLE_UNITS = {
    BlockKind.HEADING: UnitKind.HEADING,
    BlockKind.CODE: UnitKind.CODE,
    BlockKind.FORMULA: UnitKind.FORMULA,
    BlockKind.TABLE: UnitKind.TABLE,
}


@dataclass(frozen=True, slots=True)
class Unit:
    """`text[start:end]` of a passage: a sentence, or a block that makes sense only whole.

    `begins_line` says that it opens a line, `mark` is the list mark before it (not part of the slice), `depth` how many
    lists it stands in.
    """

    kind: UnitKind
    start: int
    end: int
    begins_line: bool = True
    mark: str = ""
    depth: int = 0


def units(text: str, blocks: Sequence[Block]) -> list[Unit]:
    """The units of a passage in order: whole code, formulas and tables, sentences of everything else. White space and
    marks between them belong to none."""
    result: list[Unit] = []
    for block in blocks:
        kind = WHOLE_UNITS.get(block.kind)
        if kind is not None:
            depth = 0 if kind is UnitKind.HEADING else block.level
            result.append(Unit(kind, block.start, block.end, depth=depth))
        elif block.kind is not BlockKind.RULE:
            position, mark = block.body_start, ">" if block.kind is BlockKind.QUOTE else block.mark
            lines = text[block.body_start : block.body_end].splitlines(keepends=True)
            for line in lines if block.kind is BlockKind.QUOTE else unwrapped_lines(lines):
                end = position + len(line)
                found = QUOTE_MARK.match(line) if block.kind is BlockKind.QUOTE else None
                result += _sentences(text, position + (found.end() if found else 0), end, mark, block.level)
                position, mark = end, mark if block.kind is BlockKind.QUOTE else ""
    return result


def unwrapped_lines(lines: Sequence[str]) -> list[str]:
    """Joins lines that were wrapped at a width: where the first word of the next would not have fitted into the widest
    line. Some line is always widest, so a single one counts only if its sentence continues and the next line ends it;
    of several in a row one must break a sentence. Records are not wrapped: lines that begin with a label, or alike with
    a figure."""
    if len(lines) < 2:
        return list(lines)
    widths = [columns(line.rstrip()) for line in lines]
    widest = max(widths)
    filled = [
        _is_filled(line, following.strip(), width, widest)
        for (line, following), width in zip(pairwise(lines), widths, strict=False)
    ]
    if widest < NARROWEST and not (widest >= NARROWEST_FILLED and _is_prose(lines, filled)):
        return list(lines)
    joined = list(lines[:1])
    place = 0
    for is_filled, members in groupby(filled):
        end = place + len(list(members))
        run = lines[place:end]
        goes_on = is_filled and not all(map(is_finished, run))
        if goes_on and len(run) == 1:
            goes_on = is_finished(lines[end])
        if goes_on:
            joined[-1] += "".join(lines[place + 1 : end + 1])
        else:
            joined += lines[place + 1 : end + 1]
        place = end
    return joined


def _is_filled(line: str, following: str, width: int, widest: int) -> bool:
    """Whether a line may have been broken because no more fitted."""
    word = FIRST_WORD.match(following)
    return bool(
        word
        and width + columns(word[0]) > widest - 1
        and not line.rstrip("\n").endswith(("  ", "\\"))
        and not LABEL.match(following)
        and not _alike_with_a_figure(line, following)
    )


def _is_prose(lines: Sequence[str], filled: Sequence[bool]) -> bool:
    """Whether narrow lines are a paragraph: three or more, all filled but the last, with stops within them."""
    return len(lines) > 2 and all(filled) and any(WITHIN_A_LINE.search(line.strip()) for line in lines)


def _alike_with_a_figure(line: str, following: str) -> bool:
    """Whether two lines begin with words of the same shape with a figure, as in a log."""
    shapes = [
        LETTERS.sub("a", FIGURES.sub("9", text.split(maxsplit=1)[0])) for text in (line, following) if text.strip()
    ]
    return len(shapes) == 2 and shapes[0] == shapes[1] and "9" in shapes[0]


def in_one_line(text: str) -> str:
    """A wrapped sentence on one line: nothing between Chinese characters, else a blank."""
    return LINE_BREAK.sub(lambda found: "" if found[1] else " ", text)


def joint(before: str, after: str) -> str:
    """The text between two wrapped lines once joined."""
    return in_one_line(f"{before.strip()[-1:]}\n{after.strip()[:1]}")[1:-1]


def _sentences(text: str, start: int, end: int, mark: str, depth: int) -> list[Unit]:
    line = text[start:end]
    protected = [match.span() for match in INLINE_VERBATIM.finditer(line)]
    result: list[Unit] = []
    position = start
    for match in SENTENCE_END.finditer(line):
        if any(low < match.start() < high for low, high in protected):
            continue
        stop = start + _end_with_emphasis(line, match.end())
        _append(result, text, position, stop, mark, depth)
        position = stop
    _append(result, text, position, end, mark, depth)
    return result


def _end_with_emphasis(line: str, end: int) -> int:
    """The end of a sentence that seems to end at `end`: after emphasis opened earlier and closed there."""
    closing = EMPHASIS.match(line, end)
    if (
        closing is None
        or len(re.findall(rf"(?<!\\){re.escape(closing[1])}", line[max(0, end - LONGEST_EMPHASIS) : end])) % 2 == 0
    ):
        return end
    return closing.end()


def _append(result: list[Unit], text: str, start: int, end: int, mark: str, depth: int) -> None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    end -= len(piece) - len(piece.rstrip())
    if start < end:
        result.append(
            Unit(UnitKind.SENTENCE, start, end, begins_line=not result, mark="" if result else mark, depth=depth)
        )

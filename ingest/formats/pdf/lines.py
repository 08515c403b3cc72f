"""Runs of characters -> lines, with raised and lowered characters written as such: 10²³, H₂O."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise

from ingest.formats.markdown import lowered, raised
from ingest.formats.pdf.glyphs import GUESSED_SPACE, Box, Run, cell_gap, column_gap
from ingest.formats.pdf.words import normal

# Shares of the neighbouring type size. Type that is hardly smaller must be moved further to count.
SMALLER = 0.92
LEAST_RAISED, MOST_RAISED = 0.1, 1.0
LEAST_LOWERED, MOST_LOWERED = 0.05, 0.6
LEAST_MOVED_IF_LARGE, MOST_MOVED_IF_LARGE = 0.2, 0.6
SAME_BASELINE = 0.08
# A longer text is not an exponent but a line of its own.
MOST_OFF_THE_LINE = 20
MOST_STRAY, MOST_STRAYS = 8, 500
TOUCHES = 0.45
LEAST_INITIAL = 1.8
MOST_CODE_GAP, LABEL_GAP = 40.0, 15.0
WORD_GAP = 0.16
# A list mark is at most this far before its item, in type sizes.
MARK_GAP = 6.0
MARKS = "•●▪■◦○‣⁃∙·➢✓–-*§"
CLOSES_NUMBER = ".)、．）"
# Lines are searched in bands of the page of this height, in points.
BAND = 24.0


class Place(Enum):
    ON = 0
    RAISED = 1
    LOWERED = -1


@dataclass(frozen=True, slots=True)
class Line:
    """One line of one column; `size` is the font size in points. A table is a special line with `rows` and the borders
    of its `columns`; so is a note that somebody added to the page."""

    text: str
    box: Box
    size: float
    baseline: float = 0.0
    is_mono: bool = False
    is_bold: bool = False
    rows: tuple[tuple[str, ...], ...] = ()
    columns: tuple[float, ...] = ()
    is_note: bool = False

    @property
    def is_table(self) -> bool:
        return bool(self.rows)

    @property
    def height(self) -> float:
        return max(self.box[3] - self.box[1], 1.0)


def join_runs(runs: Sequence[Run]) -> list[Line]:
    """The lines that the runs make, in their order."""
    groups: list[list[Run]] = []
    for run in runs:
        if groups and _belongs(groups[-1], run):
            groups[-1].append(run)
        else:
            groups.append([run])
    return [_line(group) for group in _with_strays(groups)]


def join_pieces(lines: Sequence[Line]) -> list[Line]:
    """The lines, joined where the gap between two is wide, but narrower than between columns."""
    joined: list[Line] = []
    for line in lines:
        last = joined[-1] if joined else None
        if last is not None and _is_initial(last, line):
            joined[-1] = replace(line, text=last.text + line.text)
            continue
        if last is not None and last.size and line.size and not last.is_note and not line.is_note:
            size = max(last.size, line.size)
            is_level = abs(last.baseline - line.baseline) <= SAME_BASELINE * size
            gap = line.box[0] - last.box[2]
            is_code = last.is_mono and line.is_mono
            most = MOST_CODE_GAP * size if is_code else LABEL_GAP * size if _is_label(last) else column_gap(size)
            if is_level and 0 <= gap <= most:
                joined[-1] = _united(last, line, max(1, round(gap / (0.6 * size))) if is_code else 1)
                continue
        joined.append(line)
    return joined


def _is_label(line: Line) -> bool:
    """Whether a line is a label whose value is beside it."""
    return line.text.endswith((":", "：")) and len(line.text) <= MOST_OFF_THE_LINE


def _is_initial(letter: Line, line: Line) -> bool:
    """Whether a letter is the large initial of a text that begins beside its top."""
    gap = line.box[0] - letter.box[2]
    is_large = letter.size >= LEAST_INITIAL * line.size > 0
    return (
        is_large
        and len(letter.text) == 1
        and letter.text.isalpha()
        and -0.2 * letter.size <= gap <= line.size
        and letter.box[1] - line.size < line.baseline < letter.box[3]
    )


def _united(one: Line, other: Line, spaces: int) -> Line:
    box = one.box[0], min(one.box[1], other.box[1]), other.box[2], max(one.box[3], other.box[3])
    longer = max(one, other, key=lambda line: len(line.text))
    return replace(
        longer, text=f"{one.text}{' ' * spaces}{other.text}", box=box, is_mono=one.is_mono and other.is_mono,
        is_bold=one.is_bold and other.is_bold,
    )  # fmt: skip


def place_of(run: Run, beside: Run) -> Place | None:
    """The place of a run relative to the line of another; None if it is on a different line."""
    size = max(beside.size, 1.0)
    moved, share = (run.baseline - beside.baseline) / size, run.size / size
    if abs(moved) <= (SAME_BASELINE if share > SMALLER else LEAST_LOWERED):
        return Place.ON
    if share > 1 / SMALLER or run.turn or len(run.text.strip()) > MOST_OFF_THE_LINE:
        return None
    if share > SMALLER:
        if abs(moved) > MOST_MOVED_IF_LARGE:
            return None
        # Some fonts place their signs above or below the line.
        if abs(moved) < LEAST_MOVED_IF_LARGE or not any(map(str.isalnum, run.text)):
            return Place.ON
        return Place.RAISED if moved > 0 else Place.LOWERED
    if LEAST_RAISED <= moved <= MOST_RAISED:
        return Place.RAISED
    return Place.LOWERED if LEAST_LOWERED <= -moved <= MOST_LOWERED else None


def _main(group: Sequence[Run]) -> Run:
    """The run that defines the line of a group: the largest, and the longest of those."""
    return max(group, key=lambda run: (run.size, len(run.text)))


def _belongs(group: Sequence[Run], run: Run) -> bool:
    main, last = _main(group), group[-1]
    if run.turn or main.turn:
        return run.turn == main.turn and not run.begins_row
    gap = run.left - last.right
    size = max(main.size, run.size, 4.0)
    place = place_of(run, main)
    if place is Place.ON:
        if _is_mark(group):
            return -size < gap <= MARK_GAP * size
        return -4 * size <= gap <= cell_gap(size)
    if place is None and (run.size <= main.size or any(place_of(other, run) is None for other in group)):
        return False
    # Raised text may be above lowered text.
    back = max(last.right - last.left + 0.3 * size, 0.6 * size) if place_of(last, main) is not Place.ON else 0.6 * size
    return -back <= gap <= TOUCHES * size


def _is_mark(group: Sequence[Run]) -> bool:
    text = _plain("".join(run.text for run in group)).strip()
    if text in MARKS or len(text) > 5:
        return len(text) == 1
    return text[-1] in CLOSES_NUMBER and text.strip("(（[" + CLOSES_NUMBER).isalnum()


def _with_strays(groups: Sequence[list[Run]]) -> list[list[Run]]:
    """The groups, with exponents painted before or after their line moved to the room that it leaves for them."""
    largest = max((group[0].size for group in groups), default=0.0)
    strays = [group for group in groups if _may_stray(group, largest)]
    if not strays:
        return list(groups)
    kept: dict[int, list[list[Run]]] = {}
    for group in groups:
        if not _may_stray(group, largest):
            kept.setdefault(_band(group[0].baseline), []).append(group)
    placed = set()
    for stray in strays[:MOST_STRAYS]:
        band = _band(stray[0].baseline)
        near = [group for number in (band - 1, band, band + 1) for group in kept.get(number, ())][:MOST_STRAYS]
        homes = [group for group in near if place_of(stray[0], _main(group)) in (Place.RAISED, Place.LOWERED)]
        if any(put(stray[0], group) for put in (_at_end, _within, _at_start) for group in homes):
            placed.add(id(stray))
    return [group for group in groups if id(group) not in placed]


def _may_stray(group: Sequence[Run], largest: float) -> bool:
    run = group[0]
    return len(group) == 1 and run.size < SMALLER * largest and len(run.text) <= MOST_STRAY and not run.turn


def _band(baseline: float) -> int:
    return int(baseline // BAND)


def _at_end(stray: Run, group: list[Run]) -> bool:
    """Append a run that follows a line; returns whether it does. `_at_start` and `_within` do so for their places."""
    is_there = _touches(stray.left - group[-1].right, group)
    if is_there:
        group.append(stray)
    return is_there


def _at_start(stray: Run, group: list[Run]) -> bool:
    is_there = _touches(group[0].left - stray.right, group)
    if is_there:
        group.insert(0, stray)
    return is_there


def _touches(gap: float, group: Sequence[Run]) -> bool:
    size = _main(group).size
    return -TOUCHES * size / 2 <= gap <= TOUCHES * size


def _within(stray: Run, group: list[Run]) -> bool:
    for place, run in enumerate(group):
        if not run.left < stray.left < run.right:
            continue
        shown = [n for n, character in enumerate(run.text) if character not in (" ", GUESSED_SPACE)]
        for one, other in pairwise(shown):
            room = run.lefts[other] - run.rights[one]
            middle = (stray.left + stray.right) / 2
            if run.rights[one] < middle < run.lefts[other] and room > 0.6 * (stray.right - stray.left):
                group[place : place + 1] = [run.cut(0, one + 1), stray, run.cut(other, len(run.text))]
                return True
    return False


def _line(group: Sequence[Run]) -> Line:
    main = _main(group)
    pieces: list[tuple[Place, str]] = []
    for number, run in enumerate(group):
        place = place_of(run, main) or Place.ON
        text = run.text
        if number:
            text = _space_between(group[number - 1], run, pieces, place, main.size) + text.lstrip(GUESSED_SPACE)
        if pieces and pieces[-1][0] is place:
            pieces[-1] = (place, pieces[-1][1] + text)
        else:
            pieces.append((place, text))
    written: dict[Place, Callable[[str], str]] = {Place.ON: str, Place.RAISED: raised, Place.LOWERED: lowered}
    on_the_line = [run for run in group if place_of(run, main) is Place.ON]
    boxes = [run.box for run in group]
    return Line(
        normal(_plain("".join(_around(text, written[place]) for place, text in pieces))),
        (
            min(box[0] for box in boxes), min(box[1] for box in boxes),
            max(box[2] for box in boxes), max(box[3] for box in boxes),
        ),
        0.0 if main.turn else main.size,
        main.baseline,
        is_mono=all(run.is_mono for run in on_the_line),
        is_bold=all(run.is_bold for run in on_the_line),
    )  # fmt: skip


def _space_between(before: Run, run: Run, pieces: list[tuple[Place, str]], place: Place, size: float) -> str:
    """The space between two runs; one that PDFium guessed only because the text leaves the line is removed."""
    has_space = before.text[-1:] == " " or run.text[:1] == " "
    was_guessed = before.text[-1:] == GUESSED_SPACE or run.text[:1] == GUESSED_SPACE
    if was_guessed:
        pieces[-1] = (pieces[-1][0], pieces[-1][1].rstrip(GUESSED_SPACE))
    gap = run.left - before.right
    moves = place is not pieces[-1][0]
    if has_space or gap <= (WORD_GAP if moves or not was_guessed else 0.0) * size:
        return ""
    return " "


def _around(text: str, write: Callable[[str], str]) -> str:
    """The text as `write` writes it, with the spaces around it unchanged."""
    inner = text.strip()
    start = text.index(inner) if inner else len(text)
    return text[:start] + write(inner) + text[start + len(inner) :]


def _plain(text: str) -> str:
    return text.replace(GUESSED_SPACE, " ")

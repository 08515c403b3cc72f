"""Tables with cells that span several places -> Markdown: the text above a table, its head, and its rows."""

from collections.abc import Callable, Sequence, Set
from itertools import groupby, pairwise, takewhile
from typing import NamedTuple

from ingest.formats.markdown import table

# The most columns that a cell may span, and rows that a head may have.
MOST_COLUMNS = 100
MOST_HEAD_ROWS = 4
# How many rows below a head are looked at.
LOOKED_AT = 50


# Whether a text may be repeated in this many more places.
MayCopy = Callable[[str, int], bool]


class Cell(NamedTuple):
    """`goes_on`: it is part of the cell above."""

    text: str
    across: int = 1
    goes_on: bool = False


class Row(NamedTuple):
    """`before` places are left free on its left. `is_head`: it is repeated on every page."""

    cells: Sequence[Cell]
    before: int = 0
    is_head: bool = False


class Place(NamedTuple):
    """A place of the grid. Places with the same `cell`, a number, belong to one cell; those with 0 to none."""

    text: str = ""
    cell: int = 0


Rows = Sequence[Sequence[Place]]


def write(rows: Sequence[Row], may_copy: MayCopy) -> list[str]:
    """The blocks of a table. Rows of one cell become text between its parts, each of which repeats the head."""
    places = _laid_out(rows, may_copy)
    is_full = [_is_full(row, laid) for row, laid in zip(rows, places, strict=True)]
    filled = [
        (place, full, row.is_head)
        for place, full, row in zip(places, is_full, rows, strict=True)
        if any(one.text for one in place)
    ]
    blocks: list[str] = []
    head: list[str] = []
    unwritten = -1  # the place of a head that has no rows below it so far
    for full, group in groupby(filled, key=lambda one: one[1]):
        part = list(group)
        if full:
            blocks += dict.fromkeys(next(one.text for one in row if one.text) for row, _, _ in part)
            continue
        body = [row for row, _, _ in part]
        if not head:
            count = head_rows(body, sum(1 for _ in takewhile(lambda one: one[2], part)))
            head, body, unwritten = joined(body[:count]), body[count:], len(blocks)
        if body:
            blocks.append(table([head, *([one.text for one in row] for row in body)]))
            unwritten = -1
    if unwritten >= 0:
        blocks.insert(unwritten, table([head]))
    return [block for block in blocks if block]


def in_a_line(rows: Sequence[Row], may_copy: MayCopy) -> str:
    """A table within a cell of another one: each value with the name of its column.

    >>> in_a_line([Row([Cell("块"), Cell("开销")]), Row([Cell("16"), Cell("低")])], lambda text, times: True)
    '块：16，开销：低'
    """
    head, *body = [[one.text for one in row] for row in _laid_out(rows, may_copy) if any(one.text for one in row)] or [
        []
    ]
    if not body or len(head) < 2:
        return "；".join("，".join(filter(None, row)) for row in [head, *body] if any(row))
    pairs = (
        "，".join(f"{name}：{text}" if name else text for name, text in zip(head, row, strict=False) if text)
        for row in body
    )
    return "；".join(filter(None, pairs))


def _laid_out(rows: Sequence[Row], may_copy: MayCopy) -> list[list[Place]]:
    """The grid, with the text of each cell in all the places that it spans."""
    grid: list[list[Place]] = []
    count = 0
    for row in rows:
        above = grid[-1] if grid else []
        laid = [Place()] * min(row.before, MOST_COLUMNS)
        for cell in row.cells:
            across = max(1, min(cell.across, MOST_COLUMNS))
            upper = above[len(laid)] if cell.goes_on and len(laid) < len(above) else Place()
            count += 1
            place = upper if upper.cell else Place(cell.text, count)
            copies = across if upper.cell else across - 1
            if copies and not may_copy(place.text, copies):
                laid += [Place() if upper.cell else place] + [Place()] * (across - 1)
            else:
                laid += [place] * across
        grid.append(laid)
    width = max(map(len, grid), default=0)
    return [row + [Place()] * (width - len(row)) for row in grid]


def _is_full(row: Row, laid: Sequence[Place]) -> bool:
    """Whether a row is a single cell that spans several columns."""
    if len(laid) < 2:
        return False
    is_alone = len(row.cells) == 1 and row.cells[0].across >= max(2, len(laid) - 1)
    return is_alone or (all(place.cell for place in laid) and len({place.cell for place in laid}) == 1)


def head_rows(rows: Rows, marked: int) -> int:
    """How many of the first rows are the head: those marked as such, and those that continue it."""
    count = max(1, min(marked, len(rows) - 1, MOST_HEAD_ROWS))
    while count < min(MOST_HEAD_ROWS, len(rows) - 1) and _goes_on(rows, count):
        count += 1
    return count


def _goes_on(rows: Rows, count: int) -> bool:
    """Whether a row continues a head: with the names below those that span several columns."""
    above, below = rows[count - 1], rows[count]
    wide = {place.cell for place, right in pairwise(above) if place.cell and place.cell == right.cell}
    far = {place.cell for row in rows[MOST_HEAD_ROWS:][:1] for place in row}
    down = {one.cell for one, other in zip(above, below, strict=True) if one.cell and one.cell == other.cell} - far
    own = [place for place in below if place.text and place.cell not in down]
    if not own or len({place.cell for place in below} - {0}) < 2:
        return False
    if wide:
        return _names_below(above, below, wide, down, rows[count + 1 :])
    is_text = not any(letter.isdigit() for place in (*above, *below) for letter in place.text)
    return is_text and len({place.cell for place in own}) < len(down)


def _names_below(above: Sequence[Place], below: Sequence[Place], wide: Set[int], down: Set[int], rest: Rows) -> bool:
    """The same for a row below cells that span several columns.

    A cell of one column must then reach down into the row, or be empty, or have nothing below it.
    """
    columns = list(zip(above, below, strict=True))
    under = [other.text for one, other in columns if one.cell in wide and one.cell != other.cell]
    has_numbers = any(_is_number(other.text) for one, other in columns if other.text and one.cell != other.cell)
    if not any(under):
        return False
    if not below[0].text and above[0].text and not has_numbers:
        return True  # units: a row of values would have a name
    narrow = [(one, other) for one, other in columns if one.cell not in wide]
    if not all(not one.text or not other.text or one.text == other.text for one, other in narrow):
        return False
    if down - wide or (len(wide) > 1 and len(set(under)) * len(wide) == len(under)):
        return True
    return not has_numbers and any(_is_number(place.text) for row in rest[:LOOKED_AT] for place in row)


def _is_number(text: str) -> bool:
    """Whether a text is a value: at least half of it is digits."""
    said = [character for character in text if not character.isspace()]
    return bool(said) and 2 * sum(map(str.isdigit, said)) >= len(said)


def joined(rows: Rows) -> list[str]:
    """One name for each column from the rows of a head; repeated names only once.

    >>> joined([[Place("训练", 1), Place("训练", 1)], [Place("显存", 2), Place("时间", 3)]])
    ['训练 显存', '训练 时间']
    """
    return [
        " ".join(dict.fromkeys(filter(None, (place.text for place in column)))) for column in zip(*rows, strict=True)
    ]

"""Which of the first rows of a table are its head, judged by how they differ from the rows below."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

# How many rows a head may have, and how many rows below it are looked at.
MOST_HEAD_ROWS, LOOKED_AT = 4, 200
NUMBER = re.compile(r"\d[\d.,' ]*(?<![., '])")
# Signs that may precede a number.
UNSIGNED = re.compile(r"^[-+(≈~<>≤≥\s]*[¥$€£₩￥]?\s*")
SENTENCE_ENDS = "。？！?!；"
# A column is of a kind if at least this share of it is.
MOST = 0.6
# By what factor a number of a column may differ from the median.
APART = 4.0


class Cell(NamedTuple):
    """The text of a cell; `look` is 0 unless it is bold or filled, `merge` a number that the cells of a merge share."""

    text: str
    is_number: bool = False
    look: int = 0
    merge: int = 0


Rows = Sequence[Sequence[Cell]]
BLANK = Cell("")


def head_of(rows: Rows) -> int:
    """How many rows are the head: none if the first looks like those below it."""
    if len(rows) < 2:
        return min(len(rows), 1)
    if by_look := _by_look(rows):
        return _to_the_end_of_merges(rows, by_look, wide=False)
    if _is_data(rows):
        return 0
    by_merges = _to_the_end_of_merges(rows, 1)
    return 2 if by_merges == 1 and _has_second_row(rows) else by_merges


def is_evident(rows: Rows) -> bool:
    """Whether a head can be distinguished from the rows below it."""
    if len(rows) < 2:
        return False
    return bool(_by_look(rows)) or _to_the_end_of_merges(rows, 1) > 1 or bool(_names_over_numbers(rows, 1))


def is_data(rows: Rows) -> bool:
    """Whether the first row is like those below it."""
    return len(rows) > 1 and not _by_look(rows) and _is_data(rows)


def has_look(row: Sequence[Cell]) -> bool:
    """Whether all texts of a row are bold or filled."""
    said = [cell for cell in row if cell.text]
    return bool(said) and all(cell.look for cell in said)


def joined(rows: Rows) -> list[str]:
    """One name for each column from the rows of a head; repeated names only once, names over several columns in each.

    >>> joined([[Cell("方法"), Cell("训练"), BLANK], [BLANK, Cell("显存"), Cell("时间")]])
    ['方法', '训练 显存', '训练 时间']
    """
    width = max(map(len, rows), default=0)
    filled = [[row[column].text if column < len(row) else "" for column in range(width)] for row in rows]
    if not any(cell.merge for row in rows for cell in row):
        for row, below in pairwise(filled):
            for column in range(1, width):
                if not row[column] and row[column - 1] and below[column] and below[column - 1]:
                    row[column] = row[column - 1]
    return [" ".join(dict.fromkeys(filter(None, (row[column] for row in filled)))) for column in range(width)]


def keys_of(rows: Sequence[Sequence[str]]) -> int:
    """How many columns, from the left, it takes to tell the rows apart: three at most, and one if that is not enough.

    >>> keys_of([["北云", "H100", "3"], ["北云", "H200", "3"]]), keys_of([["a", "1"], ["a", "1"]])
    (2, 1)
    """
    for count in range(1, min(4, len(rows[0]) if rows else 0)):
        if len({tuple(row[:count]) for row in rows}) == len(rows):
            return count
    return 1


def _by_look(rows: Rows) -> int:
    """How many of the first rows have formatting that most other rows lack."""
    looks = Counter(cell.look for row in rows[1 : LOOKED_AT + 1] for cell in row if cell.text)
    common = looks.most_common(1)[0][0] if looks else 0
    count = 0
    for row in rows[: MOST_HEAD_ROWS + 1]:
        said = [cell for cell in row if cell.text]
        if not said or any(cell.look in (0, common) for cell in said):
            break
        count += 1
    return count if count <= min(MOST_HEAD_ROWS, len(rows) - 1) else 0


def _to_the_end_of_merges(rows: Rows, count: int, *, wide: bool = True) -> int:
    """How many rows a head has, at least `count`: below a merge over columns (if `wide`) are the names of these, and a
    merge over rows ends with the head."""
    while count < min(MOST_HEAD_ROWS, len(rows) - 1) and _goes_on(rows, count, wide=wide):
        count += 1
    return count


def _goes_on(rows: Rows, count: int, *, wide: bool) -> bool:
    above, below, rest = rows[count - 1], rows[count], rows[count + 1 :][:LOOKED_AT]
    going_down = {cell.merge for cell in above if cell.merge} & {cell.merge for cell in below if cell.merge}
    own = [cell for cell in below if cell.merge not in going_down]
    if not any(cell.text for cell in own):
        return False
    if any(cell.is_number for cell in own) and not _counts_up([cell.text for cell in own]):
        return False
    sizes = Counter(cell.merge for cell in above if cell.merge)
    if wide and any(1 < size < len(above) for size in sizes.values()):
        return True
    far = {cell.merge for row in rows[MOST_HEAD_ROWS:][:1] for cell in row}
    return bool(going_down) and not going_down & far and any(cell.is_number for row in rest for cell in row)


def _has_second_row(rows: Rows) -> bool:
    """Whether the second row continues the head: with names below names that span several columns, or with units."""
    first, second = ([cell.text for cell in row] for row in rows[:2])
    named = _names_over_numbers(rows, 2)
    if len(rows) < 3 or not named or any(map(_digits, second)) or len(first) != len(second):
        return False
    is_group = all(map(max, first, second)) and sum(map(bool, second)) > 1 and any(first[1:]) and not all(first[1:])
    is_unit = all(first) and not second[0] and any(second) and all(map(_is_short, second))
    return is_group or is_unit


def _is_short(text: str) -> bool:
    return len(text) <= 12


def _names_over_numbers(rows: Rows, count: int) -> list[int]:
    """The columns with mostly numbers in the rows from `count` on, and text without a number in the row before."""
    found = []
    for column, cell in enumerate(rows[count - 1]):
        below = [row[column] for row in rows[count : count + LOOKED_AT] if column < len(row) and row[column].text]
        numbers = sum(other.is_number or _digits(other.text) for other in below)
        if below and numbers >= MOST * len(below) and cell.text and not cell.is_number and not _digits(cell.text):
            found.append(column)
    return found


def _is_data(rows: Rows) -> bool:
    """Whether some cell of the first row is like those below it, and none is a name above numbers."""
    if _counts_up([cell.text for cell in rows[0]]):
        return False
    alike = 0
    for column, cell in enumerate(rows[0]):
        below = [row[column].text for row in rows[1 : LOOKED_AT + 1] if column < len(row) and row[column].text]
        if not cell.text or not below:
            continue
        is_alike = _is_of_the_shape(cell.text, below)
        if not is_alike and not _digits(cell.text) and sum(map(_digits, below)) >= MOST * len(below):
            return False
        alike += is_alike
    return alike > 0


def _is_of_the_shape(text: str, below: Sequence[str]) -> bool:
    """Whether most cells below have the same signs around their numbers, or end as sentences like the text."""
    shapes = Counter(map(_shape, below))
    shape = _shape(text)
    if "9" in shape and shapes.most_common(1)[0][1] >= MOST * len(below):
        return shapes[shape] >= MOST * len(below) and (len(shape) > 1 or _is_of_the_size(text, below))
    if "9" in shape:  # each in another unit, as in forms
        return len(shape) > 1 and _digits(text) and sum(map(_digits, below)) >= MOST * len(below)
    ends = sum(other[-1] in SENTENCE_ENDS for other in below)
    return text[-1] in SENTENCE_ENDS and len(text) > 2 and ends >= MOST * len(below) and len(below) > 1


def _is_of_the_size(text: str, below: Sequence[str]) -> bool:
    value, values = _value(text), [_value(other) for other in below if _shape(other) == "9"]
    middle = median(values)
    return min(*values, middle / APART) <= value <= max(*values, middle * APART)


def _counts_up(texts: Sequence[str]) -> bool:
    """Whether the numbers of a row, such as years, rise by one from column to column."""
    values = [_value(text) for text in texts if _shape(text) == "9"]
    return len(values) > 1 and all(other - one == values[1] - values[0] == 1 for one, other in pairwise(values))


def _digits(text: str) -> bool:
    """Whether a text begins with a number, whatever its sign, currency and unit."""
    return UNSIGNED.sub("", text)[:1].isdecimal()


def _shape(text: str) -> str:
    """
    >>> _shape("GX-031"), _shape("1,200.50 GB")
    ('gx-9', '9 gb')
    """
    return NUMBER.sub("9", text.strip().lower())


def _value(text: str) -> float:
    digits = re.sub(r"[^\d.]", "", text)
    try:
        return float(digits)
    except ValueError:
        return 0.0

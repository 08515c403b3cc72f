"""Tables -> rows of texts: merged cells in all their places, one head, and the lines above and between the rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ingest.formats.html.layout import cells_of
from ingest.formats.html.tree import name_of, text_of

# Rows and columns that a cell may span; more are a mistake, or meant to do harm.
MOST_SPAN = 100
MOST_COPIES = 5_000
MOST_COPIED_CHARACTERS = 500_000


@dataclass(slots=True)
class Budget:
    """How many copies of merged cells a page may still make."""

    cells: int = MOST_COPIES
    characters: int = MOST_COPIED_CHARACTERS

    def copy(self, text: str) -> str | None:
        """A copy of the text; empty if it would exceed the characters, None if no more cells may be copied."""
        if self.cells <= 0:
            return None
        self.cells -= 1
        self.characters -= len(text)
        return text if self.characters >= 0 else ""


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the grid. `cell` is the cell in it, `width` and `height` the columns and rows that the cell spans."""

    text: str
    cell: Any
    width: int = 1
    height: int = 1


@dataclass(slots=True)
class Table:
    """`sections` are runs of rows below one head, each with the line above it."""

    head: list[str]
    sections: list[tuple[str, list[list[Place]]]] = field(default_factory=list)
    above: list[str] = field(default_factory=list)
    below: list[str] = field(default_factory=list)


def lay_out(table: Any, say: Callable[[Any], str], budget: Budget) -> Table:
    """`say` gives the text of a cell, in one line."""
    captions = [say(part) for part in table if name_of(part) == "caption"]
    groups = _groups(table)
    grids = [_grid(rows, say, budget) for _, rows in groups]
    # A foot may come before the rows in HTML; here it goes last.
    rows = [(kind, row) for (kind, _), grid in zip(groups, grids, strict=True) for row in grid]
    rows = [row for row in rows if row[0] != "tfoot"] + [row for row in rows if row[0] == "tfoot"]
    width = max((len(row) for _, row in rows), default=0)
    titles = 0
    while titles < len(rows) and width > 1 and _is_across(rows[titles][1], width):
        titles += 1
    if titles == len(rows):
        return Table([], above=[*captions, *(row[0].text for _, row in rows if row)])
    body = rows[titles:]
    heads = _head_rows(body)
    result = Table(_one_head([row for _, row in body[:heads]], width), above=captions)
    result.above += [row[0].text for _, row in rows[:titles]]
    title, section = "", list[list[Place]]()
    for _, row in body[heads:]:
        if width > 1 and _is_across(row, width):
            result.sections.append((title, section))
            title, section = row[0].text, []
        elif row and not _repeats(row, result.head):
            section.append(row)
    result.sections.append((title, section))
    if len(result.sections) > 1 and not section and title:  # a remark below the last row
        result.sections.pop()
        result.below.append(title)
    result.sections = [(title, rows) for title, rows in result.sections if title or rows]
    return result


def _repeats(row: Sequence[Place], head: Sequence[str]) -> bool:
    """Whether a row of a long table repeats its head."""
    return all(name_of(place.cell) == "th" for place in row) and [place.text for place in row] == list(head)


def _groups(table: Any) -> list[tuple[str, list[Any]]]:
    """The groups of rows; no cell spans the end of a group."""
    groups: list[tuple[str, list[Any]]] = []
    for part in table:
        name = name_of(part)
        if name in ("thead", "tbody", "tfoot"):
            groups.append((name, [row for row in part if name_of(row) == "tr"]))
        elif name == "tr":
            if not groups or groups[-1][0] != "":
                groups.append(("", []))
            groups[-1][1].append(part)
    return groups


def _grid(rows: Sequence[Any], say: Callable[[Any], str], budget: Budget) -> list[list[Place]]:
    """The rows, with each merged cell in all its places."""
    grid: list[list[Place]] = []
    going_on: dict[int, tuple[Place, int]] = {}  # by column: a cell, and how many more rows it spans
    for number, row in enumerate(rows):
        places: list[Place] = []
        for cell in [*cells_of(row), None]:
            while len(places) in going_on:
                above, left = going_on.pop(len(places))
                if left > 1:
                    going_on[len(places)] = above, left - 1
                text = budget.copy(above.text)
                if text is None:
                    going_on.clear()
                    break
                places.append(Place(text, above.cell, above.width))
            if cell is not None:
                places += _places(cell, say(cell), going_on, len(places), len(rows) - number, budget)
        grid.append(places)
    return grid


def _places(
    cell: Any, text: str, going_on: dict[int, tuple[Place, int]], column: int, rows_left: int, budget: Budget
) -> list[Place]:
    across, down = _span(cell, "colspan", 1), min(_span(cell, "rowspan", rows_left), rows_left)
    places = [Place(text, cell, across, down)]
    for _ in range(across - 1):
        copied = budget.copy(text)
        if copied is None:
            break
        places.append(Place(copied, cell, across, down))
    if down > 1:
        going_on.update((column + number, (place, down - 1)) for number, place in enumerate(places))
    return places


def _span(cell: Any, name: str, all_that_are_left: int) -> int:
    value = str(cell.get(name, "1")).strip()
    if not value.isdecimal() or len(value) > 9:
        return 1
    return min(int(value) or all_that_are_left, MOST_SPAN)


def _is_across(row: Sequence[Place], width: int) -> bool:
    """Whether a row is a single cell that spans the whole table or stands alone."""
    if not row or any(place.cell is not row[0].cell for place in row):
        return False
    return bool(row[0].text) and (len(row) >= width or len(row) == 1) and len(cells_of(row[0].cell.getparent())) == 1


def _head_rows(rows: Sequence[tuple[str, Sequence[Place]]]) -> int:
    """How many of the first rows are the head: those in `thead`, else those of `th` cells, else the first row with all
    the rows that its merged cells span."""
    count = 0
    while count < len(rows) and rows[count][0] == "thead":
        count += 1
    if count:
        return count
    while count < len(rows) and rows[count][1] and all(name_of(place.cell) == "th" for place in rows[count][1]):
        count += 1
    if 0 < count < len(rows):
        return count
    first = rows[0][1]
    tall = {place.height for place in first if place.width == 1}
    wide = any(place.width > 1 and place.height == 1 for place in first)
    return tall.pop() if wide and len(tall) == 1 and max(tall) <= len(rows) else 1


def _one_head(rows: Sequence[Sequence[Place]], width: int) -> list[str]:
    """`训练 显存`: of a head with several rows, the lowest name first, then the names above it."""
    names = []
    for column in range(width):
        texts = [row[column].text for row in rows if column < len(row)]
        names.append(" ".join(dict.fromkeys(filter(None, reversed(texts)))))
    return names


def in_a_line(table: Any, say: Callable[[Any], str], budget: Budget) -> str:
    """A table within a cell as one line: its values in order, each with the name of its column if it has one."""
    found = lay_out(table, say, budget)
    has_head = any(name_of(cell) == "th" for row in table.iter("tr") for cell in cells_of(row))
    rows = [[place.text for place in row] for _, section in found.sections for row in section]
    if not has_head:
        said = [" ".join(filter(None, row)) for row in (found.head, *rows)]
    elif rows:
        said = [", ".join(_named(found.head, row)) for row in rows]
    else:
        said = [" ".join(found.head)]
    return "; ".join(filter(None, [*found.above, *said, *found.below]))


def _named(head: Sequence[str], row: Sequence[str]) -> list[str]:
    names = [*head, *[""] * len(row)]
    return [f"{name}: {value}" if name else value for name, value in zip(names, row, strict=False) if value]


def has_blocks(table: Any) -> bool:
    """Whether a cell holds code of several lines, which no line of a Markdown table can."""
    return any("\n" in str(listing.text or "").strip("\n") for listing in table.iter("pre")) and bool(text_of(table))

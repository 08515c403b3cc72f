"""The cells of a sheet -> its texts and tables: blank rows and columns separate them, merged cells fill all places."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile

from ingest.formats.sheets.heads import (
    BLANK,
    LOOKED_AT,
    SENTENCE_ENDS,
    Cell,
    has_look,
    head_of,
    is_data,
    is_evident,
    joined,
    keys_of,
)
from ingest.formats.sheets.sheet import Sheet

# Places that merged cells may fill, fewer with longer texts; more are a mistake, or meant to do harm.
MOST_COPIES = 200_000
# How deeply tables are split into tables.
DEEPEST = 12
# Tables side by side; if there are more, blank columns never belong to a table.
MOST_SIDES = 50
# The most titles above a table.
MOST_TITLES = 20
# A cell with more characters than this is prose.
LONG = 40
Places = Sequence[tuple[int, int]]


@dataclass(slots=True)
class Block:
    """A table between texts, or texts alone. A row with one text over all columns begins a part of the table, and is
    its name."""

    above: list[str]
    head: list[str] = field(default_factory=list)
    parts: list[tuple[str, list[list[str]]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Grid:
    """The rows and columns of one table, without the blank ones."""

    rows: list[int]
    columns: list[int]
    head_rows: int | None = None  # rows of the head, if the file says so


def blocks_of(sheet: Sheet, *, is_delimited: bool = False) -> list[Block]:
    """The blocks of a sheet, from top to bottom and from left to right. In delimited text blank columns do not separate
    tables, and blank lines only those with evident heads."""
    return _Layout(sheet, is_delimited=is_delimited).blocks()


class _Layout:
    def __init__(self, sheet: Sheet, *, is_delimited: bool) -> None:
        self.sheet = sheet
        self.is_delimited = is_delimited
        self.cells = dict(sheet.cells)
        self._fill_merges()
        # The text of a hidden cell only counts where a merge shows it.
        self.cells = {place: cell for place, cell in self.cells.items() if not sheet.is_hidden(*place)}

    def blocks(self) -> list[Block]:
        declared, rest = [], dict.fromkeys(self.cells)
        for area, head in self.sheet.tables:
            inside = [place for place in rest if area.holds(*place)]
            if inside:
                declared.append(self._grid(inside, head))
                rest = {place: None for place in rest if not area.holds(*place)}
        grids = [*declared, *self._parted(list(rest), 0)]
        if declared:
            grids.sort(key=lambda grid: (grid.rows[0], grid.columns[0]))
        return [self._block(part) for grid in grids for part in self._cut_at_heads(grid)]

    def _fill_merges(self) -> None:
        """Repeat each merged cell in all its places, within the rows and columns that hold anything."""
        rows = sorted({row for row, _ in self.cells})
        columns = sorted({column for _, column in self.cells})
        left = MOST_COPIES
        for number, area in enumerate(self.sheet.merges, start=1):
            inside = [
                (row, column)
                for row in rows[bisect_left(rows, area.top) : bisect_right(rows, area.bottom)]
                for column in columns[bisect_left(columns, area.left) : bisect_right(columns, area.right)]
            ][: left + 1]
            said = next((self.cells[place] for place in inside if place in self.cells), None)
            if said is None:
                continue
            left -= len(inside) * (1 + len(said.text) // 20)
            if left < 0:
                self.sheet.warnings.append(f"only {MOST_COPIES:,} places of merged cells were filled")
                break
            self.cells |= dict.fromkeys(inside, said._replace(merge=number))

    def _parted(self, places: Places, depth: int) -> list[_Grid]:
        """The tables in these places, split at blank rows, then at blank columns, then again."""
        groups = self._split(places, axis=0)
        found: list[_Grid] = []
        for group in groups:
            titles, rest = self._title_rows(group)
            found += [self._grid(row) for row in titles]
            may_part = depth < DEEPEST and not self.is_delimited
            sides = self._rejoined(self._split(rest, axis=1)) if may_part else []
            if len(sides) > 1:
                for side in sides:
                    found += self._parted(side, depth + 1)
            elif rest:
                grid = self._grid(rest)
                before = found[-1] if found and not titles else None
                if before is not None and self._goes_on(before, grid):
                    before.rows += grid.rows
                else:
                    found.append(grid)
        return found

    def _split(self, places: Places, *, axis: int) -> list[list[tuple[int, int]]]:
        """The places in groups between blank rows (axis 0) or columns (axis 1); hidden ones do not count as blank."""
        hidden = self.sheet.hidden_rows if axis == 0 else self.sheet.hidden_columns
        lines = sorted({place[axis] for place in places})
        starts = [b for a, b in pairwise(lines) if b - a > 1 and not all(line in hidden for line in range(a + 1, b))]
        groups: list[list[tuple[int, int]]] = [[] for _ in range(len(starts) + 1)]
        for place in places:
            groups[bisect_right(starts, place[axis])].append(place)
        return [group for group in groups if group]

    def _title_rows(self, places: Places) -> tuple[list[Places], Places]:
        """The first rows with one text each, above rows with more; and the places below them."""
        if len({column for _, column in places}) < 2:
            return [], places
        rows = sorted({row for row, _ in places})
        by_row: dict[int, list[tuple[int, int]]] = {row: [] for row in rows[:MOST_TITLES]}
        for place in places:
            if place[0] in by_row:
                by_row[place[0]].append(place)
        titles: list[Places] = [*takewhile(self._says_one_thing, by_row.values())]
        if not titles:
            return [], places
        below = set(rows[len(titles) :])
        return titles, [place for place in places if place[0] in below]

    def _says_one_thing(self, row: Places) -> bool:
        """Whether a row is one cell, or one merge that ends in this row."""
        first = self.cells[row[0]]
        if len(row) == 1:
            below = self.cells.get((row[0][0] + 1, row[0][1]))
            return not (first.merge and below is not None and below.merge == first.merge)
        return first.merge > 0 and all(self.cells[place].merge == first.merge for place in row)

    def _rejoined(self, sides: list[list[tuple[int, int]]]) -> list[list[tuple[int, int]]]:
        """The tables side by side, joined if there is only a blank column of one table between them."""
        found: list[list[tuple[int, int]]] = []
        for side in sides:
            if found and len(sides) <= MOST_SIDES and self._is_one_table(found[-1], side):
                found[-1] = [*found[-1], *side]
            else:
                found.append(side)
        return found

    def _is_one_table(self, left: Places, right: Places) -> bool:
        one, other = self._grid(left), self._grid(right)
        if (one.rows[0], one.rows[-1]) != (other.rows[0], other.rows[-1]) or len(one.rows) < 2:
            return False
        heads = [{cell.text for cell in self._rows(grid)[0] if cell.text} for grid in (one, other)]
        if heads[0] & heads[1]:
            return False
        gap = (one.rows[0], one.columns[-1] + 1)
        look = self.cells[gap[0], one.columns[-1]].look if (gap[0], one.columns[-1]) in self.cells else 0
        if look and self.sheet.blanks.get(gap) == look:
            return True
        # A table of its own has names in its first column.
        names = [row[0] for row in self._rows(other)[1:]]
        texts = {cell.text for cell in names if cell.text and not cell.is_number}
        return len(texts) < len(names)

    def _goes_on(self, before: _Grid, after: _Grid) -> bool:
        """Whether rows below a blank row belong to the table above it."""
        if not set(after.columns) <= set(before.columns) or len(before.columns) < 2 or len(after.columns) < 2:
            return False
        above, below = (self._rows(_Grid(grid.rows, before.columns), LOOKED_AT) for grid in (before, after))
        if [cell.text for cell in above[0]] == [cell.text for cell in below[0]] or is_evident(below):
            return False
        if len(below) == 1:  # such as a sum, which has numbers where the table has
            has_numbers = [any(cell.is_number for row in rows for cell in row) for rows in (above, below)]
            return has_numbers[1] or not has_numbers[0]
        if self.is_delimited and before.columns == after.columns:
            return True
        if len(above) == 1:
            return is_data(below)
        if has_look(above[0]) and not has_look(below[0]):
            return True
        return is_data([below[0], *above[head_of(above) :]])

    def _cut_at_heads(self, grid: _Grid) -> Iterator[_Grid]:
        """The tables that follow each other without a blank row, cut where a row of names looks like the head."""
        rows = self._rows(grid)
        count = head_of(rows) if grid.head_rows is None else len(rows)
        look = rows[0][0].look
        start = 0
        for place in range(count, len(rows) - 1):
            said = [cell for cell in rows[place] if cell.text]
            alike = all(cell.look == look and not cell.is_number and not cell.merge for cell in said)
            if look and count and alike and len(said) > 1 and not has_look(rows[place + 1]):
                yield _Grid(grid.rows[start:place], grid.columns, grid.head_rows)
                start = place
        yield _Grid(grid.rows[start:], grid.columns, grid.head_rows)

    def _grid(self, places: Places, declared: int | None = None) -> _Grid:
        return _Grid(sorted({row for row, _ in places}), sorted({column for _, column in places}), declared)

    def _rows(self, grid: _Grid, most: int | None = None) -> list[list[Cell]]:
        return [[self.cells.get((row, column), BLANK) for column in grid.columns] for row in grid.rows[:most]]

    def _block(self, grid: _Grid) -> Block:
        rows = self._rows(grid)
        if self._is_prose(grid, rows):
            texts = [next(cell.text for cell in row if cell.text) for row in rows]
            return Block(texts, remarks=self._remarks(grid, [], 0))
        count = head_of(rows) if grid.head_rows is None else min(grid.head_rows, len(rows))
        head = joined(rows[:count]) if count else [""] * len(grid.columns)
        numbers, body = grid.rows[count:], rows[count:]
        notes = self._notes(body)
        parts: list[tuple[str, list[list[str]]]] = [("", [])]
        for row, number in zip(body[: len(body) - len(notes)], numbers, strict=False):
            if len(row) > 2 and row[0].merge and self._says_one_thing([(number, column) for column in grid.columns]):
                parts.append((row[0].text, []))
            else:
                parts[-1][1].append([cell.text for cell in row])
        parts = parts[not parts[0][1] and len(parts) > 1 :]
        return Block([], head, parts, notes, self._remarks(grid, head, count))

    def _notes(self, body: Sequence[Sequence[Cell]]) -> list[str]:
        """The texts of the last rows that have one text each: over all columns, or in the first one and longer than any
        name there."""
        longest = max((len(row[0].text) for row in body if any(cell.text for cell in row[1:])), default=0)
        notes: list[str] = []
        for row in reversed(body):
            first = row[0]
            is_merged = first.merge > 0 and all(cell.merge == first.merge for cell in row)
            is_alone = not first.is_number and not any(cell.text for cell in row[1:]) and len(first.text) > longest
            if len(row) < 2 or not longest or not (is_merged or is_alone):
                break
            notes.insert(0, first.text)
        return notes

    def _is_prose(self, grid: _Grid, rows: Sequence[Sequence[Cell]]) -> bool:
        """Whether each row is a text of its own: one cell over all columns, or one column of sentences."""
        if grid.head_rows is not None:
            return False
        if len(rows) == 1:
            return len({cell.text for cell in rows[0]}) == 1
        if len(grid.columns) > 1 or is_evident(rows):
            return False
        return any(len(row[0].text) > LONG or row[0].text[-1] in SENTENCE_ENDS for row in rows[1:])

    def _remarks(self, grid: _Grid, head: Sequence[str], count: int) -> list[str]:
        """The remarks on cells, with the names of their rows and columns."""
        rows, columns = set(grid.rows), set(grid.columns)
        found = sorted(
            place
            for place in self.sheet.remarks
            if place[0] in rows and place[1] in columns and not self.sheet.is_hidden(*place)
        )
        if not found:
            return []
        texts = {number: [cell.text for cell in row] for number, row in zip(grid.rows, self._rows(grid), strict=True)}
        keys = keys_of([*texts.values()][count:])
        body = set(grid.rows[count:]) if head else set()
        said = []
        for row, place in found:
            column = grid.columns.index(place)
            names = [texts[row][column]]
            if row in body:
                own = texts[row][:keys]
                names = own if column < keys else [*own, f"{head[column]} {texts[row][column]}".strip()]
            said.append(f"{' · '.join(filter(None, names))}: {self.sheet.remarks[row, place]}")
        return said


def loose_remarks(sheet: Sheet) -> Iterator[str]:
    """The remarks on cells without text."""
    for place in sorted(sheet.remarks):
        if place not in sheet.cells and not sheet.is_hidden(*place):
            yield sheet.remarks[place]

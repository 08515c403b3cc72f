"""The runs within the rules of a table -> its rows. A cell that spans several places is repeated in each."""

import re
from collections.abc import Iterator, Sequence

from ingest.formats.pdf.glyphs import GUESSED_SPACE, Run
from ingest.formats.pdf.lines import Line, join_pieces, join_runs
from ingest.formats.pdf.rules import Grid, Spot
from ingest.formats.pdf.words import Words, glue

# From this many lines on, the lines of a ruled row are rows of their own if they are level in all columns.
LEAST_ROWS = 3
SAME_HEIGHT = 3.0
WORD = re.compile(f"[^ {GUESSED_SPACE}]+")
# Limits on the places that a cell may span; more are a frame, or meant to do harm.
MOST_COPIES, MOST_SPAN, MOST_PLACES = 500, 100, 20_000


def in_grid(run: Run, grid: Grid) -> bool:
    box = run.box
    return grid.holds((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)


def table_of(grid: Grid, runs: Sequence[Run], words: Words) -> Line:
    """The table formed by a grid and the runs in it."""
    regions = _regions(grid, runs)
    contents: dict[Spot, list[Run]] = {}
    for run in runs:
        for part in _cut_at_columns(run, grid, regions):
            contents.setdefault(_spot(part, grid, regions), []).append(part)
    lines = {spot: join_pieces(join_runs(found)) for spot, found in contents.items()}
    rows: list[tuple[str, ...]] = []
    for row in range(len(grid.rows) - 1):
        spots = [regions.get((row, column), (row, column)) for column in range(len(grid.columns) - 1)]
        own = {spot: lines.get(spot, []) for spot in spots}
        if heights := _heights_of_rows([found for spot, found in own.items() if spot[0] == row and found]):
            rows += (tuple(_at_height(own[spot], heights, n, words) for spot in spots) for n in range(len(heights)))
        else:
            rows.append(tuple(text_of(own[spot], words) for spot in spots))
    return Line("", grid.box, 0.0, rows=tuple(row for row in rows if any(row)), columns=grid.columns)


def text_of(lines: Sequence[Line], words: Words) -> str:
    text = ""
    for line in lines:
        said = line.text.strip()
        if text and said:
            between, cut = glue(text, said, words)
            text = text[: len(text) - cut] + between
        text += said
    return text


def _spot(run: Run, grid: Grid, regions: dict[Spot, Spot]) -> Spot:
    box = run.box
    spot = grid.row((box[1] + box[3]) / 2), grid.column((box[0] + box[2]) / 2)
    return regions.get(spot, spot)


def _cut_at_columns(run: Run, grid: Grid, regions: dict[Spot, Spot]) -> Iterator[Run]:
    """The parts of a run that are in different cells, cut between words on different sides of a rule."""
    row = grid.row((run.bottom + run.top) / 2)
    start, before = 0, None
    for word in WORD.finditer(run.text):
        column = grid.column((run.lefts[word.start()] + run.rights[word.end() - 1]) / 2)
        spot = regions.get((row, column), (row, column))
        if before is not None and spot != before:
            yield run.cut(start, word.start())
            start = word.start()
        before = spot
    yield run.cut(start, len(run.text))


def _regions(grid: Grid, runs: Sequence[Run]) -> dict[Spot, Spot]:
    """For each place of a cell that spans several, the upper left place of that cell."""
    height, width = len(grid.rows) - 1, len(grid.columns) - 1
    if height * width > MOST_PLACES:
        return {}
    at: dict[Spot, list[Run]] = {}
    for run in runs:
        spot = grid.row((run.bottom + run.top) / 2), grid.column((run.left + run.right) / 2)
        at.setdefault(spot, []).append(run)
    first: dict[Spot, Spot] = {}
    taken: set[Spot] = set()
    for row in range(height):
        for column in range(width):
            if (row, column) in taken:
                continue
            right = column + 1
            while (
                right < min(width, column + MOST_SPAN)
                and (row, right) not in taken
                and not grid.parts(row, right - 1, down=False)
            ):
                right += 1
            below = row + 1
            while below < min(height, row + MOST_SPAN) and not any(
                grid.parts(below - 1, place, down=True) for place in range(column, right)
            ):
                below += 1
            spots = {(r, c) for r in range(row, below) for c in range(column, right)}
            inside = [(spot[0], run) for spot in sorted(spots) for run in at.get(spot, ())]
            if 1 < len(spots) <= MOST_COPIES and not _are_cells(grid, inside, below - row, right - column):
                first.update(dict.fromkeys(spots, (row, column)))
                taken |= spots
    return first


def _are_cells(grid: Grid, inside: Sequence[tuple[int, Run]], height: int, width: int) -> bool:
    """Whether places without a rule between them are cells of their own: each run (given with its row) is within one
    column, and several are side by side, or there is one line in each row."""
    beside: dict[tuple[int, int], set[int]] = {}
    for row, run in inside:
        one, other = grid.column(run.left + 1), grid.column(run.right - 1)
        if one != other:
            return False
        beside.setdefault((row, round(run.baseline / SAME_HEIGHT)), set()).add(one)
    if any(len(columns) > 1 for columns in beside.values()):
        return True
    rows = [row for row, _ in beside]
    return width == 1 and height > 1 and len(set(rows)) == len(rows) == height


def _heights_of_rows(cells: Sequence[Sequence[Line]]) -> list[float]:
    """The baselines of the rows within a ruled row; empty if it is a single row, perhaps of wrapped lines."""
    if len(cells) < 2 or min(map(len, cells)) < LEAST_ROWS or len({len(lines) for lines in cells}) > 1:
        return []
    heights = [line.baseline for line in cells[0]]
    for lines in cells[1:]:
        if any(abs(line.baseline - height) > SAME_HEIGHT for line, height in zip(lines, heights, strict=True)):
            return []
    return heights


def _at_height(lines: Sequence[Line], heights: Sequence[float], number: int, words: Words) -> str:
    if len(lines) != len(heights):
        return text_of(lines, words)
    return lines[number].text.strip()

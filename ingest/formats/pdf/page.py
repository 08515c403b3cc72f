"""One page of a PDF -> its lines in reading order, tables put together."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pypdfium2

from ingest.formats.pdf.aligned import with_tables
from ingest.formats.pdf.cells import in_grid, table_of
from ingest.formats.pdf.columns import in_columns
from ingest.formats.pdf.glyphs import ASLANT, Glyphs, Run, view_of
from ingest.formats.pdf.legible import legible
from ingest.formats.pdf.lines import Line, join_runs
from ingest.formats.pdf.notes import Notes
from ingest.formats.pdf.placing import with_fields, with_remarks
from ingest.formats.pdf.rules import Grid, drawings, grids
from ingest.formats.pdf.words import Words

# A page with less text than this, most of it a picture, is a scan.
FEW_CHARACTERS, PICTURE = 16, 0.4
# A page that is mostly a picture, with no more text than a caption, hides what the picture says.
MOST_OF_A_CAPTION, LARGE_PICTURE = 160, 0.7
# Shapes on a page without text or picture that may be letters.
MANY_SHAPES = 40


@dataclass(frozen=True, slots=True)
class Page:
    """`illegible` counts the letters that cannot be read as text. `is_scan`: a picture replaces the text.
    `is_pictured`: a picture covers most of a page with little text. `is_cut`: not all characters were read."""

    lines: tuple[Line, ...]
    width: float
    height: float
    is_scan: bool = False
    is_pictured: bool = False
    is_cut: bool = False
    illegible: int = 0


def read_page(page: pypdfium2.PdfPage, number: int, notes: Notes) -> Page:
    """The lines of a page, with the fields and remarks on it. A page without text that shows a picture is a scan."""
    view = view_of(page)
    text_page = page.get_textpage()
    try:
        glyphs = Glyphs(text_page, view)
        runs = glyphs.read()
        if turn := _turn_of_most(runs):
            view = view.turned(4 - turn)
            runs = Glyphs(text_page, view).read()
    finally:
        text_page.close()
    runs, illegible = legible(runs)
    drawn = drawings(page, view)
    found = grids(drawn.rules)
    put_on = notes.read(page, number, view)
    count = sum(len(run.text) for run in runs)
    runs = with_fields(runs, [note for note in put_on if note.is_field], found)
    words = Words(lambda: (run.text for run in runs))
    lines = with_tables(_lines(runs, found, words), words)
    lines = in_columns([line for line in lines if line.is_table or line.text.strip()], view.width)
    is_scan = count < FEW_CHARACTERS and (drawn.picture_share > PICTURE or (not count and drawn.shapes > MANY_SHAPES))
    return Page(
        tuple(with_remarks(lines, [note for note in put_on if not note.is_field])),
        view.width,
        view.height,
        is_scan=is_scan and not illegible,
        is_pictured=not is_scan and count < MOST_OF_A_CAPTION and drawn.picture_share > LARGE_PICTURE,
        is_cut=glyphs.is_cut,
        illegible=illegible,
    )


def _turn_of_most(runs: Sequence[Run]) -> int:
    """By how many quarters most of the text is turned, as in a wide table that is printed sideways."""
    turns: Counter[int] = Counter()
    for run in runs:
        turns[run.turn % ASLANT] += len(run.text)
    turn, count = max(turns.items(), key=lambda item: item[1], default=(0, 0))
    return turn if 2 * count > turns.total() else 0


def _lines(runs: Sequence[Run], found: Sequence[Grid], words: Words) -> list[Line]:
    """The lines outside the grids, and a table for each grid where its first run is painted."""
    lines: list[Line] = []
    outside: list[Run] = []
    inside: dict[int, list[Run]] = {}
    places: list[tuple[int, int]] = []
    for run in runs:
        number = next((n for n, grid in enumerate(found) if in_grid(run, grid)), None)
        if number is None:
            outside.append(run)
        elif number in inside:
            inside[number].append(run)
        else:
            inside[number] = [run]
            places.append((len(outside), number))
    start = 0
    for place, number in places:
        lines += join_runs(outside[start:place])
        lines.append(table_of(found[number], inside[number], words))
        start = place
    return lines + join_runs(outside[start:])

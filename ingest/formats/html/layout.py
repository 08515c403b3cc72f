"""Which tables only serve the layout of the page, and which hold a listing with its line numbers."""

from typing import Any

from ingest.formats.html.tree import HEADINGS, elements, name_of, role_of, size_of, text_of

# A cell with more paragraphs and letters than this is a piece of text, not a value.
MOST_PARAGRAPHS, MOST_LETTERS = 2, 200


def rows_of(table: Any) -> list[Any]:
    """The rows of a table, without those of tables within it."""
    rows = []
    for part in table:
        if name_of(part) == "tr":
            rows.append(part)
        elif name_of(part) in ("thead", "tbody", "tfoot"):
            rows += [row for row in part if name_of(row) == "tr"]
    return rows


def cells_of(row: Any) -> list[Any]:
    return [cell for cell in row if name_of(cell) in ("td", "th")]


def is_layout(table: Any) -> bool:
    """Whether a table holds no rows of values: it says so, has one cell per row, or its cells hold whole texts."""
    rows = [cells for row in rows_of(table) if (cells := cells_of(row))]
    if not rows:
        return True
    cells = [cell for row in rows for cell in row]
    has_head = any(name_of(cell) == "th" for cell in cells) or any(name_of(part) == "caption" for part in table)
    if has_head:
        return False
    if role_of(table) in ("presentation", "none"):
        return True
    if max(map(len, rows)) == 1:
        return True
    if any(_holds_text(cell) for cell in cells):
        return True
    nested = sum(size_of(inner) for inner in table.iter("table") if inner is not table)
    return bool(nested) and (len(rows) == 1 or nested * 2 > size_of(table))


def _holds_text(cell: Any) -> bool:
    if elements(cell, *HEADINGS, "article", "section", "main"):
        return True
    paragraphs = [part for part in cell.iter("p", "pre", "blockquote") if size_of(part)]
    return len(paragraphs) > MOST_PARAGRAPHS and size_of(cell) > MOST_LETTERS


def listing_of(table: Any) -> tuple[list[Any], list[Any]] | None:
    """The code cells and the other cells of a table that is a listing (numbers beside code); None for other tables."""
    rows = [cells for row in rows_of(table) if (cells := cells_of(row))]
    titles = [row[0] for row in rows if len(row) == 1]
    pairs = [row for row in rows if len(row) > 1]
    if not pairs or any(len(row) != 2 for row in pairs):
        return None
    numbers = [number for row in pairs for number in _numbers(row[0])]
    marked = all(row[0].get("data-line-number") is not None and not text_of(row[0]) for row in pairs)
    if not marked and not any(_is_code(table, code) for _, code in pairs):
        return None
    if not marked and (not count_up(numbers) or any(not _numbers(row[0]) for row in pairs)):
        return None
    return [code for _, code in pairs], [*titles, *(number for number, _ in pairs)]


def _is_code(table: Any, cell: Any) -> bool:
    inside = any(name_of(parent) in ("pre", "code") for parent in table.iterancestors())
    return inside or bool(elements(cell, "pre", "code")) or cell.get("data-line-number") is not None


def _numbers(cell: Any) -> list[int]:
    """The line numbers in a cell that holds nothing else."""
    words = text_of(cell).split() or str(cell.get("data-line-number") or "").split()
    return [int(word) for word in words] if all(word.isdecimal() and len(word) < 7 for word in words) else []


def count_up(numbers: list[int]) -> bool:
    """Whether these are consecutive line numbers."""
    return bool(numbers) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))

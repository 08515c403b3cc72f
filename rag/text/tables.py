"""Tables of Markdown, row by row."""

import re

BAR = re.compile(r"(?<!\\)\|")


def cells_of(row: str) -> list[str]:
    """The cells of a row, without the bars around it."""
    cells = [cell.strip() for cell in BAR.split(row.strip())]
    return cells[not cells[0] : len(cells) - (not cells[-1])]


def rows_in_words(table: str) -> list[str]:
    """Each row with its column names, as far as it is filled; a table of a head alone as it is.

    >>> rows_in_words("| 卡 | 月租 |\\n|---|---|\\n| H20 | 6900 |")
    ['卡：H20；月租：6900']
    """
    head, *rows = table.split("\n")
    names = cells_of(head)
    said = [
        "；".join(f"{name}：{cell}" if name else cell for name, cell in zip(names, cells_of(row), strict=False) if cell)
        for row in rows
        if row.strip("|-: ")
    ]
    return said or [table]

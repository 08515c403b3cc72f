"""Figures as a table in HTML."""

from collections.abc import Sequence
from html import escape


def figures(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is its head. Cells are escaped."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows[1:])
    return (
        '<div class="scroll" tabindex="0"><table class="figures">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )

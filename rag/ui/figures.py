"""Figures as a table in HTML."""

from collections.abc import Mapping, Sequence
from html import escape

NO_NAMES: Mapping[str, str] = {}


def figures(rows: Sequence[Sequence[str]], names: Mapping[str, str] = NO_NAMES) -> str:
    """A table whose first row is its head. A cell that is a key of `names` is shown by its name and keeps the key as
    its title. Cells are escaped."""

    def cell(tag: str, text: str) -> str:
        name = names.get(text, text)
        title = "" if name == text else f' title="{escape(text)}"'
        return f"<{tag}{title}>{escape(name)}</{tag.split()[0]}>"

    head = "".join(cell('th scope="col"', text) for text in rows[0])
    body = "".join(f"<tr>{''.join(cell('td', text) for text in row)}</tr>" for row in rows[1:])
    return (
        '<div class="scroll" tabindex="0"><table class="figures">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )

"""Writes Markdown for format readers: tables, fences, formulas."""

import re
from collections.abc import Sequence

# More columns than this make rows that no passage can hold; the first column is repeated beside each group.
MAX_COLUMNS = 12
# A number of a list that Markdown knows.
LIST_NUMBER = re.compile(r"\d{1,9}[.)]")


def heading(text: str, level: int) -> str:
    return f"{'#' * min(max(level, 1), 6)} {' '.join(text.split())}"


def table(rows: Sequence[Sequence[str]], *, headless: bool = False, keys: int = 1) -> str:
    """A table, its first row as the head, or with a blank one. Rows may differ in length; wide tables become several,
    each with the first `keys` columns, which identify the rows."""
    width = max(map(len, rows), default=0)
    filled = [[_cell(cell) for cell in row] + [""] * (width - len(row)) for row in rows]
    filled = [row for row in filled if any(row)]
    used = [column for column in range(width) if any(row[column] for row in filled)]
    if not used:
        return ""
    if headless:
        filled.insert(0, [""] * width)
    if len(used) > MAX_COLUMNS:
        step = MAX_COLUMNS - keys
        groups = [[*used[:keys], *used[keys:][start : start + step]] for start in range(0, len(used) - keys, step)]
    else:
        groups = [used]
    return "\n\n".join(_grid([[row[column] for column in group] for row in filled]) for group in groups)


def _grid(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def _cell(text: str) -> str:
    return " ".join(re.sub(r"(?<!\\)\|", r"\\|", text).split())


RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")
# Text above or below the line in formulas; and the ends of words that print raises.
FORMULA = re.compile(r"[!-~−×·′∞α-ωΑ-Ω\u2070-\u209f²³¹ ]{1,20}")
ORDINALS = frozenset({"st", "nd", "rd", "th", "er", "re", "tm", "sm"})
LOWERED = str.maketrans("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎")


def raised(text: str) -> str:
    """Text above the line: 10²³, n⁻¹, x^{T}; marks in brackets, such as those of footnotes, as they are."""
    return _off_the_line(text, RAISED, "^")


def lowered(text: str) -> str:
    """Text below the line: H₂O, x_{t}."""
    return _off_the_line(text, LOWERED, "_")


def _off_the_line(text: str, characters: dict[int, int], mark: str) -> str:
    said = text.strip()
    if not said or said[0] in "[［【":
        return text
    if all(ord(character) in characters for character in said):
        return said.translate(characters)
    return f"{mark}{{{said}}}" if FORMULA.fullmatch(said) and said.lower() not in ORDINALS else text


def fence(code: str, language: str = "") -> str:
    """Code between fences that are longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    return f"{mark}{language}\n{code.strip(chr(10))}\n{mark}"


def formula(tex: str, *, display: bool) -> str:
    tex = " ".join(tex.split())
    if not tex:
        return ""
    return f"$$\n{tex}\n$$" if display else f"${tex}$"

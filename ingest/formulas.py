r"""Scraped KaTeX formulas stand three times in a row: as MathML text, as LaTeX, and as rendered text. Keep the LaTeX
once.

`损失值放大2k2^k2k倍` becomes `损失值放大$2^k$倍`. The first and third rendering hold the same characters (a fraction
may order
them differently), and the LaTeX in the middle holds those characters too once its commands are replaced by what they
print.
"""

import re
from collections import Counter
from collections.abc import Iterator

from rag.mapped_text import MappedText

# What a page without Chinese letters or full-width punctuation around it could be a formula.
RUN = re.compile(r"[^\u3000-\u303f\u3400-\u9fff\uff00-\uffef\n“”]+")
# The search is cubic in the length of a run; longer lines are data, not prose with formulas.
MAX_LINE = 3_000
PRINTED = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "ϕ",
    "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Pi": "Π",
    "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "sum": "∑", "prod": "∏", "int": "∫", "partial": "∂", "nabla": "∇",
    "infty": "∞", "cdot": "⋅", "times": "×", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "approx": "≈", "sim": "∼",
    "in": "∈", "to": "→", "rightarrow": "→", "leftarrow": "←", "top": "⊤", "odot": "⊙", "oplus": "⊕", "propto": "∝", "dots": "…",
    "ldots": "…", "cdots": "⋯", "mid": "∣", "log": "log", "exp": "exp", "max": "max", "min": "min", "sqrt": "", "frac": "",
    "hat": "", "bar": "", "tilde": "", "text": "", "mathrm": "", "mathbf": "", "mathcal": "", "left": "", "right": "", "quad": "",
}  # fmt: skip
SAME = str.maketrans({"-": "−", "|": "∣", "’": "′", "'": "′", "*": "∗"})
INVISIBLE = str.maketrans("", "", "{}_^\\ \u200b^ˉ~")


def keep_formulas_once(line: MappedText, *, weak: bool) -> MappedText:
    """Replace each threefold formula of a line by its LaTeX in `$…$`.

    A formula without LaTeX markup (`sss`, `k=16k=16k=16`) could also be ordinary text: it counts only with `weak`,
    which the caller sets on pages that show a threefold formula with markup somewhere.
    """
    if len(line) > MAX_LINE:
        return line
    parts: list[MappedText] = []
    position = 0
    for run in RUN.finditer(line.text):
        start = run.start()
        while start < run.end():
            found = _threefold_at(line.text, start, run.end(), weak=weak) if _starts_here(line.text, start) else None
            if found is None:
                start += 1
                continue
            latex_start, latex_end, end = found
            parts += [line[position:start], MappedText.added("$"), line[latex_start:latex_end], MappedText.added("$")]
            position = start = end
    return MappedText.join("", [*parts, line[position:]]) if parts else line


def has_marked_threefold(text: str) -> bool:
    """Whether the page shows a threefold formula whose LaTeX has markup, which proves that it was scraped from
    KaTeX."""
    for line in text.splitlines():
        if len(line) > MAX_LINE or ("\\" not in line and "_" not in line and "^" not in line):
            continue
        for run in RUN.finditer(line):
            if any(
                _threefold_at(line, start, run.end(), weak=False)
                for start in range(run.start(), run.end())
                if _starts_here(line, start)
            ):
                return True
    return False


def _starts_here(text: str, position: int) -> bool:
    return position == 0 or not (text[position - 1].isascii() and text[position - 1].isalnum())


def _threefold_at(text: str, start: int, limit: int, *, weak: bool) -> tuple[int, int, int] | None:
    """(LaTeX start, LaTeX end, end of the third rendering) of the longest threefold formula that begins at `start`."""
    for end in _ends(text, start, limit):
        length = end - start
        for size in range(length // 3, 0, -1):
            first, latex, last = text[start : start + size], text[start + size : end - size], text[end - size : end]
            if len(latex) < size - first.count("∣"):
                continue
            if first[0] not in last or first[-1] not in last or last[-1] not in first:
                continue
            marked = "\\" in latex or "_" in latex or "^" in latex
            if not any(character.isalnum() for character in first):
                continue
            if not marked and (not weak or latex.translate(SAME) != first.translate(SAME)):
                continue
            if Counter(first) == Counter(last) and Counter(_printed(latex)) == Counter(_visible(first)):
                return start + size, end - size, end
    return None


def _ends(text: str, start: int, limit: int) -> Iterator[int]:
    for end in range(limit, start + 2, -1):
        if end == len(text) or not (
            text[end].isascii() and text[end].isalnum() and text[end - 1].isascii() and text[end - 1].isalnum()
        ):
            yield end


def _printed(latex: str) -> str:
    printed = re.sub(r"\\([A-Za-z]+)", lambda match: PRINTED.get(match[1], match[1]), latex)
    return _visible(printed)


def _visible(text: str) -> str:
    return text.translate(SAME).translate(INVISIBLE)

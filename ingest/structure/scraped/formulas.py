r"""Scraped KaTeX formulas occur three times in a row: as MathML text, as LaTeX, and as rendered text. Keep the LaTeX
once.

`损失值放大2k2^k2k倍` becomes `损失值放大$2^k$倍`. The first and third rendering hold the same characters (a fraction
may order them differently), and the LaTeX in the middle holds those characters too once its commands are replaced by
what they print.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from rag.text.mapped import MappedText

# A run without Chinese characters and full-width punctuation, which may contain a formula.
RUN = re.compile(r"[^\u3000-\u303f\u3400-\u9fff\uff00-\uffef\n“”]+")
MARKS = "\\_^"
MARKUP = re.compile(f"[{re.escape(MARKS)}]")
# Formulas and code that someone wrote as such: scraping leaves no marks around them.
WRITTEN = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$|`[^`\n]+`")
COMMAND = re.compile(r"\\([A-Za-z]+)")
# Longer lines are data, not prose with formulas; a longer rendering has not been seen.
MAX_LINE = 3_000
MAX_RENDERED = 200
PRINTED = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "ϕ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ",
    "Theta": "Θ", "Lambda": "Λ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "sum": "∑",
    "prod": "∏", "int": "∫", "partial": "∂", "nabla": "∇", "infty": "∞", "cdot": "⋅", "times": "×", "leq": "≤",
    "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "approx": "≈", "sim": "∼", "in": "∈", "to": "→", "rightarrow": "→",
    "leftarrow": "←", "top": "⊤", "odot": "⊙", "oplus": "⊕", "propto": "∝", "dots": "…", "ldots": "…", "cdots": "⋯",
    "mid": "∣", "log": "log", "exp": "exp", "max": "max", "min": "min", "sqrt": "", "frac": "", "hat": "", "bar": "",
    "tilde": "", "text": "", "mathrm": "", "mathbf": "", "mathcal": "", "left": "", "right": "", "quad": "",
}  # fmt: skip
SAME = str.maketrans({"-": "−", "|": "∣", "’": "′", "'": "′", "*": "∗"})
INVISIBLE = str.maketrans("", "", "{}_^\\ \u200b^ˉ~")


class Threefold(NamedTuple):
    """The three renderings are `start:latex`, `latex:last` and `last:end` of the line."""

    start: int
    latex: int
    last: int
    end: int


def keep_formulas_once(line: MappedText, *, weak: bool) -> MappedText:
    """Replace each threefold formula of a line by its LaTeX in `$…$`.

    A formula without LaTeX markup (`sss`, `k=16k=16k=16`) could also be ordinary text: it counts only with `weak`,
    which the caller sets on pages that show a threefold formula with markup somewhere. A rendering has no markup, and
    no blanks but with `weak`.
    """
    parts: list[MappedText] = []
    position = 0
    for found in _threefolds(line.text, weak=weak):
        dollar = MappedText.added("$")
        parts += [line[position : found.start], dollar, line[found.latex : found.last], dollar]
        position = found.end
    return MappedText.join("", [*parts, line[position:]]) if parts else line


def has_marked_threefold(line: str) -> bool:
    """Whether a line shows a threefold formula whose LaTeX has markup: that proves it was scraped from KaTeX."""
    return bool(MARKUP.search(line)) and any(True for _ in _threefolds(WRITTEN.sub("\n", line), weak=False))


def _threefolds(text: str, *, weak: bool) -> Iterator[Threefold]:
    if len(text) > MAX_LINE or not (weak or MARKUP.search(text)):
        return
    for run in RUN.finditer(text):
        if weak or MARKUP.search(run[0]):
            for found in _in_run(run[0], weak=weak):
                yield Threefold(*(run.start() + place for place in found))


def _in_run(run: str, *, weak: bool) -> Iterator[Threefold]:
    """The threefold formulas of a run, leftmost first; of those with the same start, the longest.

    Stretches with the same characters in any order are found by sums of character hashes: for a first rendering
    `start:latex` the sums say where the LaTeX must end, so the time is linear in the length of the run.
    """
    shown = [hash(_visible(character)) for character in run]  # the hash of "" is 0
    printed = list(shown)
    for command in COMMAND.finditer(run):
        name = _command_name(command[1])
        end = command.start() + 1 + len(name)
        printed[command.start() : end] = [0] * (end - command.start())
        printed[end - 1] = sum(hash(character) for character in _visible(PRINTED.get(name, name)))
    shown_until = list(accumulate(shown, initial=0))
    printed_until = list(accumulate(printed, initial=0))
    ends_of_latex: defaultdict[int, list[int]] = defaultdict(list)
    for place, total in enumerate(printed_until):
        ends_of_latex[total].append(place)
    ends_of_rendering = MARKS if weak else f"{MARKS} "
    position = 0
    for start in range(len(run)):
        if start < position or not shown[start] or (start and (_is_latin(run[start - 1]) or run[start - 1] == "\\")):
            continue
        best: Threefold | None = None
        for latex in range(start + 1, min(start + MAX_RENDERED, len(run)) + 1):
            if run[latex - 1] in ends_of_rendering:
                break
            size = latex - start
            for last in ends_of_latex.get(printed_until[latex] + shown_until[latex] - shown_until[start], ()):
                found = Threefold(start, latex, last, last + size)
                if (best is None or (found.end, size) > (best.end, best.latex - start)) and _is_threefold(
                    run, found, weak=weak
                ):
                    best = found
        if best is not None:
            yield best
            position = best.end


def _is_threefold(run: str, found: Threefold, *, weak: bool) -> bool:
    if found.end > len(run) or found.last <= found.latex:
        return False
    if found.end < len(run) and _is_latin(run[found.end - 1]) and _is_latin(run[found.end]):
        return False  # inside a word
    first, latex, last = (run[a:b] for a, b in pairwise(found))
    if len(latex) < len(first) - first.count("∣") or not any(character.isalnum() for character in first):
        return False
    if not MARKUP.search(latex) and not (weak and latex.translate(SAME) == first.translate(SAME)):
        return False
    return Counter(first) == Counter(last) and Counter(_printed(latex)) == Counter(_visible(first))


def _is_latin(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _command_name(letters: str) -> str:
    """`alphar` is `\\alpha` and the first letter of the next rendering."""
    return next((letters[:end] for end in range(len(letters), 0, -1) if letters[:end] in PRINTED), letters)


def _printed(latex: str) -> str:
    printed = COMMAND.sub(lambda match: PRINTED.get(match[1], match[1]), latex)
    return _visible(printed)


def _visible(text: str) -> str:
    return text.translate(SAME).translate(INVISIBLE)

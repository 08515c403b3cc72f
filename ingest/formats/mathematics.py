"""Formulas as XML -> TeX: MathML (web pages, EPUB) and OMML (Word, PowerPoint).

Symbols stay the Unicode characters that they are; TeX engines for the web read them.
"""

import re
from collections.abc import Callable

from lxml import etree

ROW_BREAK = r" \\ "
OMML = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
LARGE_OPERATORS = {"∑": r"\sum", "∏": r"\prod", "∫": r"\int", "⋃": r"\bigcup", "⋂": r"\bigcap"}
ACCENTS = {
    **dict.fromkeys("^ˆ\u0302", r"\hat"), **dict.fromkeys("~˜\u0303", r"\tilde"),
    **dict.fromkeys("¯‾\u0304\u0305", r"\bar"), **dict.fromkeys("→\u20d7", r"\vec"),
    **dict.fromkeys("˙\u0307", r"\dot"),
}  # fmt: skip
FUNCTIONS = frozenset(
    (
        "arg",
        "cos",
        "det",
        "dim",
        "exp",
        "gcd",
        "inf",
        "ker",
        "lim",
        "ln",
        "log",
        "max",
        "min",
        "sin",
        "sup",
        "tan",
        "tanh",
    )
)
# Invisible characters: function application, invisible times, separator and plus.
INVISIBLE = re.compile("[\u2061-\u2064\u200b]")


def mathml_to_tex(math: etree._Element) -> str:
    """The TeX of a `math` element: the TeX it was made from, if it is annotated, else that of its elements."""
    for note in math.iter():
        if isinstance(note.tag, str) and _name(note) == "annotation" and "tex" in note.get("encoding", "").lower():
            return " ".join("".join(note.itertext()).split())
    return _tidy(_mathml(math))


def omml_to_tex(math: etree._Element) -> str:
    """The TeX of an `m:oMath` element."""
    return _tidy(_omml(math))


def _tidy(tex: str) -> str:
    return " ".join(INVISIBLE.sub("", tex).split())


def _name(element: etree._Element) -> str:
    return element.tag.rsplit("}", 1)[-1].rsplit(":", 1)[-1].lower() if isinstance(element.tag, str) else ""


def _group(tex: str) -> str:
    tex = tex.strip()
    return tex if len(tex) == 1 else f"{{{tex}}}"


def _word(text: str) -> str:
    """A name of several letters is upright: a function that TeX knows, or text."""
    text = text.strip()
    if text in FUNCTIONS:
        return rf"\{text} "
    if text in LARGE_OPERATORS:
        return rf"{LARGE_OPERATORS[text]} "
    if len(text) > 1 and text.isalpha() and text.isascii():
        return rf"\mathrm{{{text}}}"
    return re.sub(r"([%#&{}])", r"\\\1", text)


def _scripts(base: str, below: str, above: str) -> str:
    base = base.strip()
    if not re.fullmatch(r"\\?\w+|.|\\mathrm\{\w+\}", base):
        base = f"{{{base}}}"
    return base + (f"_{_group(below)}" if below.strip() else "") + (f"^{_group(above)}" if above.strip() else "")


def _accented(base: str, mark: str) -> str | None:
    accent = ACCENTS.get(mark.strip())
    return f"{accent}{{{base.strip()}}}" if accent else None


def _mathml(element: etree._Element) -> str:
    name = _name(element)
    parts = [_mathml(child) for child in element if _name(child) not in ("", "annotation", "annotation-xml")]
    if name in ("mi", "mo", "mn", "ms"):
        return _word("".join(element.itertext()))
    if name == "mtext":
        text = "".join(element.itertext()).strip()
        return rf"\text{{{text}}}" if text else " "
    two, three = len(parts) >= 2, len(parts) >= 3
    shapes: dict[str, Callable[[], str]] = {
        "mfrac": lambda: rf"\frac{{{parts[0]}}}{{{parts[1]}}}" if two else "",
        "msqrt": lambda: rf"\sqrt{{{' '.join(parts)}}}",
        "mroot": lambda: rf"\sqrt[{parts[1]}]{{{parts[0]}}}" if two else "",
        "msub": lambda: _scripts(parts[0], parts[1], "") if two else "",
        "munder": lambda: _scripts(parts[0], parts[1], "") if two else "",
        "msup": lambda: _scripts(parts[0], "", parts[1]) if two else "",
        "mover": lambda: (_accented(parts[0], parts[1]) or _scripts(parts[0], "", parts[1])) if two else "",
        "msubsup": lambda: _scripts(*parts[:3]) if three else "",
        "munderover": lambda: _scripts(*parts[:3]) if three else "",
        "mtable": lambda: rf"\begin{{matrix}} {ROW_BREAK.join(parts)} \end{{matrix}}",
        "mtr": lambda: " & ".join(parts),
        "mspace": lambda: " ",
        "mfenced": lambda: f"{element.get('open', '(')}{', '.join(parts)}{element.get('close', ')')}",
    }
    return shapes[name]() if name in shapes and (parts or name == "mspace") else " ".join(parts)


def _omml(element: etree._Element) -> str:
    name = _name(element)
    if name not in OMML_SHAPES:
        return _sequence(element)
    parts: dict[str, str] = {}
    separator = {"eqarr": ROW_BREAK, "d": ", ", "m": ROW_BREAK, "mr": " & "}.get(name, " ")
    for child in _meaningful(element):
        key = _name(child)
        parts[key] = f"{parts[key]}{separator}{_omml(child)}" if key in parts else _omml(child)
    return OMML_SHAPES[name](parts, element)


def _meaningful(element: etree._Element) -> list[etree._Element]:
    return [child for child in element if isinstance(child.tag, str) and not child.tag.endswith("Pr")]


def _sequence(element: etree._Element) -> str:
    """The TeX of elements side by side. Letters of an upright word may come one by one."""
    parts: list[str] = []
    upright = ""
    for child in _meaningful(element):
        text = "".join(part.text or "" for part in child if _name(part) == "t") if _name(child) == "r" else None
        style = child.find(f"{OMML}rPr/{OMML}sty")
        if text and text.isalpha() and style is not None and style.get(f"{OMML}val") == "p":
            upright += text
            continue
        if upright:
            parts.append(_word(upright))
            upright = ""
        if text is None:
            parts.append(_omml(child))
        else:
            parts += [_word(word) for word in re.findall(r"[A-Za-z]+|[^A-Za-z]+", text)]
    return " ".join([*parts, _word(upright)] if upright else parts)


def _setting(element: etree._Element, name: str, default: str) -> str:
    """A property of a shape, such as the brackets of a delimiter."""
    found = next((e for e in element.iterfind(f"*/{OMML}{name}") if e.getparent().tag.endswith("Pr")), None)
    return default if found is None else found.get(f"{OMML}val", "")


def _root(parts: dict[str, str], _: etree._Element) -> str:
    degree = parts.get("deg", "").strip()
    return (rf"\sqrt[{degree}]" if degree else r"\sqrt") + f"{{{parts.get('e', '')}}}"


def _with_limits(parts: dict[str, str], element: etree._Element) -> str:
    operator = _word(_setting(element, "chr", "∫"))
    return f"{_scripts(operator, parts.get('sub', ''), parts.get('sup', ''))} {parts.get('e', '')}"


def _with_accent(parts: dict[str, str], element: etree._Element) -> str:
    base = parts.get("e", "")
    return _accented(base, _setting(element, "chr", "\u0302")) or base


OMML_SHAPES: dict[str, Callable[[dict[str, str], etree._Element], str]] = {
    "f": lambda p, _: rf"\frac{{{p.get('num', '')}}}{{{p.get('den', '')}}}",
    "ssub": lambda p, _: _scripts(p.get("e", ""), p.get("sub", ""), ""),
    "ssup": lambda p, _: _scripts(p.get("e", ""), "", p.get("sup", "")),
    "ssubsup": lambda p, _: _scripts(p.get("e", ""), p.get("sub", ""), p.get("sup", "")),
    "spre": lambda p, _: _scripts("", p.get("sub", ""), p.get("sup", "")) + p.get("e", ""),
    "rad": _root,
    "nary": _with_limits,
    "d": lambda p, e: f"{_setting(e, 'begChr', '(')}{p.get('e', '')}{_setting(e, 'endChr', ')')}",
    "func": lambda p, _: f"{p.get('fname', '')} {p.get('e', '')}",
    "limlow": lambda p, _: _scripts(p.get("e", ""), p.get("lim", ""), ""),
    "limupp": lambda p, _: _scripts(p.get("e", ""), "", p.get("lim", "")),
    "acc": _with_accent,
    "bar": lambda p, _: rf"\bar{{{p.get('e', '')}}}",
    "m": lambda p, _: rf"\begin{{matrix}} {p.get('mr', '')} \end{{matrix}}",
    "mr": lambda p, _: p.get("e", ""),
    "eqarr": lambda p, _: rf"\begin{{aligned}} {p.get('e', '')} \end{{aligned}}",
}

"""The paragraphs of a shape on a slide: runs, list marks and numbers."""

from collections.abc import Iterator, Sequence
from typing import Any

from ingest.formats.markdown import LIST_NUMBER
from ingest.formats.office.line import Line
from ingest.formats.office.numerals import written
from ingest.formats.office.package import Part
from ingest.formats.office.story import STRANGE, STRUCK, Omissions
from ingest.formats.office.symbols import plain
from ingest.formats.office_xml import (
    attribute,
    child,
    children,
    formulas,
    local_name,
    number,
    place_of,
    relation,
    shown_form,
)

DEEPEST = 8
BULLETS = frozenset({"buChar", "buBlip"})
MARKS = BULLETS | {"buAutoNum", "buNone"}
# How the names of number forms begin, and what that means.
FORMS = {
    "alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman",
    "circleNum": "decimalEnclosedCircle", "ea1Chs": "chineseCounting", "ea1Cht": "chineseCounting",
    "ea1Jpn": "japaneseCounting",
}  # fmt: skip
# How such names end, and the text around the number.
AROUND = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Plain": "{}", "Minus": "{}-"}


class SlideText:
    """Reads the texts of one part; struck-out text is added to `omissions`."""

    def __init__(self, part: Part, omissions: Omissions) -> None:
        self._part = part
        self._omissions = omissions

    def line(self, paragraph: Any) -> str:
        line = Line()
        struck: list[str] = []
        self._walk(paragraph, line, struck)
        self._omissions.text(STRUCK, "".join(struck))
        return line.text().strip()

    def _walk(self, holder: Any, line: Line, struck: list[str]) -> None:
        for one in holder:
            name = local_name(one)
            if name in ("r", "fld"):
                self._run(one, line, struck)
            elif name == "br":
                line.add("\n")
            elif (tex := formulas(one)) is not None:
                line.add(tex)
            elif name == "AlternateContent":
                self._walk(shown_form(one), line, struck)
            elif name not in ("pPr", "endParaRPr"):
                self._walk(one, line, struck)

    def _run(self, run: Any, line: Line, struck: list[str]) -> None:
        text = "".join(one.text or "" for one in run if local_name(one) == "t").replace("\n", " ")
        properties = child(run, "rPr")
        if properties is None:
            line.add(text)
        elif properties.get("strike", "noStrike") != "noStrike":
            struck.append(text)
        else:
            font = next((attribute(one, "typeface") for one in properties if local_name(one) in ("sym", "latin")), "")
            text, unknown = plain(text, font)
            self._omissions.things.update({STRANGE: unknown} if unknown else {})
            link = child(properties, "hlinkClick")
            line.add(text, place_of(properties), "" if link is None else self._part.address(relation(link)))

    def paragraphs(self, body: Any, inherited: Sequence[Any] = (), *, is_list: bool = False) -> Iterator[str]:
        """The lines of a text body. `inherited` are the list styles (`lstStyle`) that apply where it has none of its
        own; in a placeholder for lists (`is_list`), several paragraphs form a list even if nothing says so."""
        was_item = False
        filled = [(one, text) for one in children(body, "p") if (text := self.line(one))]
        styles = [style for style in (child(body, "lstStyle"), *inherited) if style is not None]
        counts: dict[int, tuple[str, int]] = {}
        for paragraph, text in filled:
            own = child(paragraph, "pPr")
            depth = max(0, min(number("" if own is None else own.get("lvl")), DEEPEST))
            mark = _mark(own, styles, depth)
            name = "" if mark is None else local_name(mark)
            for deeper in [one for one in counts if one > depth or (one == depth and name != "buAutoNum")]:
                del counts[deeper]
            is_bullet = name in BULLETS or (name == "" and (depth > 0 or (is_list and len(filled) > 1)))
            if name == "buAutoNum":
                yield "   " * depth + _item(_number(mark, counts, depth), text)
            elif is_bullet:
                yield f"{'   ' * depth}- {text}".replace("\n", " ")
            else:
                yield f"\n{text}" if was_item else text
            was_item = name == "buAutoNum" or is_bullet


def _mark(own: Any, styles: Sequence[Any], depth: int) -> Any:
    """The element for the mark before a paragraph: from its own properties, or the nearest style for its depth."""
    for properties in (own, *(child(style, f"lvl{depth + 1}pPr") for style in styles)):
        found = next((one for one in properties if local_name(one) in MARKS), None) if properties is not None else None
        if found is not None:
            return found
    return None


def _number(mark: Any, counts: dict[int, tuple[str, int]], depth: int) -> str:
    """The number of the next item: it continues while the form stays the same."""
    form, start = mark.get("type", "arabicPeriod"), max(1, number(mark.get("startAt"), 1, most=32_767))
    kind = f"{form} {start}"
    before, count = counts.get(depth, ("", 0))
    count = count + 1 if before == kind else start
    counts[depth] = kind, count
    figures = written(count, next((FORMS[name] for name in FORMS if form.startswith(name)), "decimal"))
    around = next((AROUND[end] for end in AROUND if form.endswith(end)), "{}")
    return around.format(figures)


def _item(label: str, text: str) -> str:
    text = text.replace("\n", " ")
    return f"{label} {text}" if LIST_NUMBER.fullmatch(label) else f"- {label} {text}"

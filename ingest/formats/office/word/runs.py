"""A paragraph of Word: its text with the raised text, links, drawings and remarks in it."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ingest.formats.office.line import Line
from ingest.formats.office.package import safe_address
from ingest.formats.office.pictures import in_drawing
from ingest.formats.office.story import DELETED, HIDDEN, PROMPTS, STRANGE, STRUCK, Story
from ingest.formats.office.symbols import plain, symbol
from ingest.formats.office.word.styles import Look, Styles
from ingest.formats.office_xml import (
    SKIPPED,
    attribute,
    child,
    formulas,
    is_on,
    local_name,
    number,
    relation,
    shown_form,
    text_of,
    value,
)

MONOSPACED = re.compile(r"mono|courier|consolas|menlo|fira ?code|source code", re.IGNORECASE)
ADDRESS = re.compile(r'\s*HYPERLINK\s+(?:\\[a-z]\s+)*"([^"]+)"', re.IGNORECASE)
# Fields within fields; more are a mistake, or meant to do harm.
MOST_FIELDS = 50
# The longest text of a box that is read within its line.
LONGEST_IN_LINE = 60
ENDNOTE, FOOTNOTE, COMMENT = "endnote", "footnote", "comment"
NOTES = {"footnoteReference": FOOTNOTE, "endnoteReference": ENDNOTE}
BREAKS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}


@dataclass(slots=True)
class ParagraphText:
    """The text of a paragraph, with its notes and without, and how it looks. `beside` are the blocks of text beside it,
    and the elements there that hold paragraphs."""

    text: str
    bare: str
    notes: list[str]
    size: int = 0
    is_bold: bool = False
    is_monospaced: bool = False
    beside: list[Any] = field(default_factory=list)


@dataclass(slots=True)
class _Field:
    """A field of Word: an instruction, then its result; `start` is where the result begins."""

    instruction: list[str] = field(default_factory=list)
    is_result: bool = False
    start: int | None = None


class Runs:
    """Reads a part paragraph by paragraph: fields may span several."""

    def __init__(self, story: Story, styles: Styles) -> None:
        self.story = story
        self.styles = styles
        self._fields: list[_Field] = []
        self._line = Line()
        self._style = ""
        self._beside: list[Any] = []
        self._out: dict[str, list[str]] = {}
        self._sizes: Counter[int] = Counter()
        self._bold: Counter[bool] = Counter()
        self._monospaced: Counter[bool] = Counter()

    @property
    def is_plain_monospaced(self) -> bool:
        """Whether text without a font of its own is monospaced."""
        return bool(MONOSPACED.search(self.styles.look_of(self.styles.default, "").font))

    def read(self, paragraph: Any) -> ParagraphText:
        self._line, self._beside, self._out = Line(), [], {}
        self._sizes, self._bold, self._monospaced = Counter(), Counter(), Counter()
        self._style = self.styles.paragraph_style(child(paragraph, "pPr"))
        self._walk(paragraph, "")
        # An instruction ends with its paragraph at the latest: then comes text, whatever a broken file says.
        self._fields = [one for one in self._fields if one.is_result]
        for one in self._fields:
            one.start = None
        for kind, pieces in self._out.items():
            self.story.omissions.text(kind, "".join(pieces))
        size = self._sizes.most_common(1)[0][0] if self._sizes else 0
        line = self._line
        looks = size, _all(self._bold), _all(self._monospaced)
        return ParagraphText(line.text(), line.bare(), line.notes(), *looks, self._beside)

    def _walk(self, element: Iterable[Any], link: str) -> None:
        for one in element:
            name = local_name(one)
            if name == "r":
                self._run(one, link)
            elif name == "hyperlink":
                self._walk(one, self.story.part.address(relation(one)) or link)
            elif name == "fldSimple":
                found = ADDRESS.match(attribute(one, "instr"))
                self._walk(one, safe_address(found[1]) if found else link)
            elif name == "AlternateContent":
                self._walk(shown_form(one), link)
            elif name == "sdt" and is_prompt(one):
                self.story.omissions.things[PROMPTS] += 1
            elif name == "del":
                self._out.setdefault(DELETED, []).extend(deleted(one))
            elif (tex := formulas(one)) is not None:
                self._add(tex, Look(), link)
            elif name not in SKIPPED:
                self._walk(one, link)

    def _run(self, run: Any, link: str) -> None:
        properties = child(run, "rPr")
        look = self.styles.look_of(self._style, value(properties, "rStyle") or "").changed(properties)
        if look.is_hidden or look.is_struck:
            self._out.setdefault(HIDDEN if look.is_hidden else STRUCK, []).append(
                text_of([one for one in run if one is not properties])
            )
            for one in run:
                if local_name(one) in ("fldChar", "instrText"):
                    self._piece(one, look, link)
            return
        for one in run:
            self._piece(one, look, link)

    def _piece(self, one: Any, look: Look, link: str) -> None:
        name = local_name(one)
        if name == "t":
            text, unknown = plain((one.text or "").replace("\n", " "), look.font)
            self.story.omissions.things.update({STRANGE: unknown} if unknown else {})
            self._add(text, look, link)
        elif name in BREAKS:
            self._add(BREAKS[name], look, link)
        elif name == "sym":
            self._symbol(one, look, link)
        elif name in NOTES:
            if note := self.story.note(NOTES[name], attribute(one, "id")):
                self._line.note(note)
        elif name == "commentReference":
            self._beside += filter(None, [self.story.note(COMMENT, attribute(one, "id"))])
        elif name == "fldChar":
            self._field(one, look, link)
        elif name == "instrText":
            if self._fields and not self._fields[-1].is_result:
                self._fields[-1].instruction.append(one.text or "")
        elif name == "ruby":
            self._walk(child(one, "rubyBase") if child(one, "rubyBase") is not None else (), link)
            reading = text_of(child(one, "rt")) if child(one, "rt") is not None else ""
            self._add(f"（{reading.strip()}）" if reading.strip() else "", look, link)
        elif name in ("drawing", "pict", "object"):
            self._drawing(one, look, link)
        elif name == "AlternateContent":
            for other in shown_form(one):
                self._piece(other, look, link)
        elif (tex := formulas(one)) is not None:
            self._add(tex, look, link)

    def _add(self, text: str, look: Look, link: str) -> None:
        if not all(one.is_result for one in self._fields):
            return
        self._line.add(text, look.place, link)
        letters = len(text) - sum(map(str.isspace, text))
        if letters:
            self._sizes[look.size] += letters
            self._bold[look.bold] += letters
            self._monospaced[bool(MONOSPACED.search(look.font))] += letters

    def _drawing(self, element: Any, look: Look, link: str) -> None:
        """Short boxes in the line, placed like a letter, are read in it, others beside the paragraph."""
        in_line = child(element, "inline") is not None
        for one in in_drawing(element, self.story):
            said = [] if isinstance(one, str) else [text_of(p) for p in one.iter() if local_name(p) == "p"]
            if in_line and len(said) == 1 and len(said[0]) <= LONGEST_IN_LINE:
                self._add(f" {said[0].strip()} ", look, link)
            else:
                self._beside.append(one)

    def _symbol(self, element: Any, look: Look, link: str) -> None:
        code = attribute(element, "char")
        sign = symbol(int(code, 16), attribute(element, "font")) if re.fullmatch(r"[0-9A-Fa-f]{1,6}", code) else None
        if sign is None:
            self.story.omissions.things[STRANGE] += 1
        else:
            self._add(sign, look, link)

    def _field(self, element: Any, look: Look, link: str) -> None:
        kind = attribute(element, "fldCharType")
        if kind == "begin" and len(self._fields) < MOST_FIELDS:
            self._add(_filled_in(child(element, "ffData")), look, link)
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            self._fields[-1].is_result, self._fields[-1].start = True, self._line.length()
        elif kind == "end" and self._fields:
            ended = self._fields.pop()
            found = ADDRESS.match("".join(ended.instruction))
            address = safe_address(found[1]) if found else ""
            if address and ended.start is not None:
                self._line.link_from(ended.start, address)


def _all(counts: Counter[bool]) -> bool:
    return counts[True] > 0 and not counts[False]


def is_prompt(control: Any) -> bool:
    """Whether a content control shows only the prompt to fill it in."""
    showing = child(control, "sdtPr", "showingPlcHdr")
    return showing is not None and is_on(showing)


def deleted(element: Any) -> list[str]:
    """The text of a tracked deletion, whose element has a name of its own."""
    return [one.text or "" for one in element.iter() if local_name(one) in ("delText", "t")]


def _filled_in(form: Any) -> str:
    """The value of a legacy form field: a tick, or the choice from a list."""
    box, choice = child(form, "checkBox"), child(form, "ddList")
    if box is not None:
        ticked = child(box, "checked")
        ticked = child(box, "default") if ticked is None else ticked
        return "☑" if ticked is not None and is_on(ticked) else "☐"
    if choice is not None:
        entries = [attribute(one, "val") for one in choice if local_name(one) == "listEntry"]
        place = number(value(choice, "result") or value(choice, "default"))
        return entries[place] if 0 <= place < len(entries) else ""
    return ""

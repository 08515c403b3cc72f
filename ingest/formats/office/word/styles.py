"""The properties that the styles of a Word document give to paragraphs and runs."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from ingest.formats.office_xml import ON, attribute, child, children, is_on, local_name, number, value

# The longest chain of styles based on each other; a longer one is a mistake, or meant to do harm.
DEEPEST = 64
# In half points: the default size, and the least distance from the line that counts as raised or lowered.
DEFAULT_SIZE, LIFTED = 20, 4


@dataclass(frozen=True, slots=True)
class Look:
    """How a run looks. `place` is 1 if it is raised, -1 if it is lowered."""

    bold: bool = False
    size: int = DEFAULT_SIZE
    is_hidden: bool = False
    is_struck: bool = False
    place: int = 0
    font: str = ""

    def changed(self, properties: Any) -> "Look":
        """This look with the properties of a run (`rPr`) on top."""
        look = self
        for one in () if properties is None else properties:
            change = CHANGES.get(local_name(one))
            if change is not None:
                look = change(look, one)
        return look


def _size(look: Look, element: Any) -> Look:
    size = number(attribute(element, "val"), most=4_000)
    return replace(look, size=size) if size > 0 else look


def _place(look: Look, element: Any) -> Look:
    return replace(look, place={"superscript": 1, "subscript": -1}.get(attribute(element, "val"), 0))


def _lifted(look: Look, element: Any) -> Look:
    by = number(attribute(element, "val"))
    return look if abs(by) < LIFTED else replace(look, place=1 if by > 0 else -1)


def _font(look: Look, element: Any) -> Look:
    name = attribute(element, "ascii") or attribute(element, "hAnsi") or attribute(element, "eastAsia")
    return replace(look, font=name) if name else look


CHANGES = {
    "b": lambda look, element: replace(look, bold=is_on(element)),
    "strike": lambda look, element: replace(look, is_struck=is_on(element)),
    "dstrike": lambda look, element: replace(look, is_struck=is_on(element)),
    "vanish": lambda look, element: replace(look, is_hidden=is_on(element)),
    "sz": _size,
    "vertAlign": _place,
    "position": _lifted,
    "rFonts": _font,
}


class Styles:
    """The styles by their ids in the file; none if it has no part for styles."""

    def __init__(self, root: Any = None) -> None:
        listed = [] if root is None else list(children(root, "style"))
        self._elements: dict[str, Any] = {attribute(one, "styleId"): one for one in listed}
        self.default = next(
            (
                attribute(one, "styleId")
                for one in listed
                if attribute(one, "type") == "paragraph" and attribute(one, "default") in ON
            ),
            "",
        )
        self._root = root
        self.look_of = cache(self._look_of)
        self.paragraph_of = cache(self._paragraph_of)

    @cached_property
    def plain(self) -> Look:
        """The look of a run without properties of its own."""
        return Look().changed(child(self._root, "docDefaults", "rPrDefault", "rPr"))

    def chain(self, name: str) -> Iterator[Any]:
        """A style, then the one that it is based on, and so on."""
        seen: set[str] = set()
        while name in self._elements and name not in seen and len(seen) < DEEPEST:
            seen.add(name)
            yield self._elements[name]
            name = value(self._elements[name], "basedOn") or ""

    def paragraph_style(self, properties: Any) -> str:
        return value(properties, "pStyle") or self.default

    def names(self, style: str) -> Iterable[str]:
        """The names of the styles in a chain."""
        return (value(one, "name") or "" for one in self.chain(style))

    def _look_of(self, paragraph: str, character: str) -> Look:
        look = self.plain
        for style in (*list(self.chain(paragraph))[::-1], *list(self.chain(character))[::-1]):
            look = look.changed(child(style, "rPr"))
        return look

    def _paragraph_of(self, style: str) -> tuple[tuple[str, Any], ...]:
        named = ((attribute(one, "styleId"), child(one, "pPr")) for one in self.chain(style))
        return tuple((name, one) for name, one in named if one is not None)

    def properties(self, paragraph: Any) -> list[tuple[str, Any]]:
        """The properties of a paragraph (`pPr`), then those of its styles, each with the id of its style."""
        own = child(paragraph, "pPr")
        named = self.paragraph_of(self.paragraph_style(own))
        return list(named) if own is None else [("", own), *named]

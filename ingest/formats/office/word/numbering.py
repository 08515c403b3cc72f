"""The numbers that Word writes before paragraphs: 3., 1.2, 第三条, （1）, A."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from ingest.formats.office.numerals import written
from ingest.formats.office.word.styles import Styles
from ingest.formats.office_xml import attribute, child, children, is_on, number, value

DEEPEST = 8
# Word allows far less; a longer label would be repeated before every item.
LONGEST_LABEL = 100
PLACEHOLDER = re.compile(r"%([1-9])")


class Label(NamedTuple):
    """The text before an item, empty for a bullet; how deep the item is in its list; whether no space follows."""

    text: str
    depth: int
    is_glued: bool = False


@dataclass(frozen=True, slots=True)
class Level:
    """`restart` is the number of upper levels whose items restart this one; None for all above it."""

    start: int = 1
    form: str = "bullet"
    text: str = ""
    restart: int | None = None
    is_legal: bool = False
    style: str = ""
    is_glued: bool = False


@dataclass(frozen=True, slots=True)
class List:
    """`scheme` names the numbering that lists share, `starts` are the levels that restart with this list."""

    scheme: str
    levels: dict[int, Level]
    starts: dict[int, int]


def _level(element: Any) -> Level:
    restart = value(element, "lvlRestart")
    legal = child(element, "isLgl")
    return Level(
        start=number(value(element, "start")),
        form=value(element, "numFmt") or "decimal",
        text=(value(element, "lvlText") or "")[:LONGEST_LABEL],
        restart=None if restart is None else number(restart),
        is_legal=legal is not None and is_on(legal),
        style=value(element, "pStyle") or "",
        is_glued=value(element, "suff") == "nothing" and not (value(element, "lvlText") or "")[-1:].isspace(),
    )


def _levels(element: Any) -> dict[int, Level]:
    return {number(attribute(one, "ilvl")): _level(one) for one in children(element, "lvl")}


class Numbering:
    """Counts as Word does: lists of one scheme together, unless a list restarts."""

    def __init__(self, root: Any, styles: Styles) -> None:
        self._styles = styles
        self._schemes = (
            {} if root is None else {attribute(e, "abstractNumId"): e for e in children(root, "abstractNum")}
        )
        self._nums = {} if root is None else {attribute(e, "numId"): e for e in children(root, "num")}
        self._lists: dict[str, List | None] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def label(self, properties: list[tuple[str, Any]]) -> Label | None:
        """The label of the next paragraph with these properties; None if it is not an item."""
        name, depth = self._place(properties)
        found = self._list(name) if name not in ("", "0") else None
        if found is None:
            return None
        level = found.levels.get(depth)
        if level is None:
            return Label("", depth)
        self._count(name, found, depth, level)
        text = PLACEHOLDER.sub(lambda match: self._written(found, int(match[1]) - 1, level), level.text).strip()
        if level.form == "none" and not text:
            return None
        is_bullet = level.form == "bullet" or not any(map(str.isalnum, text))
        return Label("" if is_bullet else text, depth, level.is_glued)

    def _place(self, properties: list[tuple[str, Any]]) -> tuple[str, int]:
        """The list and the depth of a paragraph; a style may be tied to a level of its list."""
        name, depth, styles = "", None, []
        for style, one in properties:
            styles.append(style)
            name = name or value(one, "numPr", "numId") or ""
            depth = value(one, "numPr", "ilvl") if depth is None and not (name and style) else depth
            if name:
                depth = depth if depth is not None else self._tied(name, styles) or value(one, "numPr", "ilvl")
                break
        return name, max(0, min(number(depth), DEEPEST))

    def _tied(self, name: str, styles: list[str]) -> str | None:
        found = self._list(name)
        levels = found.levels.items() if found is not None else ()
        return next((str(depth) for style in styles if style for depth, one in levels if one.style == style), None)

    def _list(self, name: str) -> List | None:
        if name not in self._lists:
            self._lists[name] = self._read(name)
        return self._lists[name]

    def _read(self, name: str) -> List | None:
        element = self._nums.get(name)
        if element is None:
            return None
        scheme = value(element, "abstractNumId") or ""
        levels = dict(_levels(self._schemes[scheme])) if scheme in self._schemes else {}
        style = value(self._schemes.get(scheme), "numStyleLink")
        if style:  # its levels are in the scheme that belongs to a style
            linked = value(child(next(self._styles.chain(style), None), "pPr"), "numPr", "numId")
            scheme = value(self._nums.get(linked or ""), "abstractNumId") or scheme
            levels = dict(_levels(self._schemes[scheme])) if scheme in self._schemes else levels
        starts: dict[int, int] = {}
        for change in children(element, "lvlOverride"):
            depth = number(attribute(change, "ilvl"))
            for one in children(change, "lvl"):
                levels[depth] = _level(one)
            start = value(change, "startOverride")
            if start is not None:
                starts[depth] = number(start)
        return List(scheme, levels, starts)

    def _count(self, name: str, found: List, depth: int, level: Level) -> None:
        counts = self._counts.setdefault(found.scheme, {})
        if depth in found.starts and (name, depth) not in self._begun:
            counts[depth] = found.starts[depth]
        else:
            counts[depth] = counts[depth] + 1 if depth in counts else found.starts.get(depth, level.start)
        self._begun.add((name, depth))
        for deeper in [one for one in counts if one > depth]:
            restart = found.levels.get(deeper, level).restart
            if restart is None or depth < restart:
                del counts[deeper]

    def _written(self, found: List, depth: int, shown_in: Level) -> str:
        level = found.levels.get(depth)
        if level is None:
            return ""
        count = self._counts[found.scheme].get(depth, found.starts.get(depth, level.start))
        return str(count) if shown_in.is_legal and level.form not in ("none", "bullet") else written(count, level.form)

"""The values of a chart as a table, read from the copy in the file, which needs no workbook; the text of a diagram
(SmartArt) as a list."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from ingest.formats.markdown import table
from ingest.formats.office_xml import attribute, child, local_name, number, text_of, value

# The most points of a series that are read.
MOST_POINTS = 5_000
QUOTED = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
FIRST_DAY = date(1899, 12, 30)
LAST_DAY = 2_958_465


@dataclass(frozen=True, slots=True)
class Series:
    """The name of a series, and its categories, values and sizes by place."""

    name: str
    categories: dict[int, str]
    values: dict[int, str]
    sizes: dict[int, str]


def chart_blocks(root: Any) -> list[str]:
    """The title of a chart and a table: a row for each category, a column for each series."""
    space = child(root, "chart")
    if space is None:
        return []
    if child(root, "chartData") is not None:
        return _of_new_kind(root, space)
    area = child(space, "plotArea")
    titled = [one for one in (() if area is None else area) if child(one, "title") is not None]
    axes = [(local_name(one), _words(child(one, "title"))) for one in titled]
    across = next((title for name, title in axes if name in ("catAx", "dateAx")), "")
    upward = [title for name, title in axes if name in ("valAx",)]
    drawn = [one for one in space.iter() if local_name(one) == "ser"]
    is_of_points = any(child(one, "xVal") is not None for one in drawn)
    if is_of_points and len(upward) == 2:
        across, upward = upward[0], upward[1:]
    title = _words(child(space, "title"))
    units = "，".join(dict.fromkeys(filter(None, upward)))
    caption = f"{title}（{units}）" if title and units else title or units
    return [block for block in (caption, _table(across, [_series(one) for one in drawn])) if block]


def _table(across: str, series: Sequence[Series]) -> str:
    """Series with the same categories side by side, others one below the other."""
    groups: dict[tuple[tuple[int, str], ...], list[Series]] = {}
    for one in series:
        groups.setdefault(tuple(sorted(one.categories.items())), []).append(one)
    tables = []
    for categories, group in groups.items():
        names = dict(categories)
        places = sorted({*names, *(place for one in group for place in one.values)})
        sized = any(one.sizes for one in group)
        head = [across, *(name for one in group for name in ([one.name, ""] if sized else [one.name]))]
        rows = [
            [
                names.get(place, ""),
                *(
                    cell
                    for one in group
                    for cell in (
                        [one.values.get(place, ""), one.sizes.get(place, "")] if sized else [one.values.get(place, "")]
                    )
                ),
            ]
            for place in places
        ]
        tables.append(table([head, *rows]) if rows else "")
    return "\n\n".join(filter(None, tables))


def _series(element: Any) -> Series:
    name = "".join(_points(child(element, "tx")).values()) or (_words(child(element, "tx")))
    categories = _points(child(element, "cat") if child(element, "cat") is not None else child(element, "xVal"))
    values = _points(child(element, "val") if child(element, "val") is not None else child(element, "yVal"))
    return Series(name, categories, values, _points(child(element, "bubbleSize")))


def _points(holder: Any) -> dict[int, str]:
    """The points of a cache by place; those of several levels are joined, the outermost first."""
    if holder is None:
        return {}
    plain = child(holder, "v")
    if plain is not None:
        return {0: plain.text or ""}
    cache = next((one for one in holder.iter() if local_name(one) in CACHES), None)
    if cache is None:
        return {}
    form = child(cache, "formatCode")
    levels = [one for one in cache if local_name(one) == "lvl"] or [cache]
    read = [_level(level, (form.text or "") if form is not None else "") for level in levels]
    for wide in read[1:]:
        _spread(wide, max(read[0], default=0))
    places = sorted({place for level in read for place in level})
    return {place: " ".join(filter(None, (level.get(place, "") for level in reversed(read)))) for place in places}


CACHES = frozenset({"strCache", "numCache", "strLit", "numLit", "multiLvlStrCache"})


def _level(level: Any, form: str) -> dict[int, str]:
    points = {}
    for one in level:
        place = number(attribute(one, "idx"), -1)
        if local_name(one) == "pt" and 0 <= place < MOST_POINTS:
            shown = child(one, "v")
            points[place] = _shown(
                (shown.text or "") if shown is not None else "", attribute(one, "formatCode") or form
            )
    return points


def _spread(level: dict[int, str], last: int) -> None:
    """Repeat each name of an outer level until the next one."""
    name = ""
    for place in range(last + 1):
        name = level.setdefault(place, name)


def _shown(text: str, form: str) -> str:
    """
    >>> _shown("0.125", "0.0%"), _shown("45292", "yyyy/m/d"), _shown("0.30000000000000004", "General")
    ('12.5%', '2024-01-01', '0.3')
    """
    text = " ".join(text.split())
    try:
        worth = float(text)
    except ValueError:
        return text
    kind = QUOTED.sub("", form.lower())
    if "%" in kind:
        return f"{worth * 100:.10g}%"
    if re.search("[yd]|mmm", kind) and "general" not in kind and 0 < worth < LAST_DAY:
        return (FIRST_DAY + timedelta(days=int(worth))).isoformat()
    return text if text.removeprefix("-").isdecimal() else f"{worth:.12g}"


def _words(element: Any) -> str:
    """The text of a title: its own, or the value of its formula."""
    if element is None:
        return ""
    said = [text_of(one) for one in element.iter() if local_name(one) == "p"]
    cached = [one.text or "" for one in element.iter() if local_name(one) == "v"]
    return " ".join(" ".join(filter(None, said) if any(said) else cached).split())


def _of_new_kind(root: Any, space: Any) -> list[str]:
    """A funnel, tree map, waterfall and the like (`cx:chartSpace`)."""
    blocks = [_words(child(space, "title"))]
    names = {value_of(one): _words(child(one, "tx")) for one in space.iter() if local_name(one) == "series"}
    for data in child(root, "chartData"):
        if local_name(data) != "data":
            continue
        columns = [_dimension(one) for one in data if local_name(one) in ("strDim", "numDim")]
        places = sorted({place for column in columns for place in column})
        labels = [local_name(one) == "strDim" for one in data if local_name(one) in ("strDim", "numDim")]
        name = names.get(attribute(data, "id"), "")
        head = ["" if is_label else name for is_label in labels]
        blocks.append(table([head, *([column.get(place, "") for column in columns] for place in places)]))
    return [block for block in blocks if block]


def value_of(series: Any) -> str:
    """The id of the data that a series shows."""
    return value(series, "dataId") or ""


def _dimension(element: Any) -> dict[int, str]:
    levels = [one for one in element if local_name(one) == "lvl"]
    read = [
        {
            number(attribute(one, "idx"), -1): _shown(one.text or "", attribute(level, "formatCode"))
            for one in list(level)[:MOST_POINTS]
            if local_name(one) == "pt"
        }
        for level in levels
    ]
    places = sorted({place for level in read for place in level})
    return {place: " ".join(filter(None, (level.get(place, "") for level in reversed(read)))) for place in places}


# Points without text of their own: places of the layout, and connections.
NO_POINTS = frozenset({"pres", "parTrans", "sibTrans"})
DEEPEST = 12


def diagram_block(root: Any) -> str:
    """The points of a diagram in their order, indented by their depth."""
    listed, links = child(root, "ptLst"), child(root, "cxnLst")
    points = {
        attribute(one, "modelId"): one
        for one in (() if listed is None else listed)
        if attribute(one, "type") not in NO_POINTS
    }
    below: dict[str, list[tuple[int, str]]] = {}
    held: set[str] = set()
    for link in () if links is None else links:
        source, target = attribute(link, "srcId"), attribute(link, "destId")
        if attribute(link, "type", "parOf") == "parOf" and source in points and target in points:
            below.setdefault(source, []).append((number(attribute(link, "srcOrd")), target))
            held.add(target)
    lines: list[str] = []
    seen: set[str] = set()
    stack = [(name, 0) for name in reversed(points) if name not in held]
    while stack:
        name, depth = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        text = _text(points[name])
        if text:
            lines.append(f"{'   ' * min(depth, DEEPEST)}- {text}")
        deeper = depth + bool(text)
        stack += [(target, deeper) for _, target in sorted(below.get(name, ()), reverse=True)]
    return "\n".join(lines)


def _text(point: Any) -> str:
    return " ".join(" ".join(text_of(one) for one in point.iter() if local_name(one) == "p").split())

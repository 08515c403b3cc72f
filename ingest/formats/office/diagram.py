"""The text of a diagram (SmartArt) as a list: each point below the one that it belongs to."""

from typing import Any

from ingest.formats.office_xml import attribute, child, local_name, number, text_of

# Points without text of their own: places of the layout, and connections.
NO_POINTS = frozenset({"pres", "parTrans", "sibTrans"})
DEEPEST = 12


def diagram_block(root: Any) -> str:
    """The points in their order, indented by their depth."""
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

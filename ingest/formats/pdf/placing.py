"""Puts the values of fields and the remarks on a page where they belong in its text."""

from collections.abc import Sequence

from ingest.formats.pdf.glyphs import Box, Run
from ingest.formats.pdf.lines import Line
from ingest.formats.pdf.notes import Note
from ingest.formats.pdf.rules import Grid
from rag.language.language import has_chinese

# The label of a field is beside or above it, at most this far away, in points.
BESIDE, ABOVE = 220.0, 30.0
FIELD_SIZE = 10.0
NEAR = 2.0


def with_fields(runs: Sequence[Run], fields: Sequence[Note], grids: Sequence[Grid]) -> list[Run]:
    """The runs of a page with the values of its fields among them, each after its label (a tick before it)."""
    before: dict[int, list[Run]] = {}
    after: dict[int, list[Run]] = {}
    rest: list[Run] = []
    for field in sorted(fields, key=lambda field: (-field.box[3], field.box[0])):
        is_in_table = any(grid.holds(*_middle(field.box)) for grid in grids)
        left, right, above = _labels(runs, field.box)
        if field.is_tick and right is not None:
            before.setdefault(right, []).append(_entered(field, runs[right], near=True, leads=True))
        elif left is not None:
            beside = after.setdefault(left, [])
            beside.append(_entered(field, beside[-1] if beside else runs[left], near=not is_in_table))
        elif above is not None or is_in_table:
            last = len(runs) - 1 if above is None else above
            (rest if last < 0 else after.setdefault(last, [])).append(_own_line(field, with_name=False))
        else:
            last = _last_above(runs, field.box)
            (rest if last < 0 else after.setdefault(last, [])).append(_own_line(field, with_name=True))
    result = rest
    for place, run in enumerate(runs):
        result += [*before.get(place, ()), run, *after.get(place, ())]
    return result


def with_remarks(lines: Sequence[Line], remarks: Sequence[Note]) -> list[Line]:
    """The lines of a page, with each remark after the line that it is beside."""
    after: dict[int, list[Line]] = {}
    for remark in remarks:
        x, y = _middle(remark.box)
        place = min(range(len(lines)), key=lambda number: _distance(lines[number].box, x, y), default=-1)
        text = lines[place].text if place >= 0 else ""
        after.setdefault(place, []).append(Line(_remark(remark, text), remark.box, FIELD_SIZE, is_note=True))
    result = after.get(-1, [])
    for place, line in enumerate(lines):
        result += [line, *after.get(place, ())]
    return result


def _remark(remark: Note, text: str) -> str:
    if has_chinese(remark.text) or has_chinese(text):
        return f"（{remark.name}批注：{remark.text}）"
    return f"(Remark by {remark.name}: {remark.text})" if remark.name else f"(Remark: {remark.text})"


def _distance(box: Box, x: float, y: float) -> float:
    """How far a place is from a box; vertical distance counts more, as a remark is in the margin beside its line."""
    across = max(box[0] - x, x - box[2], 0.0)
    up = max(box[1] - y, y - box[3], 0.0)
    return across + 10 * up + abs((box[1] + box[3]) / 2 - y) / 10


def _middle(box: Box) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _labels(runs: Sequence[Run], box: Box) -> tuple[int | None, int | None, int | None]:
    """The places of the nearest runs to the left of, to the right of and above a field, if they are close enough."""
    left: list[tuple[float, int]] = []
    right: list[tuple[float, int]] = []
    above: list[tuple[float, int]] = []
    for place, run in enumerate(runs):
        middle = run.baseline + 0.3 * run.size
        if box[1] - NEAR <= middle <= box[3] + NEAR:
            if 0 <= box[0] - run.right + NEAR <= BESIDE:
                left.append((box[0] - run.right, place))
            elif 0 <= run.left - box[2] + NEAR <= BESIDE:
                right.append((run.left - box[2], place))
        elif 0 <= run.baseline - box[3] <= ABOVE and run.left < box[2] and run.right > box[0]:
            above.append((run.baseline - box[3], place))
    return _nearest(left), _nearest(right), _nearest(above)


def _nearest(found: Sequence[tuple[float, int]]) -> int | None:
    return min(found)[1] if found else None


def _last_above(runs: Sequence[Run], box: Box) -> int:
    return max((place for place, run in enumerate(runs) if run.baseline > box[3]), default=-1)


def _entered(field: Note, label: Run, *, near: bool, leads: bool = False) -> Run:
    """The value of a field as a run on the line of its label; if `near`, close enough to belong to it."""
    gap = 0.3 * label.size
    if leads:
        start, end = label.left - gap - label.size, label.left - gap
    elif near:
        start, end = label.right + gap, max(field.box[2], label.right + 2 * gap)
    else:
        start, end = field.box[0], field.box[2]
    text = field.text if field.is_tick else _value(field.text, label.text)
    return _run(text, (start, label.bottom, end, label.top), label.size, label.baseline)


def _own_line(field: Note, *, with_name: bool) -> Run:
    text = field.text if field.is_tick else _value(field.text, field.name)
    if with_name and field.name:
        text = f"{text} {field.name}" if field.is_tick else f"{field.name}: {text}"
    left, bottom, right, top = field.box
    baseline = max(bottom + 0.25 * FIELD_SIZE, top - FIELD_SIZE)
    return _run(text, (left, bottom, right, top), FIELD_SIZE, baseline, begins_row=True)


def _value(text: str, label: str) -> str:
    return f"（填写：{text}）" if has_chinese(text) or has_chinese(label) else f"(filled in: {text})"


def _run(text: str, box: Box, size: float, baseline: float, *, begins_row: bool = False) -> Run:
    step = (box[2] - box[0]) / max(len(text), 1)
    lefts = [box[0] + n * step for n in range(len(text))]
    rights = [left + step for left in lefts]
    return Run(text, lefts, rights, box[1], box[3], size, baseline, begins_row=begins_row)

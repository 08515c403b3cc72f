"""The front matter of a document: fields in YAML or TOML between two rules at its beginning. Nothing in it is run."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

import yaml

# Same as SafeLoader, ten times as fast if PyYAML was built with libyaml.
YAML_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# Rules around front matter: of YAML, of TOML.
RULES = (re.compile(r"^-{3,}[ \t\r]*$", re.MULTILINE), re.compile(r"^\+{3}[ \t\r]*$", re.MULTILINE))
# A line that only front matter has.
FIELD = re.compile(r"([A-Za-z_][\w-]*)\s*[:=](?:[ \t]|$)")

Fields = Mapping[str, object]


class DateField(StrEnum):
    """The fields for a document's date; the first one with a date counts."""

    CHECKED = "checked"
    UPDATED = "updated"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter of a document says. `questions` are those that sections answer, by heading; `rubric` holds
    the points of an answer, word for word. `dated` is the date in `date_field`. The text begins at `body_start`.
    `warnings` say what could not be read."""

    title: str = ""
    tags: tuple[str, ...] = ()
    asked_as: tuple[str, ...] = ()
    questions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rubric: tuple[str, ...] = ()
    dated: date | None = None
    date_field: DateField | None = None
    body_start: int = 0
    warnings: tuple[str, ...] = ()


def read_front_matter(source: str) -> FrontMatter:
    """The front matter of a Markdown text; that of a text without any is empty.

    >>> read_front_matter("+++\\ntitle = 'LoRA'\\n+++\\nA method.").title
    'LoRA'
    """
    fields, body_start, warnings = fields_of(source)
    dates = ((name, _date(fields.get(name))) for name in DateField)
    date_field, dated = next(((name, found) for name, found in dates if found), (None, None))
    return FrontMatter(
        next(iter(_strings(fields.get("title"))), "").strip(), _strings(fields.get("tags")),
        _strings(fields.get("asked_as")), _questions(fields.get("questions")), _points(fields.get("rubric")),
        dated, date_field, body_start, warnings,
    )  # fmt: skip


def fields_of(source: str) -> tuple[Fields, int, tuple[str, ...]]:
    """The front matter as it is, where the text begins, and any problem with the front matter."""
    readers: tuple[Callable[[str], Fields], ...] = (_yaml, tomllib.loads)
    for rule, read in zip(RULES, readers, strict=True):
        opening = rule.match(source)
        closing = rule.search(source, opening.end()) if opening else None
        if opening is None or closing is None:
            continue
        written = source[opening.end() : closing.start()]
        body_start = closing.end() + source.startswith("\n", closing.end())
        try:
            fields = read(written)
        except (yaml.YAMLError, ValueError, RecursionError) as error:  # dates raise ValueError
            return _of_plain_fields(written, body_start, error)
        return (fields, body_start, ()) if fields and isinstance(fields, dict) else ({}, 0, ())
    return {}, 0, ()


def _yaml(written: str) -> Fields:
    fields: Fields = yaml.load(written, YAML_LOADER)
    return fields


def _of_plain_fields(written: str, body_start: int, error: Exception) -> tuple[Fields, int, tuple[str, ...]]:
    """Front matter that its parser refuses: `name: value` on every line counts as fields; other text between two rules
    is text."""
    lines = [line for line in written.splitlines() if line.strip()]
    if not any(map(FIELD.match, lines)):
        return {}, 0, ()
    mark = error.context_mark or error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    line = f" (line {mark.line + 1})" if mark else ""
    names = [FIELD.match(line) for line in lines]
    if not all(names):
        return {}, 0, (f"its front matter is not valid{line} and is read as text: put quotes around the value",)
    fields = {name[1]: text[name.end() :].strip() for name, text in zip(names, lines, strict=True) if name}
    return fields, body_start, (f"its front matter is not valid{line}; each line is read as a name and its value",)


def _strings(value: object) -> tuple[str, ...]:
    """The plain values; ignores nested ones, which YAML aliases can blow up without bound."""
    values = value if isinstance(value, list) else [value]
    return tuple(str(item) for item in values if isinstance(item, str | int | float))


def _points(value: object) -> tuple[str, ...]:
    """A point that is no text is empty, which no page says."""
    return tuple(item if isinstance(item, str) else "" for item in value) if isinstance(value, list) else ()


def _questions(value: object) -> dict[str, tuple[str, ...]]:
    by_heading = value.items() if isinstance(value, dict) else ()
    return {heading: _strings(asked) for heading, asked in by_heading if isinstance(heading, str)}


def _date(value: object) -> date | None:
    """A date as its parser reads it, with a time (only the day is kept), or written as text."""
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    if not isinstance(value, str | int):
        return None
    try:
        return date.fromisoformat(str(value).strip().replace("/", "-")[:10])
    except ValueError:
        return None

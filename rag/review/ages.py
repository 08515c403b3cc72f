"""How old documents are: when somebody last checked them, as their front matter says."""

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

import yaml

from rag.index.storage import StoredDocument

FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)


class DateField(StrEnum):
    """The fields of the front matter that say it, the first one that holds a date counting."""

    CHECKED = "checked"
    UPDATED = "updated"


@dataclass(frozen=True, slots=True)
class Age:
    """`dated` is the day that `field` names; both are None where the document says neither."""

    document: str
    title: str
    dated: date | None
    field: DateField | None


def age_of(document: StoredDocument) -> Age:
    fields = _front_matter(document.source)
    for field in DateField:
        dated = _date(fields.get(field.value))
        if dated is not None:
            return Age(document.name, document.title, dated, field)
    return Age(document.name, document.title, None, None)


def oldest_first(ages: list[Age]) -> list[Age]:
    """Documents without a date come last: nothing says that they are old."""
    return sorted(ages, key=lambda age: (age.dated is None, age.dated or date.max, age.document))


def _front_matter(source: str) -> dict[object, object]:
    found = FRONT_MATTER.match(source)
    if found is None:
        return {}
    try:
        fields = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError):  # ValueError: a date that no calendar has
        return {}
    return fields if isinstance(fields, dict) else {}


def _date(value: object) -> date | None:
    """A date as YAML reads it, with a time (of which the day is kept), or written as text."""
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    try:
        return date.fromisoformat(str(value).strip().replace("/", "-")[:10])
    except ValueError:
        return None

"""The age of documents, and sentences that grow old."""

import re
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

import yaml

from rag.index.storage import StoredDocument
from rag.language.claim_marks import Bound, bounds_of
from rag.review.statements import Statement

FRONT_MATTER = re.compile(r"\A---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)


class DateField(StrEnum):
    """The front matter fields for a document's date; the first one with a date counts."""

    CHECKED = "checked"
    UPDATED = "updated"


@dataclass(frozen=True, slots=True)
class Age:
    """`dated` is the date in `field`; both are None if the document has no date."""

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
    """Undated documents come last: nothing shows that they are old."""
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
    """A date as parsed by YAML, with a time (only the day is kept), or written as text."""
    if isinstance(value, date):
        return date(value.year, value.month, value.day)
    try:
        return date.fromisoformat(str(value).strip().replace("/", "-")[:10])
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class TimeBound:
    """`words` tie the statement to its time, as written."""

    statement: Statement
    bounds: tuple[Bound, ...]
    words: tuple[str, ...]


def time_bound(statement: Statement) -> TimeBound | None:
    found = bounds_of(statement.text)
    if not found:
        return None
    return TimeBound(statement, tuple(found), tuple(dict.fromkeys(word for words in found.values() for word in words)))

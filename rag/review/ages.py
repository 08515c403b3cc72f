"""The age of documents, and sentences that grow old."""

from dataclasses import dataclass
from datetime import date

from rag.index.storage import StoredDocument
from rag.language.claim_marks import Bound, bounds_of
from rag.review.statements import Statement
from rag.text.front_matter import DateField


@dataclass(frozen=True, slots=True)
class Age:
    """`dated` is the date in `field`; both are None if the document has no date."""

    document: str
    title: str
    dated: date | None
    field: DateField | None


def age_of(document: StoredDocument) -> Age:
    return Age(document.name, document.title, document.outline.dated, document.outline.date_field)


def oldest_first(ages: list[Age]) -> list[Age]:
    """Undated documents come last: nothing shows that they are old."""
    return sorted(ages, key=lambda age: (age.dated is None, age.dated or date.max, age.document))


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

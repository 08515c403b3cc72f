"""A report on all documents of an index: how old they are, and which sentences grow old. It asks no chat model; the
same index gives the same report."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from rag.index import Index
from rag.index.storage import StoredDocument
from rag.language.claim_marks import Bound, bounds_of
from rag.review.statements import Statement, statements_of
from rag.text.front_matter import DateField

# Called with the number done and the total.
Progress = Callable[[int, int], None]


def _silent(done: int, total: int) -> None:
    """Ignores progress."""


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


@dataclass(frozen=True, slots=True)
class Review:
    """`ages` are oldest first, `time_bound` in document order."""

    generation: int
    statements: int
    ages: tuple[Age, ...]
    time_bound: tuple[TimeBound, ...]

    def about(self, holds: Callable[[str], bool]) -> "Review":
        """The part on the documents with these names."""
        return replace(
            self,
            ages=tuple(each for each in self.ages if holds(each.document)),
            time_bound=tuple(each for each in self.time_bound if holds(each.statement.document)),
        )

    def first(self, count: int) -> "Review":
        """At most so many of each list."""
        return replace(
            self,
            ages=self.ages[:count],
            time_bound=self.time_bound[:count],
        )

    def as_dict(self) -> dict[str, Any]:
        return {
            "generation": self.generation,
            "statements": self.statements,
            "ages": [
                {
                    "document": each.document,
                    "title": each.title,
                    "date": None if each.dated is None else each.dated.isoformat(),
                    "field": None if each.field is None else str(each.field),
                }
                for each in self.ages
            ],
            "time_bound": [
                {**_place(each.statement), "bounds": [str(bound) for bound in each.bounds], "words": list(each.words)}
                for each in self.time_bound
            ],
        }


def review(index: Index, progress: Progress = _silent) -> Review:
    """Calls `progress` with the number of documents read, and their total."""
    documents = index.storage.documents(with_passages=True)
    statements: list[Statement] = []
    for done, document in enumerate(documents, start=1):
        statements += statements_of(document)
        progress(done, len(documents))
    return Review(
        index.manifest.generation,
        len(statements),
        tuple(oldest_first([age_of(document) for document in documents])),
        tuple(found for statement in statements if (found := time_bound(statement)) is not None),
    )


def topic_of(documents: list[StoredDocument], topic: str) -> Callable[[str], bool]:
    """Whether a document, by its name, is in a topic's folder, or has the topic as a tag."""
    wanted = topic.casefold().strip("/")
    names = {
        document.name
        for document in documents
        if wanted in document.name.casefold().split("/")[:-1] or wanted in (tag.casefold() for tag in document.tags)
    }
    return names.__contains__


def _place(statement: Statement) -> dict[str, Any]:
    return {
        "document": statement.document,
        "title": statement.title,
        "section": list(statement.section),
        "start": statement.start,
        "end": statement.end,
        "quote": statement.quote,
    }

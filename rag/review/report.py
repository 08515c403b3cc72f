"""What keeps a corpus true, over all documents of an index: how old they are, which sentences grow old, and which
contradict each other. Nothing is asked of a chat model; the same index gives the same report."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from rag.embedding import Embedder
from rag.index import Index
from rag.index.storage import StoredDocument
from rag.review.ages import Age, age_of, oldest_first
from rag.review.contradictions import Contradiction, contradictions_of
from rag.review.neighbours import Progress, neighbours, sharing_rare_words, statement_vectors
from rag.review.readings import read
from rag.review.statements import Statement, statements_of
from rag.review.time_bound import TimeBound, time_bound


def _silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class Review:
    """`contradictions` are the surest first, `ages` the oldest first, `time_bound` in the order of the documents."""

    generation: int
    statements: int
    ages: tuple[Age, ...]
    time_bound: tuple[TimeBound, ...]
    contradictions: tuple[Contradiction, ...]

    def about(self, holds: Callable[[str], bool]) -> "Review":
        """What concerns the documents of these names; of contradictions one side is enough."""
        return replace(
            self,
            ages=tuple(each for each in self.ages if holds(each.document)),
            time_bound=tuple(each for each in self.time_bound if holds(each.statement.document)),
            contradictions=tuple(
                each for each in self.contradictions if holds(each.one.document) or holds(each.other.document)
            ),
        )

    def first(self, count: int) -> "Review":
        """At most so many of each list."""
        return replace(
            self,
            ages=self.ages[:count],
            time_bound=self.time_bound[:count],
            contradictions=self.contradictions[:count],
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
            "contradictions": [
                {
                    "kind": str(each.kind),
                    "score": each.score,
                    "differing": list(each.differing),
                    "shared": list(each.shared),
                    "one": _place(each.one),
                    "other": _place(each.other),
                }
                for each in self.contradictions
            ],
        }


def review(index: Index, embedder: Embedder, progress: Progress = _silent) -> Review:
    """`progress` is told the stage, what of it is done, and all of it."""
    documents = index.storage.documents(with_passages=True)
    statements: list[Statement] = []
    for done, document in enumerate(documents, start=1):
        statements += statements_of(document)
        progress("documents", done, len(documents))
    readings = [read(statement) for statement in statements]
    pairs = neighbours(statement_vectors(index, embedder, statements, progress), statements, progress)
    # Pairs that only words point to have no likeness of their own.
    pairs = {**dict.fromkeys(sharing_rare_words(readings), 0.0), **pairs}
    return Review(
        index.manifest.generation,
        len(statements),
        tuple(oldest_first([age_of(document) for document in documents])),
        tuple(found for statement in statements if (found := time_bound(statement)) is not None),
        tuple(contradictions_of(readings, dict(sorted(pairs.items())), progress)),
    )


def topic_of(documents: list[StoredDocument], topic: str) -> Callable[[str], bool]:
    """Whether a document, by its name, lies in the folder of a topic, or has it for a tag."""
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

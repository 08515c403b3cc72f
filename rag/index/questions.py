"""The questions that documents say they answer, each with a vector of its own: a question is nearer to another way to
ask it than to what answers it. They speak for the passage that a document begins with, and for the first of each
translation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from rag.index.arrays import map_arrays, write_arrays
from rag.index.storage import StoredDocument, StoredPassage
from rag.text.language import Language, language_of
from rag.text.terms import simplified
from rag.types import translation_of

# Passages whose questions are nearest. How far they lead the last of them is what counts.
NEAREST = 20


@dataclass(frozen=True)
class QuestionVectors:
    """`numbers`, shape (n,), ascending: the passage that each question speaks for; `vectors`, shape (n, dimension)."""

    numbers: NDArray[np.int64]
    vectors: NDArray[np.float32]

    def leads(self, vector: NDArray[np.float32], within: NDArray[np.int64] | None = None) -> Mapping[int, float]:
        """The passages (of those `within`) with the questions nearest to a unit vector of shape (dimension,), by
        number, and by how much cosine each is nearer than the last of them."""
        numbers, cosines = self.numbers, np.einsum("ij,j->i", self.vectors, vector)
        if within is not None:
            inside = np.isin(numbers, within)
            numbers, cosines = numbers[inside], cosines[inside]
        if not len(numbers):
            return {}
        passages, starts = np.unique(numbers, return_index=True)
        nearest = np.maximum.reduceat(cosines, starts)
        best = np.lexsort((passages, -nearest))[:NEAREST]
        leads = nearest[best] - nearest[best[-1]]
        return dict(zip(passages[best].tolist(), leads.tolist(), strict=True))

    @classmethod
    def of_passages(cls, vectors: Mapping[int, NDArray[np.float32]]) -> Self:
        """From the vectors of each passage, by number."""
        numbers = sorted(vectors)
        counts = [len(vectors[number]) for number in numbers]
        return cls(
            np.repeat(np.asarray(numbers, np.int64), counts),
            np.concatenate([vectors[number] for number in numbers]).astype(np.float32),
        )

    def by_passage(self) -> dict[int, NDArray[np.float32]]:
        return {number: self.of(number) for number in np.unique(self.numbers).tolist()}

    def of(self, number: int) -> NDArray[np.float32]:
        """The vectors of the questions that a passage speaks for, shape (n, dimension)."""
        return self.vectors[np.searchsorted(self.numbers, number) : np.searchsorted(self.numbers, number, "right")]


def questions_of(documents: Sequence[StoredDocument]) -> dict[int, tuple[str, ...]]:
    """The questions of documents that say how else they are asked, as they are embedded, by the number of the passage
    that they speak for. A passage that repeats another has none."""
    return {
        passage.number: tuple(dict.fromkeys(map(simplified, ways)))
        for document in documents
        if document.asked_as
        for passage, ways in _asked(document)
        if passage.number is not None and ways
    }


def _asked(document: StoredDocument) -> Iterator[tuple[StoredPassage, list[str]]]:
    """The first passage with the ways to ask in the languages that the page is not translated into, and the first of
    each translation with those in its language."""
    begins: dict[Language | None, StoredPassage] = {}
    for passage in document.passages:
        begins.setdefault(translation_of(passage.section), passage)
    for language, passage in begins.items():
        ways = (document.title, *document.asked_as)
        spoken = {way: language_of(way) for way in ways}
        yield passage, [way for way in ways if (spoken[way] if spoken[way] in begins else None) is language]


def save_questions(questions: QuestionVectors, prefix: Path) -> None:
    write_arrays(prefix, {"numbers": questions.numbers, "vectors": questions.vectors})


def load_questions(prefix: Path) -> QuestionVectors | None:
    """What `save_questions` wrote; None where an index has none."""
    arrays = map_arrays(prefix)
    return QuestionVectors(arrays["numbers"], arrays["vectors"]) if arrays else None

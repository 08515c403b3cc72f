"""The questions that sections are written down to answer, all of them, by their terms."""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, count, groupby
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag.index.arrays import as_array, map_arrays, texts_of, write_arrays
from rag.index.keywords import idf_of
from rag.language.terms import own_weight, stem, terms

SectionName = tuple[str, str]
"""The name of a document, and a heading in it."""

Questions = Mapping[str, tuple[tuple[str, ...], ...]]
"""The stems of the terms of the questions of a document, by heading."""

# The fields of `AskedQuestions` that are stored as they are.
ARRAYS = ("starts", "column", "ends", "borders", "holding", "frequencies", "weights")
# Documents whose questions are remembered: an answer reads those of some ten.
DOCUMENTS_KEPT = 64


class HasQuestions(Protocol):
    def all_questions(self) -> Sequence[tuple[str, str, tuple[str, ...]]]: ...


@dataclass(frozen=True)
class AskedQuestions:
    """`sections` are those with questions. A heading is a question of its section, too, the first one. Questions are
    numbered in the order of their sections; `starts`, shape (len(sections) + 1,), is the first of each, and their
    number.

    Terms stand here by their stems, so that "evaluation" answers to "evaluate", numbered as they appear: those of
    question q are `column[ends[q - 1]:ends[q]]`, of the first one `column[:ends[0]]`. The questions with the term of
    number t are `holding[borders[t]:borders[t + 1]]`, in order; `frequencies`, shape (terms,), is the number of
    sections that are asked for with it. `weights`, shape (questions,), is the sum of the rarity of a question's terms.
    """

    sections: tuple[SectionName, ...]
    starts: NDArray[np.int64]
    term_numbers: Mapping[str, int]
    column: NDArray[np.int32]
    ends: NDArray[np.int64]
    borders: NDArray[np.int64]
    holding: NDArray[np.int64]
    frequencies: NDArray[np.int64]
    weights: NDArray[np.float64]

    _kept: dict[str, Questions] = field(default_factory=dict, init=False, repr=False, compare=False)

    def save(self, prefix: Path) -> None:
        """Write them to files whose names begin with `prefix`."""
        write_arrays(
            prefix,
            {
                "documents": as_array(document for document, _ in self.sections),
                "headings": as_array(heading for _, heading in self.sections),
                "terms": as_array(self.term_numbers),
                **{name: getattr(self, name) for name in ARRAYS},
            },
        )

    @classmethod
    def load(cls, prefix: Path) -> "AskedQuestions | None":
        """What `save` wrote; None if nothing was. Verify the checksums first."""
        arrays = map_arrays(prefix)
        if not arrays:
            return None
        documents, headings, terms = (texts_of(arrays.pop(name)) for name in ("documents", "headings", "terms"))
        numbers = {term: number for number, term in enumerate(terms)}
        return cls(tuple(zip(documents, headings, strict=True)), term_numbers=numbers, **arrays)

    def of(self, document: str) -> Questions:
        """The questions of a document without the headings; empty if it has none."""
        found = self._kept.get(document)
        if found is None:
            if len(self._kept) >= DOCUMENTS_KEPT:
                self._kept.clear()
            found = self._kept[document] = self._read(document)
        return found

    def _read(self, document: str) -> Questions:
        places = self._places.get(document, range(0))
        return {
            self.sections[place][1]: tuple(
                tuple(self._terms[number] for number in self.column[self.ends[q - 1] : self.ends[q]].tolist())
                for q in range(int(self.starts[place]) + 1, int(self.starts[place + 1]))
            )
            for place in places
        }

    @cached_property
    def _terms(self) -> list[str]:
        return list(self.term_numbers)

    @cached_property
    def _places(self) -> dict[str, range]:
        """The places of the sections of each document."""
        found: dict[str, range] = {}
        for place, (document, _) in enumerate(self.sections):
            found[document] = range(found[document].start if document in found else place, place + 1)
        return found

    def frequency(self, stem: str) -> int:
        """The number of sections that are asked for with a term of this stem."""
        number = self.term_numbers.get(stem)
        return 0 if number is None else int(self.frequencies[number])

    def rarity(self, stem: str) -> float:
        """The weight of a stem by its rarity among the sections that are asked for."""
        return idf_of(len(self.sections), self.frequency(stem)) * own_weight(stem)

    def named(self, rarity: Mapping[str, float]) -> NDArray[np.float64]:
        """How much of these stems each question names, by rarity, shape (questions,)."""
        named = np.zeros(len(self.ends))
        for name, weight in rarity.items():
            number = self.term_numbers.get(name)
            if number is not None:
                named[self.holding[self.borders[number] : self.borders[number + 1]]] += weight
        return named

    def numbers(self, section: SectionName) -> slice:
        """The numbers of the questions of a section without its heading; none if it has none."""
        places = (place for place in self._places.get(section[0], ()) if self.sections[place] == section)
        return next((slice(int(self.starts[place]) + 1, int(self.starts[place + 1])) for place in places), slice(0))

    def best(self, rarity: Mapping[str, float]) -> Iterator[SectionName]:
        """The sections with a question that names any of these terms, those first whose best question names most, by
        rarity; of equal ones, the one whose questions name more on the average."""
        if not self.sections:
            return
        named = self.named({stem(term): weight for term, weight in rarity.items()})
        most = np.maximum.reduceat(named, self.starts[:-1])
        mean = np.add.reduceat(named, self.starts[:-1]) / np.diff(self.starts)
        order = np.lexsort((-mean, -most))
        yield from (self.sections[place] for place in order if most[place] > 0)


def read_asked(storage: HasQuestions) -> AskedQuestions:
    """Takes a second for 70,000 questions."""
    sections: list[SectionName] = []
    term_numbers: defaultdict[str, int] = defaultdict(count().__next__)  # numbered as they appear
    number = cache(lambda term: term_numbers[stem(term)])
    column, ends, starts = array("i"), array("q"), array("q")
    for section, group in groupby(storage.all_questions(), key=lambda row: row[:2]):
        sections.append(section)
        starts.append(len(ends))
        for asked in chain([terms(section[1])], (asked for _, _, asked in group)):
            column.extend(map(number, asked))
            ends.append(len(column))
    starts.append(len(ends))
    last, first, term_of = np.asarray(ends, np.int64), np.asarray(starts, np.int64), np.asarray(column, np.int32)
    question_of = np.repeat(np.arange(len(last)), np.diff(last, prepend=0))
    section_of = np.repeat(np.arange(len(sections)), np.diff(first))
    held, holding = _distinct(term_of, question_of)
    asked_for, _ = _distinct(term_of, section_of[question_of])
    frequencies = np.bincount(asked_for, minlength=len(term_numbers))
    rarity = idf_of(len(sections), frequencies) * np.fromiter(map(own_weight, term_numbers), np.float64)
    return AskedQuestions(
        sections=tuple(sections),
        starts=first,
        term_numbers=dict(term_numbers),
        column=term_of,
        ends=last,
        borders=np.searchsorted(held, np.arange(len(term_numbers) + 1)),
        holding=holding,
        frequencies=frequencies,
        weights=np.bincount(holding, rarity[held], len(last)).astype(np.float64),
    )


def _distinct(term_of: NDArray[np.int32], other_of: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each pair of a term and one of the others once, by term and then by the other."""
    size = int(other_of.max(initial=0)) + 1
    pairs = np.sort(term_of * np.int64(size) + other_of)  # np.unique takes ten times as long
    return np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], size)

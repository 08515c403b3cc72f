"""The questions that sections are written down to answer, all of them, by their terms."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from sys import intern
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rag.index.keywords import KeywordIndex
from rag.language.terms import terms

SectionName = tuple[str, str]
"""The name of a document, and a heading in it."""


class HasQuestions(Protocol):
    def all_questions(self) -> Sequence[tuple[str, str, tuple[str, ...]]]: ...


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """`sections` are those with questions. The questions, whose terms `keywords` holds, stand in the order of their
    sections; `starts`, shape (len(sections),), is the first of each, and `section_of`, shape (n,), the section of
    each. `frequencies` is the number of sections that are asked for with a term; `by_document` holds the terms of the
    questions of each document that has any, by heading, without the heading itself."""

    sections: tuple[SectionName, ...]
    starts: NDArray[np.int64]
    section_of: NDArray[np.int64]
    keywords: KeywordIndex
    frequencies: Counter[str]
    by_document: Mapping[str, Mapping[str, tuple[tuple[str, ...], ...]]]

    def of(self, document: str) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        """The terms of the questions of a document, by heading; empty if it has none."""
        return self.by_document.get(document, {})

    def best(self, rarity: Mapping[str, float]) -> Iterator[SectionName]:
        """The sections with a question that names any of these terms, those first whose best question names most, by
        rarity; of equal ones, the one whose questions name more on the average."""
        if not self.sections:
            return
        named = np.zeros(len(self.section_of))
        for term, weight in rarity.items():
            named[self.keywords.holding(term)] += weight
        most = np.maximum.reduceat(named, self.starts)
        mean = np.add.reduceat(named, self.starts) / np.bincount(self.section_of)
        order = np.lexsort((-mean, -most))
        yield from (self.sections[place] for place in order if most[place] > 0)


def read_asked(storage: HasQuestions) -> AskedQuestions:
    """Takes a second for 50,000 questions. A heading is a question of its section, if it has others."""
    sections: list[SectionName] = []
    questions: list[tuple[str, ...]] = []
    starts: list[int] = []
    frequencies: Counter[str] = Counter()
    by_document: defaultdict[str, dict[str, tuple[tuple[str, ...], ...]]] = defaultdict(dict)
    for name, group in groupby(storage.all_questions(), key=lambda row: row[:2]):
        written = tuple(tuple(map(intern, asked)) for _, _, asked in group)  # most terms recur
        by_document[name[0]][name[1]] = written
        of_section = (terms(name[1]), *written)
        sections.append(name)
        starts.append(len(questions))
        questions += of_section
        frequencies.update(set(chain(*of_section)))
    section_of = np.repeat(np.arange(len(sections)), np.diff([*starts, len(questions)]))
    keywords = KeywordIndex.build(questions)
    return AskedQuestions(tuple(sections), np.asarray(starts, np.int64), section_of, keywords, frequencies, by_document)

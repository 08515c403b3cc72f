"""BM25 over keyword terms, as arrays: a term's postings are one slice, so a query reads only its own terms.

Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with the idf of Lucene,
ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative. The arrays are memory-mapped, so opening costs nothing.
"""

import hashlib
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import count, pairwise
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from rag.index.arrays import map_arrays, write_arrays
from rag.language.terms import terms

# The usual middle of the ranges that Robertson & Zaragoza recommend (k1 1.2-2, b 0.5-0.8).
K1 = 1.2
B = 0.75
# Terms whose numbers are remembered: one question looks up its terms many times.
NUMBERS_KEPT = 4_096
# Sample of each kind of text to tokenize.
CUT = "旋轉位置編碼（RoPE）旋转 q、k：ＧＰＴ-4 的 head_dim 是 128，naïve Attention 是 O(n²)；multi-head_attention v2"


@dataclass(frozen=True)
class KeywordIndex:
    """Postings sorted by term, then passage. `starts[t]:starts[t + 1]` is the slice of term number t.

    Terms are numbered in the order of their UTF-8 bytes; `names` (uint8) holds them one after another, and
    `name_starts[t]:name_starts[t + 1]` is the slice of term t. `passages` (int32) and `weights` (float32, idf times
    saturated frequency) run in parallel; `ceilings` (float32) is the most a term can add to a score. `counts` (int32)
    are the raw frequencies, for the next generation; None if the version that wrote the index stored none or
    tokenized differently.
    """

    names: NDArray[np.uint8]
    name_starts: NDArray[np.int64]
    starts: NDArray[np.int64]
    passages: NDArray[np.int32]
    weights: NDArray[np.float32]
    ceilings: NDArray[np.float32]
    passage_count: int
    counts: NDArray[np.int32] | None = None
    _kept: dict[str, int | None] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def build(cls, documents: Iterable[Sequence[str]]) -> "KeywordIndex":
        """Index passages given as lists of terms, numbered in order. Each list is released once read."""
        seen: defaultdict[str, int] = defaultdict(count().__next__)
        terms, counts, distinct = _counted(documents, seen)
        return cls._of_postings(seen, terms, np.repeat(np.arange(len(distinct)), distinct), counts, len(distinct))

    def updated(
        self, places: NDArray[np.int64], new: Mapping[int, Sequence[str]], passage_count: int
    ) -> "KeywordIndex":
        """The same result as `build` when passage p of this index becomes number places[p] (-1: gone) and `new` gives
        further passages by number. Does not tokenize old passages again. Needs `counts`."""
        assert self.counts is not None
        stayed = places[self.passages] >= 0
        term_numbers = np.repeat(np.arange(len(self.ceilings)), np.diff(self.starts))[stayed]
        names = {name: number for number, name in enumerate(self.terms())}
        seen = defaultdict(count(len(names)).__next__, names)
        terms, counts, distinct = _counted(new.values(), seen)
        return self._of_postings(
            seen,
            np.concatenate((term_numbers, terms)),
            np.concatenate((places[self.passages[stayed]], np.repeat(np.fromiter(new, np.int64), distinct))),
            np.concatenate((self.counts[stayed], counts)),
            passage_count,
        )

    @classmethod
    def _of_postings(
        cls,
        names: Iterable[str],
        terms: NDArray[np.integer[Any]],
        passages: NDArray[np.integer[Any]],
        counts: NDArray[np.integer[Any]],
        passage_count: int,
    ) -> "KeywordIndex":
        """Build from three parallel columns in any order: a term's position in `names`, the passage that contains it,
        and how often. Omits terms that occur nowhere."""
        encoded = [name.encode() for name in names]
        standing = np.flatnonzero(np.bincount(terms, minlength=len(encoded)))
        order_of_names = sorted(standing.tolist(), key=encoded.__getitem__)
        renumbered = np.full(len(encoded), -1, dtype=np.int64)
        renumbered[order_of_names] = np.arange(len(order_of_names))
        terms = renumbered[terms]
        # One 64-bit key per posting: sorting those is several times faster than a stable sort by term.
        order = np.argsort(terms * max(passage_count, 1) + passages)
        terms, passages, counts = terms[order], passages[order], counts[order]
        frequencies = np.bincount(terms, minlength=len(order_of_names))
        lengths = np.bincount(passages, weights=counts, minlength=passage_count).astype(np.float32)
        mean_length = max(float(lengths.mean()), 1.0) if passage_count else 1.0
        idf = idf_of(passage_count, frequencies).astype(np.float32)
        often = counts.astype(np.float32)
        saturated = often * (K1 + 1) / (often + K1 * (1 - B + B * lengths[passages] / mean_length))
        in_order = [encoded[place] for place in order_of_names]
        return cls(
            names=np.frombuffer(b"".join(in_order), dtype=np.uint8),
            name_starts=_starts(np.fromiter(map(len, in_order), np.int64)),
            starts=_starts(frequencies),
            passages=passages.astype(np.int32),
            weights=(idf[terms] * saturated).astype(np.float32),
            ceilings=(idf * (K1 + 1)).astype(np.float32),
            passage_count=passage_count,
            counts=counts.astype(np.int32),
        )

    def match(self, query: Sequence[str]) -> "KeywordScores":
        return KeywordScores(self.scores(query))

    def scores(self, query: Sequence[str]) -> NDArray[np.float32]:
        """The BM25 score of every passage, shape (passage_count,). A term counts as often as the query names it."""
        scores = np.zeros(self.passage_count, dtype=np.float32)
        for term, occurrences in Counter(query).items():
            number = self._number(term)
            if number is not None:
                part = slice(self.starts[number], self.starts[number + 1])
                scores[self.passages[part]] += occurrences * self.weights[part]  # passages in a slice are unique
        return scores

    def ceiling(self, query: Sequence[str]) -> float:
        """The score no passage can exceed. A term that occurs nowhere counts as the rarest."""
        unknown = float(idf_of(self.passage_count, 0) * (K1 + 1))
        numbers = ((self._number(term), occurrences) for term, occurrences in Counter(query).items())
        return sum(
            occurrences * (unknown if number is None else float(self.ceilings[number]))
            for number, occurrences in numbers
        )

    def frequency(self, term: str) -> int:
        """The number of passages with the term."""
        number = self._number(term)
        return 0 if number is None else int(self.starts[number + 1] - self.starts[number])

    def terms(self) -> list[str]:
        """All terms in order of their numbers."""
        names, borders = self.names.tobytes(), pairwise(self.name_starts.tolist())
        return [names[start:end].decode() for start, end in borders]

    @cached_property
    def latin_terms(self) -> list[str]:
        """The terms that begin with a Latin letter or a digit; in byte order they precede all others."""
        end = bisect_left(range(len(self.ceilings)), b"\x80", key=self._name)
        return [self._name(number).decode() for number in range(end)]

    def _number(self, term: str) -> int | None:
        """The number of a term; None if it occurs nowhere."""
        number = self._kept.get(term, -1)
        if number == -1:
            if len(self._kept) >= NUMBERS_KEPT:
                self._kept.clear()
            number = self._kept[term] = self._search(term)
        return number

    def _search(self, term: str) -> int | None:
        # Searches the sorted file: a dict of a million terms takes 150 MB and a second to build.
        name = term.encode()
        number = bisect_left(range(len(self.ceilings)), name, key=self._name)
        return number if number < len(self.ceilings) and self._name(number) == name else None

    def _name(self, number: int) -> bytes:
        return self.names[self.name_starts[number] : self.name_starts[number + 1]].tobytes()

    def save(self, prefix: Path) -> None:
        write_arrays(
            prefix,
            {
                "names": self.names,
                "name_starts": self.name_starts,
                "starts": self.starts,
                "passages": self.passages,
                "weights": self.weights,
                "ceilings": self.ceilings,
                "passage_count": np.asarray([self.passage_count], dtype=np.int64),
            },
        )
        if self.counts is not None:
            write_arrays(_beside(prefix), {"counts": self.counts, "cutter": _cutter()})

    @classmethod
    def load(cls, prefix: Path) -> "KeywordIndex":
        """Map what `save` wrote. It does not detect flipped bytes: verify the checksums first."""
        arrays, beside = map_arrays(prefix), map_arrays(_beside(prefix))
        counts = beside.get("counts") if np.array_equal(beside.get("cutter", []), _cutter()) else None
        return cls(passage_count=int(arrays.pop("passage_count")[0]), counts=counts, **arrays)


@dataclass(frozen=True, slots=True)
class KeywordScores:
    """The scores of all passages for one query, shape (passage_count,)."""

    scores: NDArray[np.float32]

    def best(
        self, count: int, within: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Numbers and scores of the `count` best passages (among `within`), best first; excludes passages without a
        query term."""
        found = np.flatnonzero(self.scores > 0) if within is None else within[self.scores[within] > 0]
        if len(found) > count:
            threshold = np.partition(self.scores[found], -count)[-count]
            found = found[self.scores[found] >= threshold]
        order = np.lexsort((found, -self.scores[found]))[:count]
        return found[order].astype(np.int64), self.scores[found[order]]

    def of(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.float32]:
        return np.asarray(self.scores[np.asarray(numbers, np.int64)], np.float32)


@cache
def _cutter() -> NDArray[np.uint8]:
    """Fingerprint of the tokenization: counts made with another one cannot be reused."""
    return np.frombuffer(hashlib.sha256("\n".join(terms(CUT)).encode()).digest(), np.uint8)


def _beside(prefix: Path) -> Path:
    """Where the counts are; earlier versions would load any file with the plain prefix as their own."""
    return prefix.with_name(f"{prefix.name}-counts")


@overload
def idf_of(passages: int, holding: int) -> float: ...
@overload
def idf_of(passages: int, holding: NDArray[Any]) -> NDArray[Any]: ...
def idf_of(passages: int, holding: int | NDArray[Any]) -> float | NDArray[Any]:
    """How rare a term is that this many of the passages hold, or how rare each of several is."""
    return np.log1p((passages - holding + 0.5) / (holding + 0.5))


def _counted(
    documents: Iterable[Sequence[str]], numbers: Mapping[str, int]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Of each distinct term of each document its number, and how often it stands there; how many each document has."""
    terms, counts, distinct = array("i"), array("i"), array("i")
    for document in documents:
        occurrences = Counter(document)
        terms.extend(map(numbers.__getitem__, occurrences))
        counts.extend(occurrences.values())
        distinct.append(len(occurrences))
    return np.asarray(terms), np.asarray(counts), np.asarray(distinct)


def _starts(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)

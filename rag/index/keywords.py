"""BM25 over keyword terms, as arrays: the postings of a term are one slice, so a query touches only what it names.

Robertson & Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009), with the idf of Lucene,
ln(1 + (N - n + 0.5) / (n + 0.5)), which is never negative. On disk: one safetensors file, no pickle.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save

# The usual middle of the ranges that Robertson & Zaragoza recommend (k1 1.2-2, b 0.5-0.8).
K1 = 1.2
B = 0.75


@dataclass(frozen=True)
class KeywordIndex:
    """Postings sorted by term, then passage. `starts[t]:starts[t + 1]` is the slice of term number t.

    `passages` (int32) and `weights` (float32, idf times saturated frequency) run in parallel; `ceilings` (float32) is
    the most a term can add to a score.
    """

    numbers: dict[str, int]
    starts: NDArray[np.int64]
    passages: NDArray[np.int32]
    weights: NDArray[np.float32]
    ceilings: NDArray[np.float32]
    passage_count: int

    @classmethod
    def build(cls, documents: Sequence[Sequence[str]]) -> "KeywordIndex":
        """Index passages given as lists of terms; their numbers are their places in the list."""
        numbers: dict[str, int] = {}
        term_column: list[int] = []
        passage_column: list[int] = []
        count_column: list[int] = []
        for passage, document in enumerate(documents):
            for term, count in Counter(document).items():
                term_column.append(numbers.setdefault(term, len(numbers)))
                passage_column.append(passage)
                count_column.append(count)
        term_array = np.asarray(term_column, dtype=np.int64)
        passage_array = np.asarray(passage_column, dtype=np.int32)
        counts = np.asarray(count_column, dtype=np.float32)
        order = np.argsort(term_array, kind="stable")  # stable: passages stay in order within a term
        term_array, passage_array, counts = term_array[order], passage_array[order], counts[order]
        frequencies = np.bincount(term_array, minlength=len(numbers)) if numbers else np.zeros(0, dtype=np.int64)
        starts = np.concatenate(([0], np.cumsum(frequencies))).astype(np.int64)
        lengths = np.asarray([len(document) for document in documents], dtype=np.float32)
        mean_length = max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
        idf = np.log1p((len(documents) - frequencies + 0.5) / (frequencies + 0.5)).astype(np.float32)
        saturated = counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths[passage_array] / mean_length))
        return cls(
            numbers=numbers,
            starts=starts,
            passages=passage_array,
            weights=(idf[term_array] * saturated).astype(np.float32),
            ceilings=(idf * (K1 + 1)).astype(np.float32),
            passage_count=len(documents),
        )

    def scores(self, query: Sequence[str]) -> NDArray[np.float32]:
        """The BM25 score of every passage, shape (passage_count,). A term counts as often as the query names it."""
        scores = np.zeros(self.passage_count, dtype=np.float32)
        for term, count in Counter(query).items():
            number = self.numbers.get(term)
            if number is not None:
                part = slice(self.starts[number], self.starts[number + 1])
                scores[self.passages[part]] += count * self.weights[part]  # a passage stands once in a slice
        return scores

    def ceiling(self, query: Sequence[str]) -> float:
        """The score no passage can exceed.

        A term that stands nowhere counts as the rarest, for it is what is missing.
        """
        unknown = float(np.log1p((self.passage_count + 0.5) / 0.5) * (K1 + 1))
        return sum(
            count * (float(self.ceilings[self.numbers[term]]) if term in self.numbers else unknown)
            for term, count in Counter(query).items()
        )

    def frequency(self, term: str) -> int:
        """In how many passages the term stands."""
        number = self.numbers.get(term)
        return 0 if number is None else int(self.starts[number + 1] - self.starts[number])

    @cached_property
    def latin_terms(self) -> list[str]:
        """The terms that begin with a Latin letter or a digit."""
        return [term for term in self.numbers if term[0].isascii()]

    def save(self, file: Path) -> None:
        names = "\n".join(self.numbers).encode()
        arrays = save(
            {
                "names": np.frombuffer(names, dtype=np.uint8),
                "starts": self.starts,
                "passages": self.passages,
                "weights": self.weights,
                "ceilings": self.ceilings,
                "passage_count": np.asarray([self.passage_count], dtype=np.int64),
            }
        )
        file.write_bytes(arrays)  # safetensors' own save_file makes files that only their owner can read

    @classmethod
    def load(cls, file: Path) -> "KeywordIndex":
        arrays = load_file(file)
        names = arrays["names"].tobytes().decode()
        return cls(
            numbers={name: number for number, name in enumerate(names.split("\n"))} if names else {},
            starts=arrays["starts"],
            passages=arrays["passages"],
            weights=arrays["weights"],
            ceilings=arrays["ceilings"],
            passage_count=int(arrays["passage_count"][0]),
        )

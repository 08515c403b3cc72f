"""Statements that speak of the same: each one's nearest neighbours by vector.

The vector of a statement is the mean of its tokens' vectors, which the index keeps with every passage, so nothing is
embedded anew. An index without token vectors compares the passages that statements stand in.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations, groupby

import faiss
import numpy as np
from numpy.typing import NDArray

from rag.embedding import Embedder
from rag.index import Index
from rag.review.readings import Reading
from rag.review.statements import Statement
from rag.text.terms import simplified

# Neighbours of a statement that are looked at, those of its own section aside.
NEIGHBOURS = 24
# Asked for, so that enough are left.
SEARCHED = 96
# In context, all tokens of a passage lean towards what it is about, and its sentences towards each other. Without so
# much of their mean, 95% of the pairs that share their rare words are found, with it left in 86%.
PASSAGE_SHARE = 0.7
# A word that stands in no more statements than this is rare; so many of each are looked at, so many must be shared.
RARE, RAREST, SHARED = 80, 20, 3
AT_ONCE = 512
Progress = Callable[[str, int, int], None]


def statement_vectors(
    index: Index, embedder: Embedder, statements: Sequence[Statement], progress: Progress
) -> NDArray[np.float32]:
    """Unit rows, shape (len(statements), dimension). The statements of a passage stand together."""
    rows = np.zeros((len(statements), index.vectors.dimension), np.float32)
    for number, group in groupby(range(len(statements)), key=lambda place: statements[place].passage):
        places = list(group)
        if index.tokens is None:
            rows[places] = index.vectors.rows([number])
            continue
        means = _means(index, embedder, [statements[place] for place in places])
        rows[places] = means - PASSAGE_SHARE * means.mean(axis=0)
        progress("vectors", places[-1] + 1, len(statements))
    if len(rows):
        rows -= rows.mean(axis=0)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return rows


def _means(index: Index, embedder: Embedder, statements: Sequence[Statement]) -> NDArray[np.float32]:
    """The mean token of each of these statements of one passage; of the whole passage where one has none."""
    assert index.tokens is not None
    (passage,) = index.storage.passages([statements[0].passage])
    (spans,) = embedder.token_spans([simplified(passage.text)])
    # The tokens of a passage are those of its text, after those of its headings. Folding keeps the length of a text.
    tokens = index.tokens.vectors(passage.number)[-len(spans) :] if len(spans) else np.zeros((0, 0), np.float32)
    if not len(tokens):
        return np.repeat(index.vectors.rows([passage.number]), len(statements), axis=0)
    starts, ends = spans[-len(tokens) :].T
    inside = np.asarray([(starts < each.text_end) & (ends > each.text_start) for each in statements])
    inside[~inside.any(axis=1)] = True
    return np.asarray([tokens[part].mean(axis=0) for part in inside], np.float32)


def neighbours(
    vectors: NDArray[np.float32], statements: Sequence[Statement], progress: Progress
) -> dict[tuple[int, int], float]:
    """Pairs (lower row, higher row) of which one is among the nearest of the other, with their cosine."""
    pairs: dict[tuple[int, int], float] = {}
    if not len(vectors):
        return pairs
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    sections = np.asarray(_section_numbers(statements))
    for start in range(0, len(vectors), AT_ONCE):
        rows = np.arange(start, min(start + AT_ONCE, len(vectors)))
        cosines, found = index.search(vectors[rows], min(SEARCHED, len(vectors)))
        elsewhere = sections[found] != sections[rows, np.newaxis]
        elsewhere &= np.cumsum(elsewhere, axis=1) <= NEIGHBOURS
        for place, column in np.argwhere(elsewhere).tolist():
            row, other = start + place, int(found[place, column])
            pairs[min(row, other), max(row, other)] = float(cosines[place, column])
        progress("neighbours", len(rows) + start, len(vectors))
    return dict(sorted(pairs.items()))


def sharing_rare_words(readings: Sequence[Reading]) -> list[tuple[int, int]]:
    """Pairs of rows that share at least SHARED of their rarest words: vectors may miss them where a passage speaks of
    many things."""
    words = [frozenset[str]().union(*(clause.words for clause in reading.clauses)) for reading in readings]
    counts = Counter(word for each in words for word in each)
    holding: dict[str, list[int]] = defaultdict(list)
    for row, each in enumerate(words):
        known = sorted((word for word in each if 1 < counts[word] <= RARE), key=lambda word: (counts[word], word))
        for word in known[:RAREST]:
            holding[word].append(row)
    shared = Counter(pair for rows in holding.values() for pair in combinations(rows, 2))
    sections = _section_numbers([reading.statement for reading in readings])
    return sorted(pair for pair, count in shared.items() if count >= SHARED and sections[pair[0]] != sections[pair[1]])


def _section_numbers(statements: Sequence[Statement]) -> list[int]:
    """The same number for the statements of one section."""
    numbers: dict[tuple[str, tuple[str, ...]], int] = {}
    return [numbers.setdefault((each.document, each.section), len(numbers)) for each in statements]

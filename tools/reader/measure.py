"""How well a reader finds the unit that answers, and tells whether any does."""

from collections.abc import Sequence

from sklearn.metrics import roc_auc_score

from rag.reader.network import JoinedReader
from rag.reader.reading import Reading
from tools.reader.data import Row


def read_first(reader: JoinedReader, rows: Sequence[Row]) -> list[Reading]:
    """What the reader says of the first text of each row."""
    return reader.read_pairs([(row.question, row.texts[0]) for row in rows])


def top_1(rows: Sequence[Row], found: Sequence[Reading]) -> float:
    """Share of rows whose best unit answers, among those that have an answer and a choice."""
    right = [
        max(range(len(reading.units)), key=reading.units.__getitem__) in row.texts[0].answering
        for row, reading in zip(rows, found, strict=True)
        if row.texts[0].answering and len(reading.units) > 1
    ]
    return sum(right) / len(right)


def answerable_auc(rows: Sequence[Row], found: Sequence[Reading]) -> float:
    """AUC of "does it answer" over the rows' first texts."""
    return float(roc_auc_score([bool(row.texts[0].answering) for row in rows], [reading.answers for reading in found]))

"""What the reader is trained on: questions about sections of documents, and public questions about passages."""

import hashlib
import random
from dataclasses import dataclass
from pathlib import Path

from tools.reader.data import Row, folded, of_sections, read_spans, with_negatives

# Rows of each public file; all of its texts allow a model under Apache-2.0 with attribution (docs/reader.md).
CHINESE = {"cmrc2018_train": 900, "cmrc2018_trial": 300, "drcd_train_part": 400, "mlqa_en2zh_dev": 200}
ENGLISH = {"squad2_half_dev": 1_000}
# Of this file the groups after so many rows are held out, to measure on.
HELD_OUT_FROM = {"cmrc2018_trial": 600}
# One document in so many is held out.
HELD_OUT_DOCUMENTS = 20


@dataclass(frozen=True, slots=True)
class Mixture:
    """Rows to train on, and rows about documents that were held out."""

    rows: tuple[Row, ...]
    held_out: tuple[Row, ...]


def mixture(questions: Path, documents: Path, public: Path, *, seed: int, most: int | None = None) -> Mixture:
    """All questions about sections, and so many of each public file in the folder `public`, in a fixed order of which
    `most` rows are kept. Raises OSError where a file is missing."""
    rng = random.Random(seed)
    about_sections = [folded(row) for row in of_sections(documents, questions, negatives=2, rng=rng)]
    held_out = tuple(row for row in about_sections if _is_held_out(row.group))
    rows = [row for row in about_sections if not _is_held_out(row.group)]
    for name, count in CHINESE.items():
        found = [row for row in read_spans(public / f"{name}.jsonl.gz") if len(row.texts[0].units) > 1]
        if name in HELD_OUT_FROM:
            found = sorted(found, key=lambda row: row.group)[: HELD_OUT_FROM[name]]
        rng.shuffle(found)
        rows += map(folded, with_negatives(found[:count], rng))
    for name, count in ENGLISH.items():
        found = list(read_spans(public / f"{name}.jsonl.gz"))
        rng.shuffle(found)
        rows += map(folded, found[:count])
    random.Random(seed + 7).shuffle(rows)
    return Mixture(tuple(rows[:most]), held_out)


def _is_held_out(group: str) -> bool:
    return hashlib.sha256(group.encode()).digest()[2] % HELD_OUT_DOCUMENTS == 0

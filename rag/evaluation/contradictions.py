"""How many of the contradictions that a review reports are real: python -m rag.evaluation.contradictions

`data/contradictions.jsonl` holds pairs that were read and labelled, those below the thresholds too; `set` says where
they come from (docs/results/review.md).
"""

import json
import sys
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from typing import Any

from pydantic import BaseModel, ConfigDict

from rag.evaluation.intervals import share
from rag.review.contradictions import THRESHOLDS, Kind

DATA = "data/contradictions.jsonl"
BORDERS = (1.01, 0.8, 0.6, 0.45, 0.3, 0.2, 0.0)


class Side(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    document: str
    section: tuple[str, ...]
    quote: str


class LabelledPair(BaseModel):
    """`is_contradiction` is what a reader of both statements says; `score` what the review gave the pair."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    set: str
    kind: Kind
    score: float
    is_contradiction: bool
    differing: tuple[str, str]
    one: Side
    other: Side

    @property
    def is_reported(self) -> bool:
        return self.score >= THRESHOLDS[self.kind]


def labelled_pairs() -> list[LabelledPair]:
    lines = files("rag.evaluation").joinpath(DATA).read_text(encoding="utf-8").splitlines()
    return [LabelledPair.model_validate_json(line) for line in lines if line]


def precision(pairs: Sequence[LabelledPair]) -> dict[str, Any]:
    """Of the pairs reported: all, by set and by kind; and of all pairs by score. Empty where there are none."""
    reported = [pair for pair in pairs if pair.is_reported]
    return {
        "reported": _share(reported),
        "by_set": {name: _share([p for p in reported if p.set == name]) for name in sorted({p.set for p in pairs})},
        "by_kind": {str(kind): _share([p for p in reported if p.kind is kind]) for kind in Kind},
        "by_score": {
            f"{low:.2f}–{min(high, 1):.2f}": _share([p for p in pairs if low <= p.score < high])
            for high, low in pairwise(BORDERS)
        },
    }


def _share(pairs: Sequence[LabelledPair]) -> dict[str, Any]:
    return share(sum(pair.is_contradiction for pair in pairs), len(pairs))


if __name__ == "__main__":
    sys.stdout.write(json.dumps(precision(labelled_pairs()), ensure_ascii=False, indent=1) + "\n")

"""Talks whose last message is labelled as leaning on them or not: no talk in both halves, a sealed test half."""

import hashlib
import json
from collections import Counter

from rag.evaluation.datasets import Split, json_rows
from tests.paths import ROOT
from tools.fit.follow_ups import TalkRow

TALKS = ROOT / "rag" / "evaluation" / "data" / "talks.jsonl"
ROWS = list(json_rows(TALKS, TalkRow))


def test_there_is_enough_of_each_kind() -> None:
    counts = Counter((str(row.split), row.leans) for row in ROWS)
    assert min(counts.values()) >= 150
    assert len(counts) == 4
    assert len({row.id for row in ROWS}) == len(ROWS)


def test_the_halves_share_no_talk() -> None:
    halves = [{(row.history, row.message) for row in ROWS if row.split is split} for split in (Split.DEV, Split.TEST)]
    assert not halves[0] & halves[1]


def test_the_test_half_is_sealed() -> None:
    lines = sorted(line for line in TALKS.read_text("utf-8").splitlines() if json.loads(line)["split"] == "test")
    assert (
        hashlib.sha256("\n".join(lines).encode()).hexdigest()
        == "fd73864c3bfce22b16a8d323df09bc7fd493b978f78bfa5e31053bca46ee45e3"
    )

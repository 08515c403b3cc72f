"""Questions with the one best place: labels that hold on the pages as they are, halves by page, a sealed test half."""

import hashlib
import json
from collections import Counter
from functools import partial
from pathlib import Path

from rag.evaluation.answers.asked import Answerable, sections
from rag.evaluation.answers.best_places import BEST, PlacedRow, load_placed
from rag.evaluation.datasets import Split
from tests.corpus.gold import split_of
from tests.corpus.pages import CORPUS
from tests.corpus.violations import told, violations
from tests.paths import ROOT

DATA = ROOT / "rag" / "evaluation" / "data"
PLACES = DATA / "best_places.jsonl"
ELSEWHERE = DATA / "elsewhere.jsonl"
ROWS = load_placed(PLACES)
ROWS_ELSEWHERE = load_placed(ELSEWHERE)
HEAD = load_placed(DATA / "head.jsonl")
TYPED = load_placed(DATA / "typed.jsonl")
# These keep the half of the set that they come from.
LABELLED_ANEW = ("asked", "gold")


def text_of(folder: Path, document: str, heading: str) -> str | None:
    """What stands under a heading of a document, or before its first; None without that heading."""
    source = (folder / document).read_text(encoding="utf-8")
    found = [source[s.start : s.end] for s in sections(document, source) if s.heading == heading]
    return "\n".join(found) if found else None


def test_there_is_enough_of_each_kind() -> None:
    counts = Counter((str(row.split), row.style) for row in ROWS)
    assert sum(row.best is not None for row in ROWS) >= 1_200
    assert min(counts["test", style] for style in ("asked", "gold", "published")) >= 60
    assert len({row.id for row in ROWS}) == len(ROWS)
    assert len({row.best[0] for row in ROWS_ELSEWHERE if row.best}) >= 12


def test_labels_hold() -> None:
    for folder, rows in ((CORPUS, [*ROWS, *HEAD, *TYPED]), (DATA / "elsewhere", ROWS_ELSEWHERE)):
        found = violations(partial(check_label, folder), rows, name=lambda row: row.id)
        assert not found, told(found)


def check_label(folder: Path, row: PlacedRow) -> None:
    if row.answerable is Answerable.NO:
        assert (row.best, row.sentence, row.grades) == (None, "", ())
        return
    assert row.best is not None
    assert row.graded[row.best] == BEST
    for document, heading in row.graded:
        assert text_of(folder, document, heading) is not None, (document, heading)
    assert row.sentence in (text_of(folder, *row.best) or ""), row.sentence


def test_what_is_asked_most_is_for_development() -> None:
    """Its labels were given by somebody who had read the answers, or among what the program proposed."""
    assert {row.split for row in [*HEAD, *TYPED]} == {Split.DEV}
    assert len({row.question for row in HEAD}) == len(HEAD) == 150
    assert len({row.question for row in TYPED}) == len(TYPED) == 141


def test_halves_are_by_document() -> None:
    for row in ROWS:
        if row.style not in LABELLED_ANEW and row.best and row.id.startswith(("n-", "p-", "b-", "q-")):
            assert row.split == split_of(row.best[0]), row.id
    halves = {(row.best[0], row.split) for row in ROWS_ELSEWHERE if row.best}
    assert len(halves) == len({document for document, _ in halves})


def test_the_test_halves_are_those_that_were_sealed() -> None:
    """Whoever corrects a label of a test half renews the seal and says why: nobody may tune on it."""
    for file in (PLACES, ELSEWHERE):
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if json.loads(line)["split"] == "test"]
        seal = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
        assert seal == file.with_suffix(".test.sha256").read_text().strip()

"""The labelled attempts: enough of each kind, their points stand on the pages, halves by page, a sealed test half."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from rag.evaluation.practice.attempts import load_attempts
from tests.corpus.gold import DATA, split_of
from tests.corpus.pages import PAGES

FILES = {name: DATA / f"{name}.jsonl" for name in ("attempts", "strangers", "retold", "cheats")}
ROWS, BY_STRANGERS, RETOLD, CHEATS = (load_attempts(file) for file in FILES.values())
SOURCES = {page.name: page.source for page in PAGES}


def test_there_is_enough_of_each_kind() -> None:
    assert len(ROWS) >= 600
    assert len({row.question_id for row in ROWS}) >= 120
    assert min(Counter(row.kind for row in ROWS).values()) >= 5


def test_flipped_rows_turn_one_fact_of_another() -> None:
    known = {row.id: row for row in ROWS}
    flipped = [(row, known[row.flipped]) for row in ROWS if row.flipped is not None]
    assert len(flipped) >= 150
    for row, before in flipped:
        assert row.attempt != before.attempt
        assert (row.question_id, row.split) == (before.question_id, before.split)
        wrong = [point.text for point in row.points if point.verdict == "contradicted"]
        was = {point.text: point.verdict for point in before.points}
        assert wrong, row.id
        assert all(was[text] in ("found", "partly") for text in wrong), row.id


def test_every_labelled_point_stands_on_its_page() -> None:
    missing = [
        (row.id, point.text)
        for row in (*ROWS, *BY_STRANGERS, *CHEATS)
        for point in row.points
        if point.text not in SOURCES[row.question_id.partition("#")[0]]
    ]
    assert not missing


def test_halves_are_by_page() -> None:
    assert all(row.split == split_of(row.question_id.partition("#")[0]) for row in (*ROWS, *BY_STRANGERS))


@pytest.mark.parametrize("file", FILES.values(), ids=FILES)
def test_the_test_half_is_the_one_that_was_sealed(file: Path) -> None:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if json.loads(line)["split"] == "test"]
    seal = hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
    assert seal == file.with_suffix(".test.sha256").read_text().strip()


def test_attempts_by_strangers_are_of_every_kind_and_graded_twice_in_part() -> None:
    """Writers saw the title alone; one teacher graded all, another a third of them, without seeing the first."""
    assert len(BY_STRANGERS) >= 300
    assert min(Counter(row.kind for row in BY_STRANGERS).values()) >= 40
    twice = [row for row in BY_STRANGERS if row.second]
    assert len(twice) >= 100
    assert all(len(row.second) == len(row.points) for row in twice)
    pairs = [(point.verdict, other) for row in twice for point, other in zip(row.points, row.second, strict=True)]
    assert sum(first == other for first, other in pairs) / len(pairs) >= 0.85


def test_spoken_answers_are_retold_by_three_for_sixty_pages() -> None:
    """By people who saw the spoken answer alone: who says all of it is to be believed."""
    assert set(Counter(row.question_id for row in RETOLD).values()) == {3}
    assert len(RETOLD) == 180
    assert {row.kind for row in RETOLD} == {"good", "spoken", "english"}
    assert {(row.score, row.split) for row in RETOLD} == {(1.0, "test")}


def test_teachers_cheat_in_every_way() -> None:
    """Three teachers who tried to be praised for what is false; the one of the test half saw no grade and nothing of
    the other two, and no page is in both halves."""
    assert len(CHEATS) >= 300
    assert min(Counter(row.kind for row in CHEATS if row.split == "test").values()) >= 8
    halves = {half: {row.document for row in CHEATS if row.split == half} for half in ("dev", "test")}
    assert halves["dev"].isdisjoint(halves["test"])
    verdicts = Counter(point.verdict for row in CHEATS for point in row.points)
    assert min(verdicts.values()) >= 250

"""The gold questions are sound: rows are well-formed, quotes stand in their pages, the test half is as committed."""

import json
from collections import Counter

import pytest

from tests.corpus.gold import GOLD, TEST_HALF, Kind, Row, load_rows, read_lines, sha256_of_test_half, split_of
from tests.corpus.pages import PAGES

SOURCES = {page.name: page.source for page in PAGES}
# Enough of each kind that a figure for it means something.
AT_LEAST = {Kind.FOLLOW_UP: 30, Kind.TWO_SIDED: 25, Kind.ENGLISH: 30, Kind.NEAR_MISS: 200}
MIN_ANSWERABLE = 200
MIN_NEAR_MISS_TOPICS = 30


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    assert GOLD.exists(), f"{GOLD} is missing: retrieval and refusal are measured on it"
    return load_rows()


def test_ids_and_questions_are_unique(rows: list[Row]) -> None:
    assert [row_id for row_id, count in Counter(row.id for row in rows).items() if count > 1] == []
    asked = Counter((row.question, tuple(row.history)) for row in rows)
    assert [question for (question, _), count in asked.items() if count > 1] == []


def test_every_quote_stands_in_its_page(rows: list[Row]) -> None:
    missing = [
        (row.id, evidence.document, evidence.quote)
        for row in rows
        for evidence in row.evidence
        if any(text not in SOURCES.get(evidence.document, "") for text in (evidence.quote, evidence.translation or ""))
    ]
    assert not missing


def test_no_quote_comes_from_the_front_matter(rows: list[Row]) -> None:
    """A title or another way of asking repeats the question; it does not answer it."""
    bodies = {page.name: "\n".join(page.source.split("\n")[page.first_line :]) for page in PAGES}
    above = [
        (row.id, evidence.quote)
        for row in rows
        for evidence in row.evidence
        if evidence.quote not in bodies.get(evidence.document, evidence.quote)
    ]
    assert not above


def test_split_is_by_page(rows: list[Row]) -> None:
    wrong = [row.id for row in rows if {split_of(evidence.document) for evidence in row.evidence} - {row.split}]
    assert not wrong, "a row has the split of all its pages"
    topics: dict[str, set[str]] = {}
    for row in rows:
        if row.topic:
            topics.setdefault(row.topic, set()).add(row.split)
    assert {split for splits in topics.values() for split in splits} == {"dev", "test"}, (
        "near misses are in both halves"
    )


def test_there_are_enough(rows: list[Row]) -> None:
    kinds = Counter(row.kind for row in rows)
    assert sum(row.answerable for row in rows) >= MIN_ANSWERABLE
    assert {kind: kinds[kind] for kind, least in AT_LEAST.items() if kinds[kind] < least} == {}
    assert len({row.topic for row in rows if row.topic}) >= MIN_NEAR_MISS_TOPICS


def test_two_sided_rows_have_two_quotes(rows: list[Row]) -> None:
    assert [row.id for row in rows if row.kind is Kind.TWO_SIDED and len(row.evidence) < 2] == []


def test_file_is_plain_json_lines(rows: list[Row]) -> None:
    for line in read_lines():
        assert line == json.dumps(json.loads(line), ensure_ascii=False), f"not in json.dumps form: {line[:60]}"


def test_the_test_half_is_as_committed(rows: list[Row]) -> None:
    """Whoever changes a test row after seeing results must say so, by changing this file as well."""
    actual = sha256_of_test_half(read_lines())
    assert TEST_HALF.exists(), f"{TEST_HALF} is missing; it should hold {actual}"
    committed = TEST_HALF.read_text(encoding="utf-8").split()[0]
    assert actual == committed, "the test half has changed"

"""Questions that need two pages: evidence that stands on the pages as they are, halves by page, a sealed test half."""

import json

from rag.evaluation.datasets import GoldRow, load_gold
from tests.corpus.gold import DATA, sha256_of_test_half, split_of
from tests.corpus.pages import PAGES

FILE = DATA / "multi_hop.jsonl"
SEAL = DATA / "multi_hop.test.sha256"
LINES = FILE.read_text(encoding="utf-8").splitlines()
ROWS: list[GoldRow] = load_gold(FILE)


def test_there_are_enough_in_both_halves() -> None:
    assert len(ROWS) >= 60
    assert len({row.question for row in ROWS}) == len(ROWS)
    assert min(sum(row.split == half for row in ROWS) for half in ("dev", "test")) >= 30


def test_each_needs_two_pages_of_its_half() -> None:
    for row in ROWS:
        pages = {evidence.document for evidence in row.evidence}
        assert len(pages) >= 2, row.id
        assert {split_of(page) for page in pages} == {row.split}, row.id


def test_the_evidence_stands_below_the_front_matter() -> None:
    bodies = {page.name: "\n".join(page.source.split("\n")[page.first_line :]) for page in PAGES}
    for row in ROWS:
        for evidence in row.evidence:
            assert evidence.quote in bodies[evidence.document], row.id


def test_file_is_plain_json_lines() -> None:
    assert [line for line in LINES if line != json.dumps(json.loads(line), ensure_ascii=False)] == []


def test_the_test_half_is_the_one_that_was_sealed() -> None:
    """Whoever corrects a row of the test half renews the seal and says why: nobody may tune on it."""
    assert sha256_of_test_half(LINES) == SEAL.read_text(encoding="utf-8").strip()

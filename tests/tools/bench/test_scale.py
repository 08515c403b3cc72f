"""What many passages cost: the law is found again where one holds, and the page says what was measured."""

import json
import math

import pytest

from tests.paths import ROOT
from tools.bench.scale.model import MARKERS, PLANNED, Law, fit, foreseen, markdown, planned, points_of
from tools.report.retrieval import with_table

SIZES = [(30_000, 365), (100_000, 365), (30_000, 80), (100_000, 80), (1_000_000, 80)]


@pytest.mark.parametrize(
    "law", [Law(0.0, 0.0015, 0.0), Law(40.0, 1e-4, 2e-6), Law(0.4, 0.0, 3e-8), Law(0.3, 1.05e-5, 0.0)]
)
def test_a_law_is_found_again_from_what_it_gives(law: Law) -> None:
    points = [(n, c, law.at(n, c)) for n, c in SIZES]
    for n, c in [*SIZES, (PLANNED, 365)]:
        assert fit(points).at(n, c) == pytest.approx(law.at(n, c), rel=1e-6)
    assert foreseen(points) == pytest.approx(1)


def test_a_largest_index_that_costs_more_than_foreseen_is_told() -> None:
    law = Law(0.0, 0.001, 0.0)
    points = [(n, c, law.at(n, c) * (2 if n == 1_000_000 else 1)) for n, c in SIZES]
    assert foreseen(points) == pytest.approx(0.5)


def test_a_quantity_that_no_character_changes_has_a_law_of_passages_alone() -> None:
    sizes = (100_000, 1_000_000, 10_000)
    row = {"disk MB": 1, "server core ms a search": 1}
    served = [{"passages": n, "index": "FLAT", "server MB": 280 + n * 0.002, **row} for n in sizes]
    points = points_of({"rows": [], "vector search in a full server": served})["Milvus FLAT, memory"]
    law = fit(points)
    assert law.at(PLANNED, 365) == law.at(PLANNED, 0) == pytest.approx(200_280, rel=1e-6)
    assert foreseen([(n, c, y * (2 if n == 1_000_000 else 1)) for n, c, y in points]) == pytest.approx(0.5)
    assert foreseen([(n, 0.0, law.at(n, 0) * (2 if n == 1_000_000 else 1)) for n in sizes]) == pytest.approx(0.5)


def test_what_is_planned_follows_from_the_laws() -> None:
    # 100 million of 365 characters: 1e8 * 100 ms = 1e7 s = 2,778 core-hours; 100 GB of codes fill 96 GB of a machine
    # and a bit of a second one; 10 ms + 5 ms a million are 60 ms at 12 million, and 100 / 12 is 9 parts.
    result = {"a passage of the corpus": {"characters": 365, "embedding core ms": 100, "token vectors kB": 40}}
    laws = dict.fromkeys(("disk: texts (SQLite)", "disk: postings", "disk: vectors"), Law(0, 0.001, 0))
    laws |= {
        "disk and memory: codes of vectors": Law(0, 0.001, 0),
        "writing, without embedding": Law(0, 3.6e-3, 0),
        "a question: vectors": Law(0, 4e-6, 0),
        "a question: keywords": Law(0, 1e-6, 0),
    }
    told = {row[0]: row[1] for row in planned(result, laws)}
    assert told["embedding"] == "2,778 core-hours"
    assert told["writing the index once"] == "100 core-hours"
    assert told["texts, postings, vectors on disk"] == "0.10 + 0.10 + 0.10 TB"
    assert told["token vectors on disk, if kept"] == "4.0 TB"
    assert told["codes of vectors in memory"] == "100 GB: 2 machines of 128 GB and 16 cores"
    assert told["a question on one core"] == "500 ms"
    assert told["passages at which it takes 60 ms"] == "12.0 million"
    assert told["parts for 60 ms, each with a core of its own"] == "9"


def test_the_page_says_what_was_measured() -> None:
    result = json.loads((ROOT / "docs" / "results" / "speed" / "scale.json").read_text(encoding="utf-8"))
    page = ROOT / "docs" / "scale.md"
    assert with_table(page, markdown(result), markers=MARKERS) == page.read_text(encoding="utf-8")
    for name, points in points_of(result).items():
        assert all(math.isfinite(y) and y > 0 for _, _, y in points), name

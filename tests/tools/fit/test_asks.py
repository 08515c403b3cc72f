"""What the whole question counts for each thing asked: labels hold, and the table tells what decides."""

import numpy as np

from rag.evaluation.datasets import Split
from tests.corpus.pages import CORPUS
from tests.corpus.test_best_places import text_of
from tests.paths import ROOT
from tools.fit.asks import Choice, as_table, load_several

SEVERAL = ROOT / "rag" / "evaluation" / "data" / "several.jsonl"
ROWS = load_several(SEVERAL)


def test_labels_hold() -> None:
    assert len(ROWS) >= 150
    assert {row.split for row in ROWS} == {Split.DEV}
    for row in ROWS:
        assert len(row.asks) >= 2, row.id
        for ask in row.asks:
            assert not {*ask.best} & {*ask.fine}, row.id
            for document, heading in (*ask.best, *ask.fine):
                assert text_of(CORPUS, document, heading) is not None, (row.id, document, heading)


def test_the_table_tells_what_decides() -> None:
    """Own scores are right for the first thing, those for the whole for the later one, both together for both."""
    first = Choice(True, np.asarray([3.0, 0.0]), np.asarray([0.0, 4.0]), np.asarray([2, 0]))
    later = Choice(False, np.asarray([0.2, 0.0]), np.asarray([0.0, 1.0]), np.asarray([1, 2]))
    lines = {line.split(" begins ")[0].strip(): line for line in as_table([first, later])}
    assert "begins 0.500" in lines["the whole alone"]
    assert "first 0.000, later 1.000" in lines["the whole alone"]
    assert "first 1.000, later 0.000" in lines["own + 0.0 whole"]
    assert "holds 1.000" in lines["own + 0.0 whole"]
    assert "begins 1.000" in lines["own + 0.5 whole"]
    assert "first 0.000, later 1.000" in lines["own + 1.0 whole"]

"""Workers begin with what takes long, and one of them takes what belongs together."""

from collections import Counter

from tests.order import TOGETHER, group, noted, place
from tests.paths import ROOT

HOUSE = "tests/rag/ui/test_browser"


def test_what_belongs_together_and_what_is_noted_is_there() -> None:
    assert [path for paths in TOGETHER.values() for path in paths if not (ROOT / path).exists()] == []
    assert [one for one in noted() if one not in TOGETHER and not (ROOT / one).exists()] == []


def test_the_longest_group_comes_first_and_its_files_in_a_row() -> None:
    tests = [f"{file}.py::test_a[x::y]" for file in (f"{HOUSE}_chat", "tests/test_a", "tests/test_b", f"{HOUSE}_early")]
    assert [group(test) for test in tests] == [HOUSE, "tests/test_a.py", "tests/test_b.py", HOUSE]
    seconds = Counter({HOUSE: 9.0, "tests/test_a.py": 20.0})
    assert sorted(tests, key=lambda test: place(test, seconds)) == [tests[1], tests[0], tests[3], tests[2]]

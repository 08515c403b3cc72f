"""Whether outputs are as they were."""

import json
from pathlib import Path
from typing import Any

import pytest

from tools.same import compare, questions, without_times


def write(folder: Path, rows: dict[str, Any]) -> Path:
    folder.mkdir()
    lines = (json.dumps(pair) + "\n" for pair in rows.items())
    (folder / "ask.jsonl").write_text("".join(lines), encoding="utf-8")
    return folder


def test_what_differs_is_counted_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = write(tmp_path / "before", {"a": 1, "b": 2, "c": 3})
    after = write(tmp_path / "after", {"a": 1, "b": 5, "d": 4})
    assert compare(before, before) == 0
    assert compare(before, after) == 3  # b is another, c is gone, d is new
    told = capsys.readouterr().out
    assert "ask: 3 before, 3 after, 3 differ" in told
    assert "  b\n    - 2\n    + 5" in told


def test_times_are_left_out_at_every_depth() -> None:
    assert without_times({"seconds": 1, "answer": [{"created": 2, "text": "x"}]}) == {"answer": [{"text": "x"}]}


def test_every_labelled_question_is_asked() -> None:
    rows = questions(1)
    assert len({row["id"] for row in rows}) == len(rows) > 1_700
    assert any(row["history"] for row in rows)

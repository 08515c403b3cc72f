"""Where a result comes from; git is stood in for by a script, so that the tests do not depend on the working copy."""

import re
from pathlib import Path

import pytest

from rag.evaluation.provenance import commit, machine, today


def test_the_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text('#!/bin/sh\ncase "$*" in *describe*--dirty*) echo 0123abc-dirty ;; *) exit 1 ;; esac\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(git.parent))
    assert commit(tmp_path) is None  # not a working copy
    (tmp_path / ".git").mkdir()
    assert commit(tmp_path) == "0123abc-dirty"
    git.write_text("#!/bin/sh\nexit 128\n")
    assert commit(tmp_path) is None
    git.unlink()
    assert commit(tmp_path) is None


def test_the_machine_and_the_day() -> None:
    found = machine()
    assert found["cores"] >= 1
    assert 0.1 < found["memory_gb"] < 100_000
    assert found["cpu"]
    assert re.fullmatch(r"\d+\.\d+\.\d+.*", found["torch"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", today())

"""Which suites a run leaves out: those whose paths nobody touched lately, and never unsaid."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests import suites
from tests.conftest import suites_left_out
from tests.paths import ROOT
from tests.suites import Suite, lately_changed, unchanged

STORE = Suite("store", ("tests/store",), ("tests/store/test_a.py::test_contract",), ("rag/store", "sync.py"))
# Patches a run, its workers too: one suite, of a small file, and a history in which nothing that it protects changed.
FORCED = """
from tests import suites
suite = suites.Suite("small", ("tests/tools/test_labels.py",), (), ("rag/labels.py",))
suites.Suite.read = classmethod(lambda cls: [suite])
suites.lately_changed = lambda: {"README.md"}
"""


def test_the_table_names_what_there_is() -> None:
    table = Suite.read()
    assert {"cluster", "milvus", "torture"} <= {suite.name for suite in table}
    for suite in table:
        assert [path for path in suite.protects if not (ROOT / path).exists()] == []
        for test in suite.kept:
            assert suite.leaves_out(f"{test.partition('::')[0]}::another")
        for test in (*suite.kept, *suite.tests):
            file, _, name = test.partition("::")
            assert not name or f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changed", "is_left_out"),
    [
        ({"README.md"}, True),
        (set(), True),
        ({"README.md", "rag/store/write.py"}, False),
        ({"sync.py"}, False),
        ({"rag/stores.py", "rag/sync.py", "sync.py.md"}, True),
        (None, False),
    ],
)
def test_a_change_below_a_path_brings_its_suite_back(changed: set[str] | None, is_left_out: bool) -> None:
    assert (unchanged([STORE], changed) == [STORE]) is is_left_out


def test_a_contract_stays_and_the_rest_of_a_suite_goes() -> None:
    left_out = [
        test
        for test in (
            "test_a.py::test_contract",
            "test_a.py::test_contract[1]",
            "test_a.py::test_b",
            "b/test_c.py::test_d",
        )
        if STORE.leaves_out(f"tests/store/{test}")
    ]
    assert left_out == ["test_a.py::test_b", "b/test_c.py::test_d"]
    assert not STORE.leaves_out("tests/stores/test_a.py::test_b")
    single = Suite("single", ("tests/test_a.py::test_b",), (), ())
    assert [single.leaves_out(f"tests/test_a.py::test_{name}") for name in ("b", "b[1]", "bc")] == [True, True, False]


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of four commits, of which three count."""
    monkeypatch.setattr(suites, "COMMITS", 3)
    root = tmp_path / "root"
    root.mkdir()
    git(root, "init", "-q")
    (root / ".gitignore").write_text("*.log\n", encoding="utf-8")
    for name in ("旧.txt", "gone.txt", "moved.txt", "kept.txt"):
        (root / name).write_text(f"{name}\n" * 9, encoding="utf-8")
    commit(root)
    (root / "gone.txt").unlink()
    commit(root)
    (root / "moved.txt").rename(root / "there.txt")
    commit(root)
    (root / "新.txt").write_text("new", encoding="utf-8")
    commit(root)
    return root


def git(root: Path, *arguments: str) -> None:
    name = ("-c", "user.name=Anna", "-c", "user.email=anna@example.org")
    subprocess.run(["git", *name, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", "a change")


def test_what_changed_lately(history: Path) -> None:
    lately = {"gone.txt", "moved.txt", "there.txt", "新.txt"}
    assert lately_changed(history) == lately
    (history / "kept.txt").write_text("not committed", encoding="utf-8")
    (history / "untracked.txt").write_text("", encoding="utf-8")
    (history / "ignored.log").write_text("", encoding="utf-8")
    assert lately_changed(history) == lately | {"kept.txt", "untracked.txt"}
    git(history, "add", "kept.txt")
    assert lately_changed(history) == lately | {"kept.txt", "untracked.txt"}


def test_a_merge_brings_what_its_branch_changed(history: Path) -> None:
    git(history, "checkout", "-q", "-b", "side", "HEAD~3")
    (history / "side.txt").write_text("", encoding="utf-8")
    commit(history)
    git(history, "checkout", "-q", "-")
    git(history, "merge", "-q", "--no-ff", "--no-edit", "side")
    assert "side.txt" in (lately_changed(history) or ())


def test_without_a_history_nobody_knows(history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(tmp_path, "clone", "-q", "--depth", "3", f"file://{history}", "shallow")
    assert lately_changed(tmp_path / "shallow") is None
    (history / "archive").mkdir()  # unpacked within somebody's repository
    assert lately_changed(history / "archive") is None
    monkeypatch.setenv("PATH", "")
    assert lately_changed(history) is None


def test_a_run_says_what_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "forced.py").write_text(FORCED, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "forced"]
    done = subprocess.run(
        [*command, "-o", "testpaths=tests/tools/test_labels.py", "-n", "1"],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "(make test-all runs them): small" in done.stdout, done.stdout + done.stderr
    assert " passed" not in done.stdout


@pytest.mark.parametrize(
    ("source", "asked", "is_left_out"),
    [
        ("TESTPATHS", {}, True),
        ("TESTPATHS", {"all_suites": True}, False),
        ("TESTPATHS", {"keyword": "store"}, False),
        ("TESTPATHS", {"markexpr": "llm"}, False),
        ("ARGS", {}, False),
    ],
)
def test_a_run_that_names_tests_or_asks_for_all_leaves_nothing_out(
    monkeypatch: pytest.MonkeyPatch, source: str, asked: dict[str, Any], is_left_out: bool
) -> None:
    monkeypatch.setattr(Suite, "read", lambda: [STORE])
    monkeypatch.setattr("tests.conftest.lately_changed", lambda: {"README.md"})
    given = {"markexpr": "", "keyword": "", "all_suites": False} | asked
    config = SimpleNamespace(
        ArgsSource=pytest.Config.ArgsSource, args_source=pytest.Config.ArgsSource[source],
        option=SimpleNamespace(**given), getoption=given.__getitem__,
    )  # fmt: skip
    assert (suites_left_out(cast(pytest.Config, config)) == [STORE]) is is_left_out

"""Without the extra `evaluation` every evaluation says what to install, before it loads anything."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rag.__main__ import main
from rag.errors import UsageError
from rag.evaluation.extra import INSTALL, evaluation_extra, require_evaluation_extra
from rag.index import Index
from rag.settings import Settings
from rag.ui.quality.runner import EvaluationKind, Runner
from tools.fit import refusals


@pytest.fixture(params=["ir_measures", "scipy", "sklearn"])
def missing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package of the extra, as if it were not installed."""
    monkeypatch.setitem(sys.modules, request.param, None)
    return str(request.param)


def test_the_extra_is_installed_here() -> None:
    require_evaluation_extra()


@pytest.mark.parametrize("kind", ["retrieval", "answers"])
def test_the_commands_name_it(kind: str, missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", kind, str(tmp_path / "gold.jsonl"), "--json"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert missing in error["message"]
    assert error["hint"] == INSTALL


def test_the_fit_names_it(missing: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusals.main([str(tmp_path / "gold.jsonl"), "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["hint"] == INSTALL


def test_an_import_that_fails_is_an_error_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match="matplotlib") as caught, evaluation_extra():
        import matplotlib  # noqa: F401
    assert caught.value.hint == INSTALL


def test_the_quality_room_names_it(missing: str, tmp_path: Path, library: Settings, library_index: Index) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text("", encoding="utf-8")
    runner = Runner(library.model_copy(update={"data": tmp_path}), gold)
    assert runner.start(library_index, EvaluationKind.RETRIEVAL, 10)
    for thread in threading.enumerate():
        if thread.name == "evaluation":
            thread.join(60)
    problem = runner.progress().problem
    assert problem is not None
    assert missing in problem.message
    assert problem.hint == INSTALL


def test_results_are_shown_without_it() -> None:
    """What the page shows of results must not load what a fresh machine lacks."""
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('ir_measures', 'scipy', 'sklearn', 'matplotlib')));"
        "from rag.ui.app.lean_gradio import lighten_gradio; lighten_gradio();"
        "import rag.ui.quality.results, rag.ui.quality.tab, app"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)

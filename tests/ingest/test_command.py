"""`python -m ingest` as others call it: JSON, exit codes, and what goes to stdout and to stderr."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingest.__main__ import main
from ingest.sync import sync
from rag.embedding import embedder_identity
from rag.index.generation import open_index
from rag.index.locks import writer_lock
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.paths import ROOT as HOUSE

Ingest = Callable[..., subprocess.CompletedProcess[str]]
PAGE = "# 什么是早停？\n\n验证集的损失不再下降时停止训练，可以防止过拟合。\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(PAGE, encoding="utf-8")
    return tmp_path


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(HOUSE), "PYTHONIOENCODING": "ascii"} | more


def ingest(place: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "ingest", *arguments],
        cwd=place, env=environment(**more), capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def ingest_here(place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ingest:
    """The same in this process, for what no process of its own is needed to see."""
    monkeypatch.chdir(place)

    def ingest_here(*arguments: str) -> subprocess.CompletedProcess[str]:
        try:
            code = main([*arguments])
        except SystemExit as ended:
            code = int(str(ended.code))
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return ingest_here


def only_json(result: subprocess.CompletedProcess[str]) -> Any:
    (line,) = result.stdout.splitlines()
    return json.loads(line)


@pytest.mark.slow
@pytest.mark.usefixtures("model_settings")
def test_a_real_run(place: Path) -> None:
    first = ingest(place, "docs", "--json")
    assert first.returncode == 0, first.stderr
    report = only_json(first)
    assert report.pop("seconds") > 0
    assert report.pop("changes")["added"] == ["page.md"]
    assert report == {
        "generation": 1,
        "documents": {"added": 1, "changed": 0, "moved": 0, "unchanged": 0, "removed": 0, "stale": 0, "failed": []},
        "passages": {"total": 1, "embedded": 1, "reused": 0},
        "cleaned": [],
        "warnings": [],
    }
    assert "documents" in first.stderr  # the progress bar
    assert "passages" in first.stderr
    (place / "docs" / "坏.md").write_bytes(b"\x00")
    second = ingest(place, "--json")
    assert second.returncode == 1  # done in part
    report = only_json(second)
    assert "坏.md" in second.stdout  # not escaped
    assert report["documents"]["failed"] == [
        {"path": str(place / "docs" / "坏.md"), "error": "坏.md: holds binary data, not text", "reason": "encoding"}
    ]
    assert (report["generation"], report["documents"]["unchanged"]) == (1, 1)
    index = open_index(place / ".interview-rag" / "index")  # the default place
    assert index.manifest.embedder.startswith("multilingual-e5-small@")
    assert index.storage.passages([0])[0].text == PAGE.replace("\n\n", "\n").strip()
    index.close()


@pytest.mark.slow
@pytest.mark.usefixtures("model_settings")
def test_what_cleaning_took_out_is_told(place: Path, ingest_here: Ingest) -> None:
    (place / "docs" / "saved.txt").write_text("题集\n早停看验证集的损失。\n扫码免费领取\n更多推荐\n", encoding="utf-8")
    (place / "docs" / "note.md").write_text("# 笔记\n\n扫码领取优惠券的用户留存 41%。\n", encoding="utf-8")
    result = ingest_here("docs", "--json")
    assert only_json(result)["cleaned"] == [{"path": "saved.txt", "count": 2, "lines": ["扫码免费领取", "更多推荐"]}]
    (line,) = [line for line in result.stderr.splitlines() if "cleaned" in line]
    assert line.startswith("cleaned: saved.txt: ")
    assert "(2): '扫码免费领取'; '更多推荐'" in line
    assert only_json(ingest_here("--json"))["cleaned"] == []


def test_help_loads_no_models(place: Path) -> None:
    code = "import sys, ingest.__main__ as m\ntry: m.main(['--help'])\nfinally: assert 'torch' not in sys.modules"
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    for option in (
        "PATH", "--index", "--remove-root", "--allow-empty", "--rebuild", "--json", "--config", "--wait", "--probe",
        "--watch", "--poll",
    ):  # fmt: skip
        assert option in result.stdout


def test_a_run_without_changes_loads_no_model(place: Path, hash_embedder: HashEmbedder) -> None:
    docs, settings = place / "docs", Settings(index=place / "index")
    for number in range(300):
        (docs / f"{number}.md").write_text(f"# 第 {number} 页\n\n{number} 号页面的内容写在这里。\n", encoding="utf-8")
    sync(settings, lambda: hash_embedder, [docs], identity=embedder_identity(settings))
    code = (
        "import sys, ingest.__main__ as m\ncode = m.main()\n"
        "heavy = {'torch', 'transformers', 'sentence_transformers', 'tiktoken', 'langchain_text_splitters'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\nsys.exit(code)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, "--index", str(settings.index), "--json"],
        cwd=place, env=environment(), capture_output=True, encoding="utf-8", timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    report = only_json(result)
    assert (report["documents"]["unchanged"], report["passages"]["embedded"]) == (301, 0)


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code", "message"),
    [
        (["nowhere"], "ingest", 1, "nowhere does not exist"),
        (["--remove-root", "docs"], "ingest", 1, "is not a root of the index"),
        (["docs", "--config", "none.toml"], "settings", 2, "none.toml"),
        (["docs", "--index", "docs/page.md"], "ingest", 1, "cannot write the index"),
    ],
)
def test_errors(arguments: list[str], code: str, exit_code: int, message: str, ingest_here: Ingest) -> None:
    result = ingest_here(*arguments, "--json")
    error = only_json(result)["error"]
    assert result.returncode == exit_code
    assert sorted(error) == ["code", "hint", "message"]
    assert error["code"] == code
    assert message in error["message"]
    assert error["hint"]
    told = ingest_here(*arguments)
    assert told.returncode == exit_code
    assert told.stdout == ""
    assert told.stderr.startswith("error: ")
    assert "\nhint: " in told.stderr
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize(
    "arguments",
    [["--wait", "-1"], ["--poll"], ["--watch", "--rebuild"], ["--watch", "--remove-root", "docs"],
     ["docs", "--probe", "none.jsonl"]],
)  # fmt: skip
def test_options_that_do_not_go_together(arguments: list[str], ingest_here: Ingest) -> None:
    result = ingest_here(*arguments, "--json")
    error = only_json(result)["error"]
    assert (result.returncode, error["code"]) == (2, "usage")
    assert error["hint"]


def test_wrong_usage(ingest_here: Ingest) -> None:
    result = ingest_here("--no-such-option")
    assert (result.returncode, result.stdout) == (2, "")
    assert "python -m ingest --help" in result.stderr


def test_a_setting_out_of_range(ingest_here: Ingest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INTERVIEW_RAG_PASSAGE_TOKENS", "9000")
    result = ingest_here("docs", "--json")
    assert result.returncode == 2
    error = only_json(result)["error"]
    assert error["code"] == "settings"
    assert "passage_tokens" in error["message"]
    assert "9000" in error["message"]


def test_a_locked_index(place: Path) -> None:
    with writer_lock(place / Settings().index):
        result = ingest(place, "docs", "--json")
    assert result.returncode == 1
    error = only_json(result)["error"]
    assert error["code"] == "index_locked"
    assert f"({os.getpid()})" in error["message"]


def test_interrupted(place: Path) -> None:
    """Ctrl-C while documents are read: exit code 130, no traceback, nothing published."""
    for number in range(3_000):
        (place / "docs" / f"{number}.md").write_text(PAGE * 20, encoding="utf-8")
    command = [sys.executable, "-m", "ingest", "docs", "--json"]
    with subprocess.Popen(
        command, cwd=place, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stderr is not None
        told = process.stderr.read(1)  # the bar of the documents has begun
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    # Where the interrupt falls into code made of a string, such as a dataclass's methods, Python ends by the signal
    # whatever the program returns; shells report 130 either way.
    assert process.returncode in (130, -signal.SIGINT)
    assert out == b""
    assert (told + err).endswith(b"interrupted\n")
    assert b"Traceback" not in err
    assert not (place / Settings().index / "CURRENT").exists()

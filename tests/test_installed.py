"""What `pip install` puts on a machine: a wheel with program, page and corpus, and the command `interview-rag`."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from rag.paths import CORPUS
from rag.ui.app.program import SHELLS, main
from tests.paths import ROOT
from tests.rag.library import DOCUMENTS

PARTS = ("app.py", "corpus", "ingest", "rag", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources elsewhere: a build leaves files beside them."""
    folder = tmp_path_factory.mktemp("sources")
    for name in PARTS:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip(sys.executable, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", str(folder), str(sources))
    [file] = folder.iterdir()
    return file


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of a new environment; what we depend on is that of this one."""
    commands = environment(tmp_path_factory.mktemp("installed"))
    pip(str(commands / "python"), "install", "--no-deps", str(wheel))
    return commands


def environment(folder: Path) -> Path:
    venv.create(folder, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (site / "shared.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin"


def pip(python: str, *arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "--python", python, *arguments]
    subprocess.run(command, check=True, timeout=240)


def run(commands: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(commands / "interview-rag"), *arguments],
        cwd=cwd,
        env=kept,
        capture_output=True,
        encoding="utf-8",
        timeout=240,
        check=False,
    )


def test_the_wheel_holds_program_page_and_corpus_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        assert {name.partition("/")[0].partition("-")[0] for name in names} == {"rag", "ingest", "interview_rag"}
        for file in CORPUS.rglob("*.md"):
            assert archive.read(f"rag/corpus/{file.relative_to(CORPUS).as_posix()}") == file.read_bytes()
    kinds = ("*.py", "*.js", "*.css", "*.html", "*.toml", "*.safetensors", "evaluation/data/gold.jsonl")
    expected = {
        file.relative_to(ROOT).as_posix()
        for package in ("rag", "ingest")
        for kind in kinds
        for file in (ROOT / package).rglob(kind)
        if file.is_file()
    }
    assert not expected - names
    labels = {name for name in names if name.startswith("rag/evaluation/data/")}
    assert labels == {"rag/evaluation/data/gold.jsonl"}, "of the labelled files the page reads this one alone"


@pytest.mark.slow
def test_installed_elsewhere_it_ingests_and_answers(installed: Path, tmp_path: Path, model_settings: object) -> None:
    (tmp_path / "notes").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")
    assert "interview-rag" in run(installed, "--help", cwd=tmp_path).stdout
    missing = run(installed, "ask", "LoRA 的秩怎么选？", "--json", cwd=tmp_path)
    assert json.loads(missing.stdout)["error"]["hint"] == "make one: interview-rag ingest"
    done = run(installed, "ingest", "notes", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["documents"]["added"] == len(DOCUMENTS), done.stderr
    asked = json.loads(run(installed, "ask", "LoRA 的秩怎么选？", "--json", cwd=tmp_path).stdout)
    assert asked["kind"] == "answer"
    assert "8 到 64" in asked["answer"]


def test_its_corpus_is_its_own(installed: Path, tmp_path: Path) -> None:
    code = "from ingest.sources import default_root; print(default_root(), len(list(default_root().rglob('*.md'))))"
    done = subprocess.run(
        [str(installed / "python"), "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    place, count = done.stdout.rsplit(maxsplit=1)
    assert place.startswith(str(installed.parent))
    assert int(count) == len(list(CORPUS.rglob("*.md")))


def test_an_editable_install_uses_the_checkout(sources: Path, tmp_path: Path) -> None:
    commands = environment(tmp_path / "environment")
    pip(str(commands / "python"), "install", "--no-build-isolation", "--no-deps", "-e", str(sources))
    assert "completion" in run(commands, "--help", cwd=tmp_path).stdout
    code = "from ingest.sources import default_root; print(default_root().resolve())"
    done = subprocess.run(
        [str(commands / "python"), "-c", code], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.strip() == str((sources / "corpus").resolve())


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    """It takes 0.2 s; that holds as long as none of these is imported."""
    code = (
        "import sys; from rag.ui.app.program import build_parser; build_parser().format_help();"
        "heavy = ('torch', 'gradio', 'langchain_core', 'mcp', 'numpy', 'faiss');"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("shell", SHELLS)
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for name in ("chat", "ingest", "practice", "mcp", "--allow-writes"):
        assert name in script
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=script, encoding="utf-8", check=False).returncode == 0


def test_bash_completes_commands_and_options(capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    ask = 'COMP_WORDS=(interview-rag {}); COMP_CWORD={}; {}; echo "${{COMPREPLY[*]}}"'
    script = capsys.readouterr().out
    function = next(line.split()[line.split().index("-F") + 1] for line in script.splitlines() if "-F" in line.split())
    for words, place, expected in [
        ("pra", 1, "practice"),
        ("practice gr", 2, "grade"),
        ("mcp --allow", 2, "--allow-writes"),
    ]:
        command = ["bash", "-c", script + ask.format(words, place, function)]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
        assert expected in done.stdout.split()

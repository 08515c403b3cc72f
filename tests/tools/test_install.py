"""Installing as pip does, by uv where it can be had."""

import os
import subprocess
import sys
import venv
import zipfile
from itertools import count
from pathlib import Path

import pytest

from tests.paths import ROOT
from tools.install import pip_settings, told

NUMBERS = count()


@pytest.fixture
def name() -> str:
    """That of a package which no other test installs."""
    return f"made_up_{next(NUMBERS)}"


@pytest.fixture
def wheels(tmp_path: Path, name: str) -> Path:
    """A folder with the wheel of the package."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    about = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "ANSWER = 42\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", f"{name}.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    return folder


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with nothing but pip."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True, symlinks=True)
    return folder / "bin" / "python"


def install(python: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "tools.install", *arguments]
    return subprocess.run(command, cwd=ROOT, env=os.environ | settings, capture_output=True, text=True, check=False)


def installed(python: Path, name: str) -> bool:
    return subprocess.run([str(python), "-c", f"import {name}"], capture_output=True, check=False).returncode == 0


def test_without_uv_pip_installs(python: Path, wheels: Path, name: str) -> None:
    done = install(python, name, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels), PIP_CONFIG_FILE=os.devnull)
    assert done.returncode == 0, done.stderr
    assert installed(python, name)
    assert "uv" not in done.stderr


def test_what_uv_does_not_find_pip_installs(python: Path, wheels: Path, name: str) -> None:
    """A stand-in for uv, which always fails, is found where uv would be fetched from."""
    with zipfile.ZipFile(wheels / "uv-9.9-py3-none-any.whl", "w") as wheel:
        wheel.writestr("uv-9.9.data/scripts/uv", "#!python\nraise SystemExit('nothing found')\n")
        wheel.writestr("uv-9.9.dist-info/METADATA", "Metadata-Version: 2.1\nName: uv\nVersion: 9.9\n")
        wheel.writestr("uv-9.9.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("uv-9.9.dist-info/RECORD", "")
    done = install(python, name, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels), PIP_CONFIG_FILE=os.devnull)
    assert done.returncode == 0, done.stderr
    assert "pip tries" in done.stderr
    assert installed(python, name)


def test_what_neither_finds_is_an_error_that_names_it(python: Path, wheels: Path) -> None:
    done = install(python, "not-there", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels), PIP_CONFIG_FILE=os.devnull)
    assert done.returncode != 0
    assert "not-there" in done.stderr


def test_uv_reads_what_pip_is_told(python: Path, wheels: Path, name: str, tmp_path: Path) -> None:
    fetched = subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "uv", "-d", str(wheels)],
        capture_output=True,
        check=False,
    )
    if fetched.returncode:
        pytest.skip("uv cannot be had here")
    done = install(
        python, name, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheels), PIP_CONFIG_FILE=os.devnull,
        UV_CACHE_DIR=str(tmp_path / "cache"),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    [written] = python.parents[1].rglob(f"{name}-1.0.dist-info/INSTALLER")
    assert written.read_text() == "uv"


def test_a_variable_goes_before_what_a_file_says() -> None:
    lines = [
        "global.index-url='https://a.example/simple'",
        "global.find-links='/one /two'",
        "install.index-url='https://b.example/simple'",
        ":env:.timeout='9'",
        "freeze.timeout='10'",
        "global.user='true'",
    ]
    assert told(pip_settings(lines)) == {
        "UV_DEFAULT_INDEX": "https://b.example/simple",
        "UV_FIND_LINKS": "/one,/two",
        "UV_HTTP_TIMEOUT": "9",
    }

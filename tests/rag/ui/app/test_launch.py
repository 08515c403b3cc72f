"""Who may connect, and on which port."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from rag.errors import UsageError
from rag.server.address import free_port
from rag.ui.app.launch import check_host, private_environment, read_users
from tests.paths import ROOT


def test_beyond_this_machine_only_with_users(tmp_path: Path) -> None:
    assert check_host("127.0.0.1", None) is None
    with pytest.raises(UsageError, match=r"0\.0\.0\.0") as caught:
        check_host("0.0.0.0", None)
    assert "--auth-file" in caught.value.hint
    file = tmp_path / "users"
    file.write_text("# team\nanna:pass:word\n\n", encoding="utf-8")
    file.chmod(0o600)
    assert check_host("0.0.0.0", file) == [("anna", "pass:word")]


@pytest.mark.parametrize("text", ["", "anna\n", ":secret\n", "anna:\n"])
def test_auth_files_that_let_nobody_or_anybody_in(tmp_path: Path, text: str) -> None:
    file = tmp_path / "users"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o600)
    with pytest.raises(UsageError):
        read_users(file)


def test_auth_file_that_others_may_read(tmp_path: Path) -> None:
    file = tmp_path / "users"
    file.write_text("anna:secret\n", encoding="utf-8")
    file.chmod(0o640)
    with pytest.raises(UsageError, match="others may read") as caught:
        read_users(file)
    assert "chmod 600" in caught.value.hint
    with pytest.raises(UsageError, match="cannot read"):
        read_users(tmp_path / "missing")


def test_a_taken_port_gives_the_next() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert port < free_port("127.0.0.1", port) < port + 100
    with pytest.raises(UsageError):
        free_port("no.such.host.invalid", 7860)


def test_environment_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_ALLOWED_PATHS", "/")
    monkeypatch.setenv("GRADIO_SHARE", "True")
    for name in ("NO_PROXY", "no_proxy", "GRADIO_TEMP_DIR", "GRADIO_ANALYTICS_ENABLED", "HF_HUB_DISABLE_TELEMETRY"):
        monkeypatch.setenv(name, "")
    with private_environment():
        assert "GRADIO_SHARE" not in os.environ
        assert "GRADIO_ALLOWED_PATHS" not in os.environ
        assert os.environ["GRADIO_ANALYTICS_ENABLED"] == "False"
        folder = Path(os.environ["GRADIO_TEMP_DIR"])
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()


def run_app(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "app.py", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


def test_help_loads_nothing_heavy() -> None:
    code = "import sys, app\ntry:\n    app.main(['--help'])\nexcept SystemExit:\n    pass\n"
    code += "print(sorted({'gradio', 'torch', 'numpy', 'faiss'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert "--auth-file" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_errors_become_messages_and_exit_codes() -> None:
    done = run_app("--host", "0.0.0.0")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: binding to 0.0.0.0")
    assert "\nhint: " in done.stderr

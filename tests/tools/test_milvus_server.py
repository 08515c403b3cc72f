"""Servers for tests: what is fetched is known, and none is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rag.errors import StoreError
from tests.paths import ROOT
from tests.rag.index.milvus.test_problems import refusing
from tools.full_milvus import require_checksum
from tools.milvus_server import MilvusServer


def test_a_wheel_that_is_not_the_known_one_is_not_unpacked(tmp_path: Path) -> None:
    file = tmp_path / "milvus.whl"
    file.write_bytes(b"something else")
    with pytest.raises(RuntimeError, match=r"milvus\.whl has the SHA-256 .* not 69515a06"):
        require_checksum(file)


def test_credentials_that_are_refused_are_not_waited_for(tmp_path: Path) -> None:
    with refusing() as (uri, _), pytest.raises(StoreError, match="refuses the credentials"):
        MilvusServer(tmp_path / "server", port=int(uri.rpartition(":")[2])).wait()


# Its server says its number, and never answers.
NEVER_STARTS = """
import sys
from tools import milvus_server
milvus_server.COMMAND[:] = [sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(100)"]
sys.exit(milvus_server.main())
"""


def test_one_that_is_ended_while_it_starts_leaves_no_server(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    with subprocess.Popen([sys.executable, "-c", NEVER_STARTS, "--folder", str(tmp_path / "server")], cwd=ROOT) as own:
        while not (log.exists() and log.read_text(encoding="utf-8").endswith("\n")):
            assert own.poll() is None
            time.sleep(0.05)
        own.send_signal(signal.SIGTERM)
        assert own.wait(60)
    server = int(log.read_text(encoding="utf-8"))
    try:
        with pytest.raises(ProcessLookupError):
            os.kill(server, 0)
    finally:
        if Path(f"/proc/{server}").exists():
            os.kill(server, signal.SIGKILL)

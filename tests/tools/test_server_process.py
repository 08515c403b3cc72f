"""A server in a process of its own: its address, what it says, and its end."""

import sys
from pathlib import Path

import pytest

from tools.server_process import running

SERVER = "import time; print('http://there', flush=True); time.sleep(60)"


def test_it_ends_with_the_block(tmp_path: Path) -> None:
    with running([sys.executable, "-c", SERVER], folder=tmp_path) as server:
        assert server.address == "http://there"
        assert server.process.poll() is None
    assert server.process.poll() is not None


def test_why_it_did_not_start(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "import sys; sys.exit('no such index')"]
    with pytest.raises(AssertionError, match="no such index"), running(command, folder=tmp_path):
        pass

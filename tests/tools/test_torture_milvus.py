"""A small run of the torture of Milvus; `python -m tools.torture.milvus --kills 200` is the real one."""

import json
import subprocess
import sys

import pytest

from tests.paths import ROOT


def test_killed_writers_and_a_killed_server_leave_whole_generations() -> None:
    pytest.importorskip("milvus_lite", reason="needs milvus-lite")
    done = subprocess.run(
        [sys.executable, "-m", "tools.torture.milvus", "--kills", "4", "--server-every", "2", "--seed", "7"],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    assert not done.returncode, done.stderr
    figures = json.loads(done.stdout)
    assert figures["writer killed"] + figures["server killed"] == 4
    assert figures["server killed"] > 0

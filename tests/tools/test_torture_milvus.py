"""A small run of the torture of Milvus; `python -m tools.torture.milvus --kills 200` is the real one."""

import json
import subprocess
import sys

import pytest

from tests.paths import ROOT


def torture(*options: str) -> dict[str, int]:
    pytest.importorskip("milvus_lite", reason="needs milvus-lite")
    done = subprocess.run(
        [sys.executable, "-m", "tools.torture.milvus", "--seed", "7", *options],
        capture_output=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    assert not done.returncode, done.stderr
    return dict(json.loads(done.stdout))


def test_killed_writers_and_a_killed_server_leave_whole_generations() -> None:
    figures = torture("--kills", "2", "--server-every", "2")
    assert figures.get("writer killed", 0) + figures["server killed"] == 2  # a writer may be done before it is killed
    assert figures["server killed"] > 0


def test_a_crowd_of_writers_and_readers() -> None:
    figures = torture("--crowd", "--writers", "2", "--readers", "2", "--versions", "1", "--restarts", "1")
    assert figures["published"] == 2
    assert figures["requests"] >= 2
    assert not figures["failed"] + figures["mixed"] + figures["lost"]

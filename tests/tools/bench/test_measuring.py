"""What is computed from times, and how it is shown; never the times themselves."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tools.bench.measuring import (
    in_fresh_process,
    machine,
    milliseconds,
    resident_megabytes,
    spread,
    table,
    used_by_session,
)
from tools.bench.vectors import recall


def test_spread() -> None:
    # Of 1..100: the median lies half way between 50 and 51; rank .95 * 99 = 94.05, so 95 + .05.
    assert spread([float(value) for value in range(100, 0, -1)]) == {"p50": 50.5, "p95": 95.05}


def test_every_item_is_timed_after_a_first_one_that_is_not() -> None:
    done: list[str] = []
    assert len(milliseconds(done.append, ["a", "b", "c"])) == 3
    assert done == ["a", "a", "b", "c"]


def test_recall() -> None:
    found = [np.asarray([1, 2, 9]), np.asarray([4, 5, 6])]
    truth = np.asarray([[2, 1, 3], [4, 7, 8]])
    # Of the first two: {1, 2} and {2, 1} share both, {4, 5} and {4, 7} one: (1 + .5) / 2.
    assert recall(found, truth, 2) == 0.75


def test_table() -> None:
    rows: list[dict[str, object]] = [
        {"way": "ours", "ms": {"p50": 1.234, "p95": 2.0}, "n": 1_000},
        {"way": "x", "ms": None, "n": 250.4},
    ]
    assert table(rows).splitlines() == [
        "| way  | ms          | n     |",
        "| ---- | ----------- | ----- |",
        "| ours | 1.23 / 2.00 | 1,000 |",
        "| x    |             | 250   |",
    ]


def test_a_fresh_process_is_another_one() -> None:
    assert in_fresh_process(os.getpid) != os.getpid()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells the memory of a process")
def test_memory_that_is_held_is_seen() -> None:
    assert 60 < in_fresh_process(_megabytes_of_an_array) < 80  # where no other test's memory is given back


def _megabytes_of_an_array() -> float:
    before = resident_megabytes()
    held = np.ones(64 * 2**20, dtype=np.uint8)
    return resident_megabytes() - before if held.all() else 0.0


def test_a_machine_is_described() -> None:
    described = machine()
    assert described["cores"] >= 1
    assert described["cpu"]
    assert set(described["versions"]) == {"torch", "faiss", "numpy"}


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="only Linux tells")
def test_what_a_server_and_its_children_use_is_added_up() -> None:
    child = "held = bytearray(40_000_000); sum(range(3_000_000)); print('ready', flush=True); input()"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])"
    command = [sys.executable, "-c", parent]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        used = used_by_session(process.pid)
        assert used.megabytes > 40
        assert 0 < used.core_seconds < 60
        process.communicate(b"\n")
    assert used_by_session(process.pid).megabytes == 0

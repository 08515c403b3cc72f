"""Amdahl's law, fitted to runs with workers."""

import os
import time
from pathlib import Path

import pytest

from tools.bench.ray.runs import amdahl, processor_seconds


def test_a_worked_example() -> None:
    """serial + parallel = 10 and serial + parallel / 2 = 6: 2 and 8 seconds, a fifth serial; 8 workers: 10 / 3."""
    assert amdahl({1: 10.0, 2: 6.0}) == {
        "serial_seconds": 2.0, "parallel_seconds": 8.0, "serial_share": 0.2,
        "speed_up_with_2": 1.67, "speed_up_with_8": 3.33, "speed_up_with_64": 4.71,
    }  # fmt: skip


def test_what_scales_as_it_should_has_no_serial_part() -> None:
    assert amdahl({1: 12.0, 2: 6.0, 4: 3.0})["speed_up_with_8"] == pytest.approx(8)


def test_noise_makes_no_negative_share() -> None:
    assert amdahl({1: 10.0, 2: 4.5})["serial_share"] == 0


def test_processor_time_of_a_process() -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("read from /proc")
    assert processor_seconds([os.getpid()]) == pytest.approx(time.process_time(), abs=0.5)

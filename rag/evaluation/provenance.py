"""A result's provenance: code, machine and day."""

import os
import platform
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rag.paths import PROGRAM


def commit(root: Path = PROGRAM) -> str | None:
    """The working copy's commit, with `-dirty` if files differ from it; None outside one, or without git."""
    if not (root / ".git").exists() or shutil.which("git") is None:
        return None
    done = subprocess.run(
        ["git", "--no-optional-locks", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"],
        cwd=root,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout.strip() or None


def machine() -> dict[str, Any]:
    from importlib.metadata import version

    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": cpu_model(),
        "cores": available_cores(),
        "memory_gb": round(memory / 2**30, 1),
        "python": platform.python_version(),
        "torch": version("torch"),
    }


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def provenance() -> dict[str, Any]:
    """The part of a result that says where it comes from."""
    return {"commit": commit(), "machine": machine(), "date": today()}


def cpu_model() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
    found = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return found or platform.processor() or platform.machine()


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""Times, memory, the machine, and tables of them."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import faiss
import numpy as np

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Item = TypeVar("Item")


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def milliseconds(work: Callable[[Item], object], items: Iterable[Item]) -> list[float]:
    """How long each item took. The first item is done once before, unmeasured."""
    items = list(items)
    work(items[0])
    return [seconds(lambda item=item: work(item)) * 1_000 for item in items]  # type: ignore[misc]


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile, by linear interpolation between the nearest ranks."""
    return {"p50": round(float(np.percentile(values, 50)), 2), "p95": round(float(np.percentile(values, 95)), 2)}


def median(values: Iterable[float]) -> float:
    return statistics.median(values)


def resident_megabytes(process: int | None = None, *, own: bool = False) -> float:
    """What a process, or this one, holds in memory now; 0 where the system does not tell (not Linux).

    Pages of mapped files count as soon as they were read, though the system may take them back; without them: `own`.
    """
    file = Path("/proc") / str(process or "self") / "statm"
    if not file.is_file():
        return 0.0
    resident, mapped = map(int, file.read_text(encoding="ascii").split()[1:3])
    return (resident - mapped if own else resident) * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass(frozen=True, slots=True)
class Used:
    """What a program uses: memory now, and the seconds of cores since it was started."""

    megabytes: float
    core_seconds: float


def used_by_session(leader: int) -> Used:
    """What all processes of a session use together, such as a server and its children (Linux)."""
    megabytes = core_seconds = 0.0
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            fields = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[3]) == leader:
                core_seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
                megabytes += int(fields[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return Used(megabytes, core_seconds)


def in_fresh_process(
    work: Callable[Parameters, Result], /, *arguments: Parameters.args, **options: Parameters.kwargs
) -> Result:
    """Run a function where nothing was loaded before, so that its memory can be told."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **options).result()


def machine() -> dict[str, Any]:
    """Processor, cores, threads and versions: what a figure must be read with."""
    import torch  # here, since fresh processes import this file and most do not need it

    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": name or platform.processor() or platform.machine(),
        "cores": cores,
        "threads": torch.get_num_threads(),
        "load_before": round(os.getloadavg()[0], 1),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {"torch": torch.__version__, "faiss": faiss.__version__, "numpy": np.__version__},
    }


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows as a Markdown table with the keys of the first row as its head; a nested mapping reads `p50 / p95`."""
    if not rows:
        return "(nothing)"
    heads = list(rows[0])
    cells = [heads, *([_cell(row.get(head)) for head in heads] for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    lines = [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in cells]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, Mapping):
        return " / ".join(map(_cell, value.values()))
    if isinstance(value, float):
        return f"{value:,.2f}" if value < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else "" if value is None else str(value)

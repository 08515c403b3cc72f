"""Runs with and without workers, each in a process of its own, and what Amdahl's law says of them."""

import os
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ingest.cluster.workers import RayWorkers
from ingest.sync import sync
from ingest.workers import InProcess
from rag.embedding import embedder_identity, load_embedder
from rag.process import own_process
from rag.settings import Settings, WorkersName, load_settings
from tools.bench.measuring import in_fresh_process, median

IN_PROCESS = "in process"


def measure(files: Sequence[Path], counts: Sequence[int], rounds: int) -> dict[str, Any]:
    settings = load_settings()
    ways = {IN_PROCESS: partial(in_fresh_process, run_in_process, settings, files)}
    ways |= {
        f"{count} workers": partial(in_fresh_process, run_with_workers, settings, files, count) for count in counts
    }
    runs: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(rounds):  # by turns, since a machine does not run at one speed
        for name, way in ways.items():
            runs[name].append(way())
    taken = {count: median(run["seconds"] for run in runs[f"{count} workers"]) for count in counts}
    used = [run for count in counts for run in runs[f"{count} workers"]]
    return {
        "rows": [_row(name, runs[name], runs[IN_PROCESS]) for name in ways],
        "rounds": runs,
        "amdahl": amdahl(taken) if len(taken) > 1 else None,
        "amdahl by processor time": speed_ups(
            median(run["processor of the writer"] for run in used), median(run["processor of workers"] for run in used)
        ),
    }


def amdahl(seconds: Mapping[int, float]) -> dict[str, float]:
    """The least squares fit of serial + parallel / n, its serial share, and the speed-up that is left with many.

    10 seconds with 1 worker and 6 with 2: serial + parallel = 10, serial + parallel / 2 = 6, so 2 and 8; share 0.2.
    """
    counts = np.asarray(list(seconds), float)
    (serial, parallel), *_ = np.linalg.lstsq(
        np.stack([np.ones_like(counts), 1 / counts], axis=1), np.asarray(list(seconds.values())), rcond=None
    )
    return speed_ups(float(serial), float(parallel))


def speed_ups(serial: float, parallel: float) -> dict[str, float]:
    """What Amdahl's law says of so many seconds that many workers cannot share, and so many that they can."""
    share = float(np.clip(serial / (serial + parallel), 0, 1))
    return {
        "serial_seconds": round(serial, 2),
        "parallel_seconds": round(parallel, 2),
        "serial_share": round(share, 3),
        **{f"speed_up_with_{count}": round(1 / (share + (1 - share) / count), 2) for count in (2, 8, 64)},
    }


def run_in_process(settings: Settings, files: Sequence[Path]) -> dict[str, float]:
    own_process()
    started = time.perf_counter()
    embedder = load_embedder(settings)
    embedder.embed_passages(["warm up"])
    loaded, before = time.perf_counter(), time.process_time()
    with tempfile.TemporaryDirectory() as name:
        own = settings.model_copy(update={"index": Path(name) / "index"})
        report = sync(own, lambda: embedder, [_copied(files, Path(name))], identity=embedder.identity)
    return _figures(started, loaded, report.passages_total, time.process_time() - before, 0.0)


def run_with_workers(settings: Settings, files: Sequence[Path], count: int) -> dict[str, float]:
    own_process()
    identity = embedder_identity(settings)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        more = {"index": Path(name) / "index", "workers": WorkersName.RAY, "ray_workers": count}
        own = settings.model_copy(update=more)

        def load() -> Any:
            return load_embedder(own)

        with RayWorkers(own, identity, InProcess(own, load), always=True) as workers:
            workers.pool().wait(count)
            loaded, before = time.perf_counter(), time.process_time()
            processes = [worker.process for worker in workers.pool().greetings]
            theirs = processor_seconds(processes)
            report = sync(own, load, [_copied(files, Path(name))], identity=identity, workers=workers)
            theirs = processor_seconds(processes) - theirs
            return _figures(started, loaded, report.passages_total, time.process_time() - before, theirs)


def _copied(files: Sequence[Path], folder: Path) -> Path:
    documents = folder / "documents"
    documents.mkdir()
    for number, file in enumerate(files):
        shutil.copy(file, documents / f"{number:05d}{file.suffix}")
    return documents


def processor_seconds(processes: Sequence[int]) -> float:
    """What processes of this machine have used so far (Linux)."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _figures(started: float, loaded: float, passages: int, writer: float, workers: float) -> dict[str, float]:
    return {
        "loading": round(loaded - started, 2),
        "seconds": round(time.perf_counter() - loaded, 2),
        "passages": passages,
        "processor of the writer": round(writer, 2),
        "processor of workers": round(workers, 2),
    }


def _row(name: str, runs: Sequence[dict[str, float]], others: Sequence[dict[str, float]]) -> dict[str, Any]:
    pairs = list(zip(runs, others, strict=True))
    return {
        "way": name,
        "passages": int(runs[0]["passages"]),
        "seconds": median(run["seconds"] for run in runs),
        "of the run in process": round(median(run["seconds"] / other["seconds"] for run, other in pairs), 2),
        **{name: median(run[name] for run in runs) for name in runs[0] if name not in ("seconds", "passages")},
    }

"""Runs the Python blocks of pages, each in a process of its own forked from one that has imported torch already."""

import linecache
import multiprocessing
import os
import sys
import tempfile
import time
import traceback
import types
from collections.abc import Iterable
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import NamedTuple

# What corpus/README.md allows is 2 s; the limit is wider, since machines are busy, and still ends a block that hangs.
SECONDS_ALLOWED = 60
# The last is what the first optimizer of each block would import.
PRELOADED = ["numpy", "torch", "torch._dynamo"]


class Block(NamedTuple):
    """A block of code and where it stands; `line` is that of its first line in the page."""

    page: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


class Run:
    """One block, running in a folder of its own until its deadline."""

    def __init__(self, block: Block, folder: Path, context: ForkServerContext) -> None:
        self.block = block
        self.report, self.work = folder / "report", folder / "work"
        self.work.mkdir(parents=True)
        self.process = context.Process(target=_execute, args=(block, self.report, self.work))
        self.process.start()
        self.deadline = time.monotonic() + SECONDS_ALLOWED

    @property
    def is_over(self) -> bool:
        return not self.process.is_alive() or time.monotonic() >= self.deadline

    def problem(self) -> str:
        """What went wrong, "" for nothing; ends the process if it still runs."""
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
            return f"{self.block}: did not end within {SECONDS_ALLOWED} s"
        error = self.report.read_text(encoding="utf-8") if self.report.exists() else ""
        if error or self.process.exitcode:
            return f"{self.block}: exit code {self.process.exitcode}\n{error}"
        left = sorted(path.name for path in self.work.iterdir())
        return f"{self.block}: leaves files behind: {left}" if left else ""


def run_blocks(blocks: Iterable[Block]) -> dict[Block, str]:
    """What went wrong with each block: the last lines of its traceback, or "" when it ran to its end.

    One thread watches them all: multiprocessing loses exit codes when several threads start and join processes.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    problems: dict[Block, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        pending = enumerate(blocks)
        running: list[Run] = []
        while True:
            while len(running) < (os.cpu_count() or 1) and (job := next(pending, None)):
                running.append(Run(job[1], Path(folder, str(job[0])), context))
            if not running:
                return problems
            nearest = min(run.deadline for run in running)
            wait([run.process.sentinel for run in running], timeout=max(0.0, nearest - time.monotonic()))
            over = [run for run in running if run.is_over]
            problems |= {run.block: run.problem() for run in over}
            running = [run for run in running if run not in over]


def _execute(block: Block, report: Path, work: Path) -> None:
    """In the child: run the code as a program of its own would run, with the page's own line numbers."""
    import torch

    torch.set_num_threads(1)  # more would compete with the blocks beside it
    os.chdir(work)
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    source = "\n" * (block.line - 1) + block.code
    # Both pickle and inspect.getsource look here for what the code defines.
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    linecache.cache[block.page] = (len(source), None, source.splitlines(keepends=True), block.page)
    try:
        exec(compile(source, block.page, "exec"), vars(module))
    except BaseException:
        report.write_text("\n".join(traceback.format_exc().splitlines()[-8:]), encoding="utf-8")
        sys.exit(1)

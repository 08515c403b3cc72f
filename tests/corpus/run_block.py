"""Runs the Python blocks of pages, each in a process of its own forked from one that has imported torch already."""

import linecache
import multiprocessing
import os
import sys
import tempfile
import traceback
import types
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import NamedTuple

# What corpus/README.md allows is 2 s; the limit is wider, since machines are busy, and still ends a block that hangs.
SECONDS_ALLOWED = 60
PRELOADED = ["numpy", "torch"]


class Block(NamedTuple):
    """A block of code and where it stands; `line` is that of its first line in the page."""

    page: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def run_blocks(blocks: Iterable[Block]) -> dict[Block, str]:
    """What went wrong with each block: the last lines of its traceback, or "" when it ran to its end."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)
    ordered = list(blocks)
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
        return dict(zip(ordered, threads.map(lambda block: _run(block, context), ordered), strict=True))


def _run(block: Block, context: ForkServerContext) -> str:
    with tempfile.TemporaryDirectory() as folder:
        report, work = Path(folder, "report"), Path(folder, "work")
        work.mkdir()
        process = context.Process(target=_execute, args=(block, report, work))
        process.start()
        process.join(SECONDS_ALLOWED)
        if process.is_alive():
            process.kill()
            process.join()
            return f"{block}: did not end within {SECONDS_ALLOWED} s"
        problem = report.read_text(encoding="utf-8") if report.exists() else ""
        if problem or process.exitcode:
            return f"{block}: exit code {process.exitcode}\n{problem}"
        left = sorted(path.name for path in work.iterdir())
        return f"{block}: leaves files behind: {left}" if left else ""


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

"""`app.py` in a process of its own that need not import what it imports: that takes longer than many a test. The
process is forked from one that has done nothing but import; how a real one starts is tested with real ones."""

import multiprocessing
import os
import runpy
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rag.paths import PROGRAM

# Seconds, on a machine that is busy.
STARTS_WITHIN = 250.0
ENDS_WITHIN = 60.0

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["tests.rag.ui.imported"])


@contextmanager
def serve(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Run `app.py` and give the address that it prints, as `tools.browser.serve` does."""
    with tempfile.TemporaryDirectory() as folder:
        own = {**os.environ, "INTERVIEW_RAG_DATA": folder, **(environment or {})}
        said = Path(folder) / "said"
        process = _context.Process(target=_open_page, args=(arguments, own, said))
        process.start()
        try:
            yield _address(process, said)
        finally:
            process.terminate()
            process.join(ENDS_WITHIN)
            process.kill()  # of a process that has ended nothing is left to end
            process.join()
            process.close()


def _address(process: multiprocessing.process.BaseProcess, said: Path) -> str:
    until = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < until:
        text = said.read_text(encoding="utf-8") if said.exists() else ""
        address = next((line for line in text.splitlines(keepends=True) if line.startswith("http")), "")
        if address.endswith("\n"):
            return address.strip()
        if not process.is_alive():
            break
        time.sleep(0.05)
    raise AssertionError(said.read_text(encoding="utf-8") if said.exists() else "the server did not start")


def _open_page(arguments: tuple[str, ...], environment: dict[str, str], said: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(said.parent)
    output = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    program = PROGRAM / "app.py"
    sys.argv = [str(program), *arguments]
    runpy.run_path(str(program), run_name="__main__")

"""`python -m rag serve` in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rag.paths import PROGRAM
from tools.server_process import running


@contextmanager
def serve(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address that the process prints, and the process. Whatever it says besides, but that it was interrupted, is
    an error."""
    command = [sys.executable, "-m", "rag", "serve", "--port", "0", *arguments]
    with running(command, folder=PROGRAM) as server:
        yield server.address, server.process
    assert server.said in ([], ["interrupted\n"]), "".join(server.said)

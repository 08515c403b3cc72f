"""`python -m rag serve` in a process of its own."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rag.paths import PROGRAM


@contextmanager
def serve(*arguments: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address that the process prints, and the process. Whatever it says besides, but that it was interrupted, is
    an error."""
    command = [sys.executable, "-m", "rag", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(
        command,
        cwd=PROGRAM,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    said: list[str] = []
    listener = threading.Thread(target=lambda stream: said.extend(stream), args=(process.stderr,), daemon=True)
    listener.start()
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http"), "".join(said)
        yield address, process
    finally:
        process.terminate()
        process.wait(20)
        listener.join(5)
        process.stdout.close()
        process.stderr.close()
    assert said in ([], ["interrupted\n"]), "".join(said)

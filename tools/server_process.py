"""A server in a process of its own."""

import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """`said` grows by each line that it writes to stderr, and is whole once the process has ended."""

    address: str
    process: subprocess.Popen[str]
    said: list[str]


@contextmanager
def running(
    command: Sequence[str], *, folder: Path, environment: Mapping[str, str] | None = None
) -> Iterator[ServerProcess]:
    """A program that prints its address once it can be reached. It is terminated with the block."""
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    said: list[str] = []
    listener = threading.Thread(target=lambda stream: said.extend(stream), args=(process.stderr,), daemon=True)
    listener.start()
    try:
        address = process.stdout.readline().strip()  # empty when the process ended
        if not address.startswith("http"):
            listener.join(5)
            raise AssertionError("".join(said) or "the server ended without a word")
        yield ServerProcess(address, process, said)
    finally:
        process.terminate()
        process.wait(20)
        listener.join(5)
        process.stdout.close()
        process.stderr.close()

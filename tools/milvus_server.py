"""A real Milvus server in a process of its own, for tests, the torture and the bench: milvus-lite, or the full one.

    python -m tools.milvus_server [--full] --folder DIR [--port PORT]

prints its address, and serves until it is interrupted.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from rag.errors import StoreError
from rag.settings import Settings, StoreName

# One thread, since milvus-lite does not take two writes to a collection at once; a full server does.
COMMAND = [sys.executable, "-m", "milvus_lite.cmdline", "server", "--max-workers", "1"]
ENDS = {signal.SIGINT, signal.SIGTERM}


def main() -> int:
    from tools.full_milvus import FullMilvusServer

    parser = argparse.ArgumentParser(prog="python -m tools.milvus_server", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the full server instead of milvus-lite")
    parser.add_argument("--folder", type=Path, required=True, metavar="DIR", help="where it keeps its data")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    server = (FullMilvusServer if options.full else MilvusServer)(options.folder, port=options.port)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # while it starts: afterwards the signal is waited for
    try:
        server.start()
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
        sys.stdout.write(f"{server.uri}\n")
        sys.stdout.flush()
        signal.sigwait(ENDS)
    finally:
        server.kill()
    return 0


class MilvusServer:
    """Started, killed and started again at the same address, over the same folder."""

    name = "milvus-lite"

    def __init__(self, folder: Path, *, port: int = 0) -> None:
        self.folder = folder.resolve()
        self.port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def access(self) -> dict[str, object]:
        """The settings that it asks for beside its address."""
        return {}

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def process_id(self) -> int:
        """Of the server, which leads a session of its own."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        self.spawn()
        self.wait()

    def spawn(self) -> None:
        """Start it, and do not wait until it answers."""
        arguments = ["--data-dir", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._run([*COMMAND, *arguments], {"PYTHONWARNINGS": "ignore"})

    def wait(self) -> None:
        """Until it answers."""
        from rag.index.milvus.connection import Connection

        where = {"store": StoreName.MILVUS, "milvus_uri": self.uri, "milvus_timeout": 30.0}
        settings = Settings.model_validate(where | self.access)
        while True:
            try:
                Connection(settings).close()
                return
            except StoreError as error:
                if "refuses the credentials" in error.message:
                    raise
            if self._process is None or self._process.poll() is not None:
                raise RuntimeError(f"the Milvus server did not start; see {self.folder}.log")

    def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _run(self, command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None) -> None:
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env=os.environ | environment, cwd=folder
            )


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


if __name__ == "__main__":
    sys.exit(main())

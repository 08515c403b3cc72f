"""A real milvus-lite server in a process of its own, as tests, the torture and the bench use it."""

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from rag.errors import StoreError
from rag.settings import Settings, StoreName

# One thread, since milvus-lite does not take two writes to a collection at once; a full server does.
COMMAND = [sys.executable, "-m", "milvus_lite.cmdline", "server", "--max-workers", "1"]


class MilvusServer:
    """Started, killed and started again at the same address, over the same folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self.spawn()
        self.wait()

    def spawn(self) -> None:
        """Start it, and do not wait until it answers."""
        arguments = ["--data-dir", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        with (self.folder.parent / f"{self.folder.name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*COMMAND, *arguments],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=os.environ | {"PYTHONWARNINGS": "ignore"},
            )

    def wait(self) -> None:
        """Until it answers."""
        from rag.index.milvus.connection import Connection

        while True:
            with suppress(StoreError):
                Connection(Settings(store=StoreName.MILVUS, milvus_uri=self.uri, milvus_timeout=30)).close()
                return
            if self._process is None or self._process.poll() is not None:
                raise RuntimeError(f"milvus-lite did not start; see {self.folder}.log")

    def kill(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

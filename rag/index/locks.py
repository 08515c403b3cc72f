"""Who holds an index: one writer at a time, and the readers of each generation."""

import fcntl
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from rag.errors import IndexLockedError

logger = logging.getLogger(__name__)


class LockHolder(BaseModel):
    """The process that holds the writer lock."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    host: str
    since: str


class Hold:
    """A shared lock on a generation's manifest. It keeps the generation from being collected until `release`, or until
    the object or the process ends. Writes nothing."""

    def __init__(self, manifest_file: Path) -> None:
        """Raises OSError if the file is missing; BlockingIOError if it is being collected."""
        self._descriptor = os.open(manifest_file, os.O_RDONLY)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise
        except OSError:
            logger.debug("%s: this file system has no locks; open files alone keep the generation", manifest_file)

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __del__(self) -> None:
        if hasattr(self, "_descriptor"):
            self.release()


@contextmanager
def writer_lock(index_folder: Path, *, wait: float = 0.0) -> Iterator[None]:
    """Hold the index for writing. If another process holds it, waits up to `wait` seconds, then raises
    IndexLockedError naming that process. A dead process holds no lock."""
    index_folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(index_folder / "writer.lock")
    file = index_folder / "writer.json"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        if wait:
            logger.warning("%s; waiting up to %g seconds", _held_by(file), wait)
        try:
            lock.acquire(timeout=wait)
        except Timeout as error:
            raise IndexLockedError(
                _held_by(file), hint="wait until it is done (--wait SECONDS does), then run the command again"
            ) from error
    try:
        writer = LockHolder(
            pid=os.getpid(), host=socket.gethostname(), since=datetime.now(UTC).isoformat(timespec="seconds")
        )
        temporary = file.with_suffix(".new")
        temporary.write_text(writer.model_dump_json(), encoding="utf-8")
        temporary.replace(file)
        yield
    finally:
        with suppress(OSError):
            file.unlink(missing_ok=True)
        lock.release()


def _held_by(file: Path) -> str:
    try:
        writer = LockHolder.model_validate_json(file.read_bytes())
    except (ValidationError, OSError):  # it has the lock but has not written its name
        return f"another process is writing to {file.parent}"
    return f"another process ({writer.pid}) on {writer.host} is writing to {file.parent} since {writer.since}"

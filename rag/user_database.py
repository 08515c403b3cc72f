"""SQLite files of reader data: opened, checked, migrated, and set aside if damaged.

Every writer commits before it returns and syncs to disk; readers and other processes continue meanwhile (WAL).
"""

import fcntl
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from rag.errors import UserDataError

logger = logging.getLogger(__name__)

# Seconds to wait for another writing process.
BUSY_SECONDS = 10.0
# SQLite's primary result codes for a file with wrong bytes.
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
SIDE_FILES = ("", "-wal", "-shm")

# By starting version: each brings a file to the next version, within one transaction.
Migrations = Mapping[int, Callable[[sqlite3.Connection], None]]


class UserDatabase:
    """One SQLite file, safe to use from several threads and processes. `set_aside` is the new path of a damaged
    predecessor; it is never deleted."""

    def __init__(self, file: Path | None, schema: str, version: int, migrations: Migrations | None = None) -> None:
        """Open the file, or make it; None keeps everything in memory. Migrates a file of an older version with all its
        rows. Raises UserDataError if the file cannot be opened or written, or was made by a newer version."""
        self.file = file
        self._schema, self._version, self._migrations = schema, version, migrations or {}
        self.set_aside: Path | None = None
        self._lock = threading.RLock()
        try:
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _one_opens(file):
                self._connection = self._open()
        except (sqlite3.Error, OSError) as error:
            raise self._problem(error) from error

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_connection"):
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._connection
            except sqlite3.Error as error:
                raise self._problem(error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction: keeps all writes inside, or none."""
        with self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk has rolled back already
                    connection.execute("ROLLBACK")
                raise

    def _open(self) -> sqlite3.Connection:
        if self.file is None:
            return self._connect()
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            logger.warning("%s is damaged: %s", self.file, error)
        self.set_aside = _set_aside(self.file)
        logger.warning("the damaged file was kept as %s; a new one was begun", self.set_aside)
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        if self.file is not None:
            os.close(os.open(self.file, os.O_CREAT | os.O_RDWR, 0o600))  # owner-only before it has any content
        connection = sqlite3.connect(
            self.file or ":memory:", timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA secure_delete = ON")
            found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                error = sqlite3.DatabaseError(found)
                error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
                raise error
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        held = connection.execute("PRAGMA user_version").fetchone()[0]
        if held > self._version:
            raise UserDataError(
                f"{self.file} has format {held}, this program reads formats up to {self._version}",
                hint="use the version of the program that wrote it, or name another folder in the setting `data`",
            )
        if held == 0:
            for statement in filter(str.strip, self._schema.split(";")):
                connection.execute(statement)
        else:
            for version in range(held, self._version):
                self._migrations[version](connection)
        connection.execute(f"PRAGMA user_version = {self._version}")
        connection.execute("COMMIT")

    def _problem(self, error: Exception) -> UserDataError:
        hint = (
            "start the program anew: the damaged file is then set aside"
            if isinstance(error, sqlite3.DatabaseError) and _is_damage(error)
            else "check the folder's rights and the free space on its disk, or name another in the setting `data`"
        )
        return UserDataError(f"{self.file or 'the memory'} cannot be used: {error}", hint=hint)


@contextmanager
def _one_opens(file: Path | None) -> Iterator[None]:
    """Lets one process at a time open the files of a folder. SQLite reports "locked" at once, without waiting, when two
    switch a new file to WAL together; and two that find it damaged must not set aside each other's new one."""
    if file is None:
        yield
        return
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in DAMAGED


def _set_aside(file: Path) -> Path:
    """Rename a file, and SQLite's side files, to a name with the time; returns the new path."""
    moment = f"{datetime.now(UTC):%Y%m%dT%H%M%S.%f}"
    kept = file.with_name(f"{file.stem}.damaged-{moment}{file.suffix}")
    for ending in SIDE_FILES:
        with suppress(FileNotFoundError):
            Path(f"{file}{ending}").rename(f"{kept}{ending}")
    return kept

"""The files of what readers leave behind: kept through crashes, apart, and set aside when they are damaged."""

import sqlite3
import stat
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from rag.errors import UserDataError
from rag.user_database import UserDatabase

SCHEMA = "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT"
WRITER = f"""
import sys
from pathlib import Path
from rag.user_database import UserDatabase
database = UserDatabase(Path(sys.argv[1]), {SCHEMA!r}, 1)
print("ready", flush=True)
for number in range(int(sys.argv[3])):
    with database.writing() as connection:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (f"{{sys.argv[2]}} {{number}}",))
    print(number, flush=True)
"""
# Eight processes open the same new files, each at the same moment.
OPENERS = f"""
import sys
from multiprocessing import get_context
from pathlib import Path
from rag.user_database import UserDatabase

def open_all(folder, together):
    for number in range(150):
        together.wait(30)
        UserDatabase(Path(folder) / f"{{number}}.sqlite", {SCHEMA!r}, 1).close()

context = get_context("fork")
together = context.Barrier(8)
processes = [context.Process(target=open_all, args=(sys.argv[1], together)) for _ in range(8)]
for process in processes:
    process.start()
for process in processes:
    process.join()
print(*(process.exitcode for process in processes))
"""


def texts(file: Path) -> list[str]:
    database = UserDatabase(file, SCHEMA, 1)
    with database.reading() as connection:
        found = [row[0] for row in connection.execute("SELECT text FROM notes ORDER BY id")]
    database.close()
    return found


def write(file: Path, text: str) -> None:
    database = UserDatabase(file, SCHEMA, 1)
    with database.writing() as connection:
        connection.execute("INSERT INTO notes (text) VALUES (?)", (text,))
    database.close()


def start_writer(file: Path, name: str, count: int) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file), name, str(count)], stdout=subprocess.PIPE, text=True
    )


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    write(tmp_path / "user" / "notes.sqlite", "private")
    assert stat.S_IMODE((tmp_path / "user").stat().st_mode) == 0o700
    for file in (tmp_path / "user").iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_processes_write_at_the_same_time_and_nothing_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    writers = [start_writer(file, name, 100) for name in ("a", "b")]
    for writer in writers:
        writer.communicate(timeout=60)
        assert writer.returncode == 0
    found = texts(file)
    for name in ("a", "b"):
        assert [text for text in found if text.startswith(name)] == [f"{name} {number}" for number in range(100)]


def test_many_processes_open_a_new_file_at_once(tmp_path: Path) -> None:
    opened = subprocess.run(
        [sys.executable, "-c", OPENERS, str(tmp_path)], capture_output=True, text=True, timeout=120, check=True
    )
    assert opened.stdout.split() == ["0"] * 8, opened.stderr


def test_an_older_file_is_migrated_with_its_rows(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    write(file, "kept")
    steps = {
        1: lambda connection: connection.execute("ALTER TABLE notes ADD COLUMN size INTEGER"),
        2: lambda connection: connection.execute("UPDATE notes SET size = length(text)"),
    }
    for _ in range(2):  # the second time there is nothing left to do
        database = UserDatabase(file, SCHEMA, 3, steps)
        with database.reading() as connection:
            assert connection.execute("SELECT text, size FROM notes").fetchall() == [("kept", 4)]
        database.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    write(file, "kept")

    def fail(connection: sqlite3.Connection) -> None:
        connection.execute("DELETE FROM notes")
        raise sqlite3.OperationalError("disk I/O error")

    with pytest.raises(UserDataError, match="disk I/O"):
        UserDatabase(file, SCHEMA, 2, {1: fail})
    assert texts(file) == ["kept"]


def test_what_was_written_outlives_a_killed_process(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    writer = start_writer(file, "a", 1_000_000)
    assert writer.stdout is not None
    told = [writer.stdout.readline().strip() for _ in range(50)]
    writer.kill()
    told += writer.communicate()[0].split()
    last = max(int(line) for line in told[1:] if line.isdecimal())
    found = texts(file)
    assert found[: last + 1] == [f"a {number}" for number in range(last + 1)]
    assert len(found) <= last + 2  # the one that was written and not yet told of


def test_half_a_transaction_is_not_kept(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    write(file, "kept")
    database = UserDatabase(file, SCHEMA, 1)
    with suppress(ZeroDivisionError), database.writing() as connection:
        connection.execute("INSERT INTO notes (text) VALUES ('half')")
        raise ZeroDivisionError
    database.close()
    assert texts(file) == ["kept"]


@pytest.mark.parametrize("damage", ["no database", "a page overwritten"])
def test_a_damaged_file_is_set_aside_and_never_deleted(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "notes.sqlite"
    for number in range(50):
        write(file, f"{number} " + "x" * 2_000)
    data = bytearray(file.read_bytes())
    if damage == "no database":
        data[:100] = b"z" * 100
    else:
        data[4096:-4096] = b"\xff" * (len(data) - 8192)
    file.write_bytes(data)
    database = UserDatabase(file, SCHEMA, 1)
    aside = database.set_aside
    database.close()
    assert aside is not None
    assert aside.read_bytes() == bytes(data)
    assert texts(file) == []
    write(file, "new")
    assert texts(file) == ["new"]


def test_a_newer_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.sqlite"
    write(file, "of tomorrow")
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 7")
    connection.close()
    with pytest.raises(UserDataError, match="has format 7"):
        UserDatabase(file, SCHEMA, 1)
    assert list(tmp_path.glob("*damaged*")) == []


def test_a_folder_that_cannot_be_made_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    with pytest.raises(UserDataError) as caught:
        UserDatabase(tmp_path / "taken" / "notes.sqlite", SCHEMA, 1)
    assert "`data`" in caught.value.hint

"""What the bench of three readers puts in, and how it reads another process's memory."""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.bench.measuring import resident_megabytes
from tools.bench.readers import PAGES_OF_A_NOTE, write_notes


def test_notes_are_different_documents_with_text_of_their_own(tmp_path: Path) -> None:
    notes = [note.read_text(encoding="utf-8") for note in write_notes(tmp_path / "notes", 4)]
    assert [note.partition("\n")[0] for note in notes] == [f"# 笔记 {number}" for number in (1, 2, 3, 4)]
    sections = [{line for line in note.splitlines() if line.startswith("### ")} for note in notes]
    assert all(len(headings) >= PAGES_OF_A_NOTE for headings in sections)
    assert not set.intersection(*sections)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_memory_of_another_process() -> None:
    program = "held = bytearray(b'x') * 100_000_000; print('ready', flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        held, own = resident_megabytes(process.pid), resident_megabytes(process.pid, own=True)
        process.communicate(b"\n")
    assert 95 < own < held < 200

"""A run that meets what it cannot read, or cannot write what it made: the last good version stays."""

import errno
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ingest import documents, prepare
from ingest import sync as sync_module
from ingest.reading import loading
from ingest.reading.parser_process import ParserProcess
from ingest.report import Failure
from ingest.workers import PassageError
from rag.errors import IndexLockedError, IngestError, Unreadable
from rag.index.vectors import save_vectors
from rag.settings import Settings
from tests.ingest.library import TOPICS, Library, counts


def test_a_failed_document_keeps_its_last_good_version(library: Library) -> None:
    library.sync()
    (library.root / "norm.md").write_bytes(b"\x00\x01\x02")
    (library.root / "new.md").write_bytes(b"\x00\x01\x02")
    report = library.sync()
    assert counts(report) == {"unchanged": 2, "stale": 1, "failed": 2}
    failure = Failure(str(library.root / "norm.md"), "norm.md: holds binary data, not text", Unreadable.ENCODING)
    assert report.documents.failed[1] == failure
    with library.index() as index:
        assert {d.name: d.stale for d in index.storage.documents()} == {
            "attention.md": False, "lora.md": False, "norm.md": True,
        }  # fmt: skip
        assert TOPICS["norm"] in (index.storage.source("norm.md") or "")
    assert not library.sync().published
    library.page("norm")
    (library.root / "new.md").unlink()
    report = library.sync()
    assert (counts(report), report.published, report.passages_embedded) == ({"unchanged": 3}, True, 0)


def test_a_document_of_which_nothing_is_left_fails(library: Library) -> None:
    library.sync()
    library.write("norm.md", "# ……\n\n——\n")
    report = library.sync()
    assert counts(report) == {"unchanged": 2, "stale": 1, "failed": 1}
    assert "nothing is left" in report.documents.failed[0].error


def test_a_file_name_that_is_not_utf_8_fails_alone(library: Library) -> None:
    try:
        Path(os.fsdecode(os.fsencode(library.root) + b"/\xff.md")).write_text(
            "正文写在这里，共一句。", encoding="utf-8"
        )
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    report = library.sync()
    assert counts(report) == {"added": 3, "failed": 1}
    assert json.dumps(report.as_dict(), ensure_ascii=False).encode()


def test_a_file_that_grows_while_it_is_read(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of a text never replaces the whole; when it has settled it is taken."""
    library.sync()
    path = library.write("norm.md", f"# 慢慢写\n\n{TOPICS['norm']}")
    real = loading.read_document
    reads = 0

    def growing(name: str, path: Path, *, max_bytes: int, parser: ParserProcess) -> Any:
        nonlocal reads
        document = real(name, path, max_bytes=max_bytes, parser=parser)
        if name == "norm.md" and reads < grows:
            reads += 1
            with path.open("a", encoding="utf-8") as stream:
                stream.write("又写了一句。")
        return document

    monkeypatch.setattr(prepare, "read_document", growing)
    grows = 99
    report = library.sync()
    assert counts(report) == {"unchanged": 2, "stale": 1, "failed": 1}
    assert "changes while it is being read" in report.documents.failed[0].error
    with library.index() as index:
        assert index.storage.source("norm.md") == f"# norm 是什么？\n\n{TOPICS['norm']}\n"
    reads, grows = 0, 1
    assert counts(library.sync()) == {"unchanged": 2, "changed": 1}
    with library.index() as index:
        assert index.storage.source("norm.md") == path.read_text(encoding="utf-8")


def test_a_file_that_vanishes_while_it_is_read(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    library.sync()
    library.page("rope", "norm.md")
    real = documents.digest

    def vanishing(path: Path) -> str:
        if path.name == "norm.md":
            path.unlink()
        return real(path)

    monkeypatch.setattr(documents, "digest", vanishing)
    report = library.sync()
    assert counts(report) == {"unchanged": 2, "stale": 1, "failed": 1}
    assert report.documents.failed[0].error.startswith("norm.md: cannot be read: ")
    assert library.names() == ["attention.md", "lora.md", "norm.md"]
    assert counts(library.sync()) == {"unchanged": 2, "removed": 1}


def test_vectors_that_were_not_written_whole_are_noticed(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """FAISS only prints that a disk is full when it closes the file."""
    library.sync()
    library.page("rope")
    real = save_vectors

    def truncated(vectors: Any, file: Path) -> None:
        real(vectors, file)
        os.truncate(file, file.stat().st_size - 4)

    with monkeypatch.context() as patch:
        patch.setattr(sync_module, "save_vectors", truncated)
        with pytest.raises(IngestError, match="cannot write the index"):
            library.sync()
    assert library.names() == ["attention.md", "lora.md", "norm.md"]
    assert library.sync().generation == 2


def test_the_process_that_holds_the_lock_is_named(library: Library) -> None:
    library.sync()
    holding = (
        "import sys; from pathlib import Path; from rag.index.locks import writer_lock\n"
        "with writer_lock(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", holding, str(library.settings.index)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(IndexLockedError, match=rf"another process \({process.pid}\)"):
            library.sync()
        process.communicate()
    assert not library.sync().published


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full(*_: object) -> None:
    raise sqlite3.OperationalError("database or disk is full")


def unlucky(*_: object) -> None:
    raise RuntimeError("write error in faiss")


@pytest.mark.parametrize(
    ("name", "failure", "message"),
    [
        ("publish", no_space, "no space left"),
        ("write_storage", full, "disk is full"),
        ("save_vectors", unlucky, "write error"),
    ],
)
def test_a_full_disk_leaves_the_old_generation(
    library: Library, monkeypatch: pytest.MonkeyPatch, name: str, failure: Callable[..., None], message: str
) -> None:
    library.sync()
    before = library.content()
    library.page("rope")
    with monkeypatch.context() as patch:
        patch.setattr(sync_module, name, failure)
        with pytest.raises(IngestError, match=message) as caught:
            library.sync()
    assert "the old index is untouched" in caught.value.hint
    assert library.content() == before
    assert [path.name for path in (library.settings.index / "generations").iterdir()] == ["000001"]
    assert library.sync().generation == 2


@pytest.mark.parametrize("method", ["count_tokens", "encode_passages"])
def test_a_passage_that_cannot_be_embedded_is_named_by_its_document(
    library: Library, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its tokens are to be counted or embedded: workers of a cluster die of either."""
    library.sync()
    library.page("rope")

    def deadly(texts: Sequence[str], *_: object) -> None:
        raise PassageError("workers died", next(text for text in texts if TOPICS["rope"] in text), hint="leave it out")

    monkeypatch.setattr(library.embedder, method, deadly)
    with pytest.raises(IngestError) as caught:
        library.sync()
    assert (caught.value.message, caught.value.hint) == ("rope.md: workers died", "leave it out")


def test_an_index_folder_that_cannot_be_made(library: Library) -> None:
    settings = Settings(index=library.write("occupied", "a file") / "index")
    with pytest.raises(IngestError, match="cannot write the index"):
        library.sync(library.root, settings=settings)


def test_what_a_killed_writer_left_is_cleaned_up(library: Library) -> None:
    library.sync()
    generations = library.settings.index / "generations"
    (generations / "000002.writing").mkdir()
    (generations / "000002.writing" / "vectors.faiss").write_bytes(b"half")
    (generations / "000002").mkdir()  # sealed, but CURRENT was not yet renamed
    assert not library.sync().published
    library.page("rope")
    assert library.sync().generation == 2
    assert sorted(path.name for path in generations.iterdir()) == ["000001", "000002"]
    assert len(library.names()) == 4


def test_current_never_points_to_something_unfinished(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever step of publishing dies, the index opens, and is the old one or the new one."""
    library.sync()
    old = library.names()
    library.page("rope")
    new = sorted([*old, "rope.md"])
    calls = fatal = 0

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **more: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == fatal:
                raise KeyboardInterrupt
            return call(*arguments, **more)

        return counted

    while True:
        calls = 0
        fatal += 1
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", dying(os.fsync))
            patch.setattr(Path, "rename", dying(Path.rename))
            patch.setattr(Path, "replace", dying(Path.replace))
            try:
                library.sync()
            except KeyboardInterrupt:
                assert library.names() in (old, new)
                continue
        break
    assert fatal > 6
    assert library.names() == new

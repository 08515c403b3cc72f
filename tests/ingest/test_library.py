"""Documents that readers add and remove, and the runs that follow."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ingest.library import MAX_NAME_BYTES, Library, LibraryRun, safe_name
from ingest.sync import sync
from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.index import open_index
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.library import ingest, library_settings

NOTE = "# 早停是什么？\n\n早停在验证集损失不再下降时停止训练。\n"


@pytest.fixture
def settings(tmp_path: Path, hash_embedder: HashEmbedder) -> Settings:
    ingest(tmp_path, hash_embedder, {"zero.md": "# ZeRO\n\nZeRO 切分优化器状态。\n"})
    return library_settings(tmp_path).model_copy(update={"library": tmp_path / "own", "max_file_megabytes": 1})


@pytest.fixture
def library(settings: Settings, hash_embedder: HashEmbedder) -> Library:
    return Library(settings, hash_embedder)


def upload(folder: Path, text: str = NOTE) -> Path:
    file = folder / "upload"
    file.write_text(text, encoding="utf-8")
    return file


def finished(library: Library, *, all_roots: bool = False) -> LibraryRun:
    assert library.sync(all_roots=all_roots)
    return ended(library)


def ended(library: Library) -> LibraryRun:
    deadline = time.monotonic() + 30
    while library.run().under_way:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return library.run()


def names(settings: Settings) -> list[str]:
    index = open_index(settings.index)
    found = [document.name for document in index.storage.summaries()]
    index.close()
    return found


def test_a_document_comes_and_goes(library: Library, settings: Settings, tmp_path: Path) -> None:
    assert library.add("早停.md", upload(tmp_path)) == "早停.md"
    run = finished(library)
    assert (run.problem, run.report["documents"]["added"]) == (None, 1)
    assert names(settings) == ["own/早停.md", "zero.md"]
    library.remove("早停.md")
    assert finished(library).problem is None
    assert names(settings) == ["zero.md"]  # the empty folder is no root, and nothing complains of it


def test_what_is_wrong_with_other_roots_is_no_reason_to_turn_a_document_away(
    library: Library, settings: Settings, hash_embedder: HashEmbedder, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text(NOTE, encoding="utf-8")
    sync(settings, lambda: hash_embedder, [notes], identity=hash_embedder.identity)
    (tmp_path / "documents" / "zero.md").unlink()  # one is suddenly empty
    notes.rename(tmp_path / "away")  # the other is missing
    library.add("早停.md", upload(tmp_path))
    assert finished(library).problem is None
    assert names(settings) == ["notes/a.md", "own/早停.md", "zero.md"]
    library.remove("早停.md")
    assert finished(library).problem is None
    assert names(settings) == ["notes/a.md", "zero.md"]
    assert "is " in str(finished(library, all_roots=True).problem)


def test_old_sources_open_whatever_is_added_and_removed(
    library: Library, settings: Settings, hash_embedder: HashEmbedder, tmp_path: Path
) -> None:
    assistant = Assistant(settings, hash_embedder)

    def cited(question: str) -> str:
        return assistant.ask(question).citations[0].document

    zero = cited("ZeRO 切分什么？")
    assert assistant.source(zero)
    library.add("早停.md", upload(tmp_path))
    finished(library)
    own = cited("早停是什么？")
    assert assistant.source(zero)
    assert assistant.source(own) == NOTE
    library.add("预热.md", upload(tmp_path, "# 预热\n\n预热让学习率从零升起。\n"))
    finished(library)
    assert assistant.source(own) == NOTE
    for name in ("早停.md", "预热.md"):
        library.remove(name)
        finished(library)
        assert assistant.source(zero)
    assert assistant.source(own) is None


def test_what_is_added_during_a_run_is_read_after_it(
    library: Library, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    has_read, go_on = threading.Event(), threading.Event()

    def slow(*arguments: Any, **more: Any) -> Any:
        report = sync(*arguments, **more)
        has_read.set()
        assert go_on.wait(30)
        return report

    monkeypatch.setattr("ingest.library.sync", slow)
    library.add("早停.md", upload(tmp_path))
    assert library.sync()
    assert has_read.wait(30)
    library.add("预热.md", upload(tmp_path, "# 预热\n\n预热让学习率从零升起。\n"))
    assert not library.sync()
    go_on.set()
    assert ended(library).problem is None
    assert names(settings) == ["own/早停.md", "own/预热.md", "zero.md"]


def test_what_fails_is_told_and_the_rest_goes_on(library: Library, settings: Settings, tmp_path: Path) -> None:
    library.add("早停.md", upload(tmp_path))
    library.add("leer.txt", upload(tmp_path, " "))
    report = finished(library).report
    assert [failed["path"].rsplit("/")[-1] for failed in report["documents"]["failed"]] == ["leer.txt"]
    assert names(settings) == ["own/早停.md", "zero.md"]


def test_nothing_is_overwritten_unless_that_is_said(library: Library, tmp_path: Path) -> None:
    library.add("a.md", upload(tmp_path))
    library.add("a.md", upload(tmp_path))  # the very same file
    with pytest.raises(UsageError, match=r"another document named a\.md"):
        library.add("a.md", upload(tmp_path, "anders"))
    assert (library.folder / "a.md").read_text(encoding="utf-8") == NOTE
    library.add("a.md", upload(tmp_path, "anders"), replace=True)
    assert (library.folder / "a.md").read_text(encoding="utf-8") == "anders"
    assert [file.name for file in library.folder.iterdir()] == ["a.md"]


def test_too_large(library: Library, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"1\.0 MB, at most 1"):
        library.add("big.txt", upload(tmp_path, "x" * (1024 * 1024 + 1)))
    assert not library.folder.exists()


def test_what_cannot_be_read_is_among_its_files_and_can_be_removed(library: Library, tmp_path: Path) -> None:
    assert library.files() == ()
    library.add("早停.md", upload(tmp_path))
    library.add("bad.pdf", upload(tmp_path, "%PDF-1.7 no more"))
    report = finished(library).report
    assert [failed["path"] for failed in report["documents"]["failed"]] == [str(library.folder / "bad.pdf")]
    assert library.files() == ("bad.pdf", "早停.md")
    library.remove("bad.pdf")
    assert finished(library).report["documents"]["failed"] == []
    assert library.files() == ("早停.md",)


@pytest.mark.parametrize("relative", ["../documents/zero.md", "/etc/passwd", "no.md", "", ".", "link.md"])
def test_only_its_own_documents_can_be_removed(library: Library, tmp_path: Path, relative: str) -> None:
    library.add("a.md", upload(tmp_path))
    (library.folder / "link.md").symlink_to(tmp_path / "documents" / "zero.md")
    with pytest.raises(UsageError):
        library.remove(relative)
    assert (tmp_path / "documents" / "zero.md").is_file()


def test_readers_who_may_not(settings: Settings, hash_embedder: HashEmbedder, tmp_path: Path) -> None:
    library = Library(settings, hash_embedder, may_change=False)
    with pytest.raises(UsageError, match="cannot be added"):
        library.add("a.md", upload(tmp_path))
    with pytest.raises(UsageError, match="cannot be added"):
        library.remove("a.md")
    with pytest.raises(UsageError, match="cannot be added"):
        library.sync()
    assert not library.run().under_way


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("笔记.md", "笔记.md"),
        ("../../../etc/cron.d/x.txt", "x.txt"),
        ("C:\\Users\\me\\a.PDF", "a.PDF"),
        (".hidden.md", "hidden.md"),
        ('<img src=x onerror="a">.md', "img src=x onerror= a.md"),
        ("a\u202efdp.md", "afdp.md"),
        ("a\x00b\n.txt", "a b.txt"),
        ("長" * 300 + ".md", "長" * 65 + ".md"),
    ],
)
def test_names_are_made_safe(name: str, safe: str) -> None:
    assert safe_name(name) == safe
    assert len(safe.encode()) <= MAX_NAME_BYTES


@pytest.mark.parametrize("name", ["", ".md", "..", "a.exe", "a", "~$a.docx", "README.md", "/"])
def test_names_of_no_documents(name: str) -> None:
    with pytest.raises(UsageError):
        safe_name(name)

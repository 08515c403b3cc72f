"""A generation is whole or not there: what opening finds, and that it changes nothing."""

import errno
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag.errors import IndexCorruptError, IndexLockedError, IndexMismatchError, IndexMissingError, RagError
from rag.index import DiskIndex, current_generation, generation, open_index
from rag.index.generation import Freshness, freshness, new_generation, publish, reopen
from rag.index.locks import writer_lock
from rag.index.vocabulary import MaterialVocabulary, read_vocabulary
from rag.index.written_questions import AskedQuestions, read_asked
from rag.search.retrieval import search
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, ingest, library_settings

FILES = [
    "CURRENT",
    "manifest.json",
    "passages.sqlite",
    "vectors.faiss",
    "keywords.names.npy",
    "report.json",
    "vocabulary.words.npy",
    "questions.starts.npy",
]


@pytest.fixture
def copied(library: Settings, tmp_path: Path) -> Path:
    """A folder with an `index/` that the test may damage; its documents are those of the library."""
    shutil.copytree(library.index, tmp_path / "index")
    return tmp_path


def place(index: Path, name: str) -> Path:
    return index / name if name == "CURRENT" else index / "generations" / "000001" / name


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(path.relative_to(folder)): (path.read_bytes() if path.is_file() else b"", path.stat().st_mtime_ns)
        for path in [folder, *folder.rglob("*")]
    }


def republish(folder: Path, documents: dict[str, str], embedder: HashEmbedder, times: int) -> None:
    for number in range(times):
        ingest(folder, embedder, {**documents, "new.md": f"# 新文章 {number}\n\n第 {number} 版的内容在这里。\n"})


def test_opening_and_searching_change_nothing(copied: Path, hash_embedder: HashEmbedder) -> None:
    folder = copied / "index"
    before = snapshot(folder)
    for _ in range(3):
        index = open_index(folder, embedder="hash@1")
        assert search(index, hash_embedder, "RoPE").hits
        index.close()
    assert snapshot(folder) == before


def test_all_files_may_be_read_by_the_same_people(copied: Path) -> None:
    modes = {name: place(copied / "index", name).stat().st_mode & 0o777 for name in FILES}
    assert len(set(modes.values())) == 1, modes


def test_what_all_documents_say_is_stored(library_index: DiskIndex, tmp_path: Path) -> None:
    """A generation of an older version has none of it: it is read out of the documents."""
    older = replace(library_index, folder=tmp_path)
    stored = MaterialVocabulary.load(library_index.folder / generation.VOCABULARY)
    assert stored is not None
    assert stored.words
    assert stored == library_index.vocabulary == older.vocabulary == read_vocabulary(library_index.storage)
    asked = AskedQuestions.load(library_index.folder / generation.QUESTIONS)
    assert asked is not None
    assert asked.sections == library_index.asked.sections == older.asked.sections
    assert np.array_equal(asked.holding, read_asked(library_index.storage).holding)


def test_there_is_no_index(tmp_path: Path) -> None:
    assert current_generation(tmp_path) is None
    with pytest.raises(IndexMissingError) as caught:
        open_index(tmp_path / "none")
    assert "python -m ingest" in caught.value.hint
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_noticed(name: str, copied: Path) -> None:
    place(copied / "index", name).unlink()
    expected = IndexMissingError if name == "CURRENT" else IndexCorruptError
    with pytest.raises(expected):
        open_index(copied / "index")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("left", [0.0, 0.5, 0.999])
def test_a_truncated_file_is_noticed(name: str, left: float, copied: Path) -> None:
    file = place(copied / "index", name)
    os.truncate(file, int(file.stat().st_size * left))
    with pytest.raises(IndexCorruptError) as caught:
        open_index(copied / "index")
    assert "python -m ingest --rebuild" in caught.value.hint


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_byte_is_noticed_wherever_it_is(name: str, copied: Path) -> None:
    file = place(copied / "index", name)
    data = bytearray(file.read_bytes())
    positions = range(len(data)) if name == "CURRENT" else range(0, len(data), max(1, len(data) // 40))
    for position in [*positions, len(data) - 1]:
        data[position] ^= 0x01
        file.write_bytes(data)
        with pytest.raises(IndexCorruptError):
            open_index(copied / "index")
        data[position] ^= 0x01
    file.write_bytes(data)
    open_index(copied / "index").close()


def test_longer_is_not_what_was_published_either(copied: Path) -> None:
    with place(copied / "index", "vectors.faiss").open("ab") as stream:
        stream.write(b"\0")
    with pytest.raises(IndexCorruptError, match="bytes"):
        open_index(copied / "index")


def test_a_half_written_generation_is_not_there(own_library: Path, hash_embedder: HashEmbedder) -> None:
    index = own_library / "index"
    left = index / "generations" / "000002.writing"
    shutil.copytree(index / "generations" / "000001", left)
    os.truncate(left / "vectors.faiss", 10)
    opened = open_index(index)
    assert opened.manifest.generation == 1
    opened.close()
    republish(own_library, DOCUMENTS, hash_embedder, 1)
    assert current_generation(index) == "000002"
    assert not left.exists()


def test_a_generation_sealed_but_not_made_live_is_not_there(own_library: Path, hash_embedder: HashEmbedder) -> None:
    index = own_library / "index"
    shutil.copytree(index / "generations" / "000001", index / "generations" / "000002")
    assert current_generation(index) == "000001"
    republish(own_library, DOCUMENTS, hash_embedder, 1)
    opened = open_index(index)
    assert opened.manifest.generation == 2
    assert opened.storage.source("new.md")
    opened.close()


def test_an_error_while_writing_leaves_nothing(copied: Path) -> None:
    index = copied / "index"
    before = snapshot(index / "generations" / "000001")

    def interrupted() -> None:
        with new_generation(index, 2) as folder:
            (folder / "half").write_text("x", encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.name for path in (index / "generations").iterdir()] == ["000001"]
    assert snapshot(index / "generations" / "000001") == before


@pytest.mark.parametrize("other", [9, 10, 99])
def test_another_format_is_refused_with_the_command_that_rebuilds(copied: Path, other: int) -> None:
    index = copied / "index"
    manifest = json.loads(place(index, "manifest.json").read_bytes()) | {"format": other}
    data = json.dumps(manifest).encode()
    place(index, "manifest.json").write_bytes(data)
    (index / "CURRENT").write_text(
        json.dumps({"generation": "000001", "manifest_sha256": hashlib.sha256(data).hexdigest()}), encoding="utf-8"
    )
    with pytest.raises(IndexMismatchError, match=f"format {other}") as caught:
        open_index(index)
    assert "python -m ingest --rebuild" in caught.value.hint


def test_another_embedder_is_refused_with_the_command_that_rebuilds(library_index: DiskIndex) -> None:
    folder = library_index.folder.parents[1]
    with pytest.raises(IndexMismatchError, match=r"'hash@1'.*'other@2'") as caught:
        open_index(folder, embedder="other@2")
    assert "python -m ingest --rebuild" in caught.value.hint


def test_a_reader_keeps_what_it_opened(own_library: Path, hash_embedder: HashEmbedder) -> None:
    index, other = open_index(own_library / "index"), open_index(own_library / "index")
    republish(own_library, DOCUMENTS, hash_embedder, 4)
    generations = index.folder.parent
    assert sorted(path.name for path in generations.iterdir()) == ["000001", "000004", "000005"]
    evidence = search(index, hash_embedder, "LoRA 的秩怎么选")
    assert evidence.hits[0].passage.document == "lora.txt"
    assert index.storage.source("new.md") is None
    index.close()
    republish(own_library, DOCUMENTS, hash_embedder, 1)
    assert index.folder.exists()  # the other reader holds it
    other.close()
    republish(own_library, DOCUMENTS, hash_embedder, 2)
    assert sorted(path.name for path in generations.iterdir()) == ["000006", "000007"]


def test_an_open_reader_survives_the_removal_of_its_files(own_library: Path, hash_embedder: HashEmbedder) -> None:
    """As on a file system without locks."""
    index = open_index(own_library / "index")
    shutil.rmtree(index.folder)
    assert search(index, hash_embedder, "LoRA 的秩怎么选").hits[0].passage.document == "lora.txt"
    index.close()


def test_a_file_system_without_locks(
    own_library: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    index = own_library / "index"
    with monkeypatch.context() as patch:
        patch.setattr("fcntl.flock", unsupported)
        opened = open_index(index)
        generation.collect(index, live="000000")  # nothing to remove yet
        shutil.copytree(opened.folder, opened.folder.with_name("000002"))
        generation.collect(index, live="000002")
        assert opened.folder.exists()  # the one before the live one
        shutil.copytree(opened.folder, opened.folder.with_name("000003"))
        generation.collect(index, live="000003")
    assert not opened.folder.exists()
    assert search(opened, hash_embedder, "LoRA 的秩怎么选").hits[0].passage.document == "lora.txt"
    opened.close()


def test_a_refused_index_is_not_held(own_library: Path, hash_embedder: HashEmbedder) -> None:
    with pytest.raises(IndexMismatchError) as caught:
        open_index(own_library / "index", embedder="other@2")
    republish(own_library, DOCUMENTS, hash_embedder, 2)
    assert not place(own_library / "index", "manifest.json").exists()
    assert "hash@1" in caught.value.message


def test_clocks_say_nothing(own_library: Path, hash_embedder: HashEmbedder) -> None:
    """The generation before the live one stays, though a clock that went back makes it look the oldest."""
    republish(own_library, DOCUMENTS, hash_embedder, 1)
    generations = own_library / "index" / "generations"
    os.utime(generations / "000002", (0, 0))
    republish(own_library, DOCUMENTS, hash_embedder, 2)
    assert sorted(path.name for path in generations.iterdir()) == ["000002", "000003"]


def test_a_reader_that_loses_the_race_takes_the_next_generation(
    own_library: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between reading CURRENT and opening the files, the generation is collected."""
    real = generation._open_generation
    tries: list[str] = []

    def late(index: Path, current: Any, embedder: str | None) -> DiskIndex:
        tries.append(current.generation)
        if len(tries) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(generation, "_open_generation", real)
                republish(own_library, DOCUMENTS, hash_embedder, 3)
        return real(index, current, embedder)

    monkeypatch.setattr(generation, "_open_generation", late)
    index = open_index(own_library / "index")
    assert tries == ["000001", "000004"]
    assert index.manifest.generation == 4
    index.close()


@pytest.mark.parametrize("kept", [1, 2])
def test_reader_and_writer_at_the_same_time(
    own_library: Path, hash_embedder: HashEmbedder, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is published meanwhile, opening gives a whole generation, never an error."""
    monkeypatch.setattr(generation, "KEPT_GENERATIONS", kept)
    done = threading.Event()
    failures: list[RagError] = []
    generations: set[int] = set()

    def read() -> None:
        while not done.is_set():
            try:
                index = open_index(own_library / "index", embedder="hash@1")
                assert search(index, hash_embedder, "LoRA").hits
                generations.add(index.manifest.generation)
                index.close()
            except RagError as error:
                failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    republish(own_library, DOCUMENTS, hash_embedder, 12)
    done.set()
    for reader in readers:
        reader.join()
    assert not failures
    assert len(generations) > 1


def test_two_generations_are_kept(own_library: Path, hash_embedder: HashEmbedder) -> None:
    republish(own_library, DOCUMENTS, hash_embedder, 3)
    assert sorted(p.name for p in (own_library / "index" / "generations").iterdir()) == ["000003", "000004"]


def test_the_live_generation_is_never_collected(own_library: Path, hash_embedder: HashEmbedder) -> None:
    """Where CURRENT was damaged numbers begin again at 1, below those that are left."""
    republish(own_library, DOCUMENTS, hash_embedder, 3)
    index = own_library / "index"
    (index / "CURRENT").write_text("damaged", encoding="utf-8")
    with writer_lock(index), new_generation(index, 1) as folder:
        shutil.copytree(index / "generations" / "000004", folder, dirs_exist_ok=True)
        manifest = json.loads((folder / "manifest.json").read_bytes())
        (folder / "manifest.json").unlink()
        fields = {key: value for key, value in manifest.items() if key not in ("format", "files")}
        publish(index, folder, {**fields, "generation": 1})
    opened = open_index(index)
    assert opened.manifest.generation == 1
    opened.close()


HOLD = """
import sys, pathlib
from rag.index.locks import writer_lock
with writer_lock(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(IndexLockedError, match=rf"\({holder.pid}\) on .* since 20\d\d-"), writer_lock(tmp_path):
            pytest.fail("two writers")
        holder.kill()  # a writer that dies leaves no lock behind
        holder.wait()
    with writer_lock(tmp_path):
        pass


def test_a_writer_waits_for_another_one(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    order: list[str] = []
    has_begun, may_end = threading.Event(), threading.Event()

    def first() -> None:
        with writer_lock(tmp_path):
            has_begun.set()
            may_end.wait(60)
            order.append("first")

    thread = threading.Thread(target=first)
    thread.start()
    has_begun.wait()
    started = time.monotonic()
    with pytest.raises(IndexLockedError) as caught, writer_lock(tmp_path, wait=0.05):
        pytest.fail("two writers")
    assert time.monotonic() - started >= 0.05
    assert not order  # given up before the first one ended
    assert "--wait" in caught.value.hint
    threading.Timer(0.2, may_end.set).start()
    with writer_lock(tmp_path, wait=60):
        order.append("second")
    thread.join()
    assert order == ["first", "second"]
    assert f"({os.getpid()})" in caplog.text
    assert sorted(path.name for path in tmp_path.iterdir()) == ["writer.lock"]


def test_an_unreadable_current_leaves_the_open_generation_in_use(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    folder = library_settings(tmp_path).index
    ingest(tmp_path, hash_embedder, DOCUMENTS)
    index = open_index(folder)
    assert freshness(folder, index) is Freshness.UNCHANGED
    assert reopen(folder, index) is index
    current = folder / "CURRENT"
    live = current.read_bytes()
    for damaged in (b"", b"{}", live[:10]):
        current.write_bytes(damaged)
        assert freshness(folder, index) is Freshness.UNKNOWN
        assert reopen(folder, index) is index
    current.unlink()
    assert freshness(folder, index) is Freshness.UNKNOWN
    current.write_bytes(live)
    assert freshness(folder, index) is Freshness.UNCHANGED


def test_a_new_generation_is_opened_and_verified(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    folder = library_settings(tmp_path).index
    ingest(tmp_path, hash_embedder, DOCUMENTS)
    index = open_index(folder)
    older = replace(index, manifest_sha256="0" * 64)
    assert freshness(folder, older) is Freshness.CHANGED
    assert reopen(folder, older).manifest_sha256 == index.manifest_sha256
    (index.folder / "report.json").write_bytes(b"flipped")
    with pytest.raises(IndexCorruptError):
        reopen(folder, older)

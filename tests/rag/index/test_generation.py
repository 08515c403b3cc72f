"""A generation is whole or not there: what opening finds, and that it changes nothing."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rag.errors import IndexCorruptError, IndexLockedError, IndexMismatchError, IndexMissingError, RagError
from rag.index import Index, current_generation, open_index
from rag.index.generation import new_generation, publish, writer_lock
from rag.retrieval import search
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, ingest

FILES = ["CURRENT", "manifest.json", "passages.sqlite", "vectors.faiss", "keywords.safetensors"]


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


def test_opening_and_searching_change_nothing(own_library: Path, hash_embedder: HashEmbedder) -> None:
    folder = own_library / "index"
    before = snapshot(folder)
    for _ in range(3):
        index = open_index(folder, embedder="hash@1")
        assert search(index, hash_embedder, "RoPE").hits
        index.close()
    assert snapshot(folder) == before


def test_all_files_may_be_read_by_the_same_people(own_library: Path) -> None:
    modes = {name: place(own_library / "index", name).stat().st_mode & 0o777 for name in FILES}
    assert len(set(modes.values())) == 1, modes


def test_there_is_no_index(tmp_path: Path) -> None:
    assert current_generation(tmp_path) is None
    with pytest.raises(IndexMissingError) as caught:
        open_index(tmp_path / "none")
    assert "python -m ingest" in caught.value.hint
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_noticed(name: str, own_library: Path) -> None:
    place(own_library / "index", name).unlink()
    expected = IndexMissingError if name == "CURRENT" else IndexCorruptError
    with pytest.raises(expected):
        open_index(own_library / "index")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("left", [0.0, 0.5, 0.999])
def test_a_truncated_file_is_noticed(name: str, left: float, own_library: Path) -> None:
    file = place(own_library / "index", name)
    os.truncate(file, int(file.stat().st_size * left))
    with pytest.raises(IndexCorruptError) as caught:
        open_index(own_library / "index")
    assert "python -m ingest --rebuild" in caught.value.hint


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_byte_is_noticed_wherever_it_is(name: str, own_library: Path) -> None:
    file = place(own_library / "index", name)
    data = bytearray(file.read_bytes())
    positions = range(len(data)) if name == "CURRENT" else range(0, len(data), max(1, len(data) // 40))
    for position in [*positions, len(data) - 1]:
        data[position] ^= 0x01
        file.write_bytes(data)
        with pytest.raises(IndexCorruptError):
            open_index(own_library / "index")
        data[position] ^= 0x01
    file.write_bytes(data)
    open_index(own_library / "index").close()


def test_longer_is_not_what_was_published_either(own_library: Path) -> None:
    with place(own_library / "index", "vectors.faiss").open("ab") as stream:
        stream.write(b"\0")
    with pytest.raises(IndexCorruptError, match="bytes"):
        open_index(own_library / "index")


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


def test_an_error_while_writing_leaves_nothing(own_library: Path) -> None:
    index = own_library / "index"
    before = snapshot(index / "generations" / "000001")

    def interrupted() -> None:
        with new_generation(index, 2) as folder:
            (folder / "half").write_text("x", encoding="utf-8")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [path.name for path in (index / "generations").iterdir()] == ["000001"]
    assert snapshot(index / "generations" / "000001") == before


def test_another_format_is_refused_with_the_command_that_rebuilds(own_library: Path) -> None:
    index = own_library / "index"
    manifest = json.loads(place(index, "manifest.json").read_bytes()) | {"format": 99}
    data = json.dumps(manifest).encode()
    place(index, "manifest.json").write_bytes(data)
    (index / "CURRENT").write_text(
        json.dumps({"generation": "000001", "manifest_sha256": hashlib.sha256(data).hexdigest()}), encoding="utf-8"
    )
    with pytest.raises(IndexMismatchError, match="format 99") as caught:
        open_index(index)
    assert "python -m ingest --rebuild" in caught.value.hint


def test_another_embedder_is_refused_with_the_command_that_rebuilds(library_index: Index) -> None:
    folder = library_index.folder.parents[1]
    with pytest.raises(IndexMismatchError, match=r"'hash@1'.*'other@2'") as caught:
        open_index(folder, embedder="other@2")
    assert "python -m ingest --rebuild" in caught.value.hint


def test_a_reader_keeps_what_it_opened(own_library: Path, hash_embedder: HashEmbedder) -> None:
    index = open_index(own_library / "index")
    republish(own_library, DOCUMENTS, hash_embedder, 4)
    assert not index.folder.exists()  # collected
    evidence = search(index, hash_embedder, "LoRA 的秩怎么选")
    assert evidence.hits[0].passage.document == "lora.txt"
    assert index.storage.source("new.md") is None
    index.close()


def test_reader_and_writer_at_the_same_time(own_library: Path, hash_embedder: HashEmbedder) -> None:
    """Whatever is published meanwhile, opening gives a whole generation, never an error."""
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
from rag.index.generation import writer_lock
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
        with pytest.raises(IndexLockedError, match=str(holder.pid)), writer_lock(tmp_path):
            pytest.fail("two writers")
        holder.kill()  # a writer that dies leaves no lock behind
        holder.wait()
    with writer_lock(tmp_path):
        pass

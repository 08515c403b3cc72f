"""Documents and passages in SQLite: what goes in comes out."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

import rag.index.storage as storage_module
from rag.errors import IndexCorruptError
from rag.index.storage import Storage, StoredDocument, StoredPassage, write_storage
from rag.text.blocks import BlockKind
from rag.text.front_matter import DateField
from rag.text.mapped import MappedText
from rag.text.markdown import parse
from rag.text.page import FollowUps, Outline, PageSection
from rag.types import Place

SOURCE = "标题\n第一段 '引号' \"双\" 😀。\n第二段。\n"


def passage(text: str, number: int | None, same_as: int | None = None) -> StoredPassage:
    start = SOURCE.index(text)
    return StoredPassage(
        ("章", "节"), MappedText.copied(text, start), "标题 > 章", "k" * 64, b"\x00\xff", number, same_as,
        parse(text),
    )  # fmt: skip


def document(name: str, *passages: StoredPassage) -> StoredDocument:
    return StoredDocument(0, name, name, f"《{name}》", "0" * 64, 9, False, ("标签",), ("怎么问",), SOURCE, passages)


OUTLINE = Outline(
    sections=(PageSection(start=3), PageSection.under(("章", "要点", "English"), 7)),
    body_start=3,
    english="Chapter",
    follow_ups=(FollowUps(9, ("为什么？",)),),
    code=((4, 8),),
    rubric=("一点",),
    dated=date(2026, 1, 2),
    date_field=DateField.CHECKED,
)
DOCUMENTS = [
    document("a.md", passage("第一段 '引号' \"双\" 😀。", 0), passage("第二段。", 1)),
    document("b/c'd?.md", passage("第二段。", None, 1), passage("标题", 2)),
    replace(
        document("empty.md"),
        questions={"节": (("为什", "什么"), ("why",)), "章": (("几",),)},
        outline=OUTLINE,
    ),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "odd name #?%20 存"
    folder.mkdir()
    write_storage(folder / "passages.sqlite", DOCUMENTS)
    return folder / "passages.sqlite"


def test_documents_come_back_as_they_were(file: Path) -> None:
    storage = Storage(file)
    assert storage.documents(with_passages=True) == DOCUMENTS
    assert [d.passages for d in storage.documents()] == [(), (), ()]
    assert storage.entries() == [document.entry for document in DOCUMENTS]
    assert storage.source("a.md") == SOURCE
    assert storage.source("none.md") is None
    assert storage.questions("empty.md") == DOCUMENTS[2].questions
    assert storage.questions("a.md") == storage.questions("none.md") == {}
    every = [("empty.md", heading, terms) for heading, asked in DOCUMENTS[2].questions.items() for terms in asked]
    assert sorted(storage.all_questions()) == sorted(every)
    storage.close()


def test_passages_come_in_the_order_asked_for(file: Path) -> None:
    storage = Storage(file)
    found = storage.passages([2, 0, 2])
    assert [p.number for p in found] == [2, 0, 2]
    assert found[0].document == "b/c'd?.md"
    assert found[1].section == ("章", "节")
    assert SOURCE[found[1].start : found[1].end] == found[1].text
    assert found[1].blocks == parse(found[1].text)
    assert found[1].blocks[0].kind is BlockKind.PARAGRAPH
    assert storage.passages([]) == []
    storage.close()


def test_a_repeat_is_named_by_the_passage_it_repeats(file: Path) -> None:
    storage = Storage(file)
    start = SOURCE.index("第二段。")
    assert storage.passages([1])[0].also_in == (Place("b/c'd?.md", start, start + 4),)
    assert storage.document_numbers("b/c'd?.md") == [1, 2]
    assert storage.document_numbers("none.md") == []
    storage.close()


def test_many_numbers_are_asked_for_at_once(file: Path) -> None:
    storage = Storage(file)
    assert len(storage.passages([0, 1, 2] * 5_000)) == 15_000
    with pytest.raises(KeyError):
        storage.passages(range(15_000))  # all in one question to the database, which has three
    storage.close()


def test_what_was_read_last_is_remembered(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_module, "PASSAGES_KEPT", 2)
    storage = Storage(file)
    [first] = storage.passages([0])
    again, second = storage.passages([0, 1])
    assert again is first
    assert [passage.number for passage in storage.passages([2, 0, 2])] == [2, 0, 2]
    assert set(storage._kept) == {1, 2}
    assert storage.passages([1])[0] is second
    assert storage.passages([0])[0] is not first
    storage.close()


def test_threads_may_read_at_the_same_time(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage_module, "PASSAGES_KEPT", 0)
    storage = Storage(file)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda number: storage.passages([number % 3])[0].number, range(300)))
    assert results == [number % 3 for number in range(300)]
    storage.close()


def test_reading_never_writes(file: Path) -> None:
    before = (file.read_bytes(), file.stat().st_mtime_ns, sorted(file.parent.iterdir()))
    storage = Storage(file)
    with pytest.raises(IndexCorruptError, match="readonly"):
        storage._rows("DELETE FROM documents")
    storage.close()
    assert (file.read_bytes(), file.stat().st_mtime_ns, sorted(file.parent.iterdir())) == before


def test_a_file_of_something_else_is_corrupt(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"not a database, however long it is " * 100)
    storage = Storage(tmp_path / "x")
    with pytest.raises(IndexCorruptError, match="cannot be read") as caught:
        storage.documents()
    assert "python -m ingest --rebuild" in caught.value.hint
    storage.close()


def test_a_database_is_written_once(file: Path) -> None:
    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        write_storage(file, DOCUMENTS)

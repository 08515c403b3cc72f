"""Exports that other programs read: a real Anki package, CSV, Markdown."""

import csv
import io
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

from rag.practice.bank import Bank
from rag.practice.exports import ExportAs, as_html, export
from rag.practice.store import Jotting
from tests.rag.practice.pages import CACHE, CACHE_ID, DOCUMENTS, bank_of

JOTTINGS = {CACHE_ID: Jotting(note="常考", version="我的说法")}


def notes_of(package: bytes, folder: Path) -> dict[str, tuple[list[str], str]]:
    """The fields and tags of the notes of an Anki package, by guid."""
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        archive.extract("collection.anki2", folder)
    with closing(sqlite3.connect(folder / "collection.anki2")) as collection:
        rows = collection.execute("SELECT guid, flds, tags FROM notes").fetchall()
    return {guid: (fields.split("\x1f"), tags) for guid, fields, tags in rows}


def test_anki_has_question_answers_and_the_source(bank: Bank, tmp_path: Path) -> None:
    notes = notes_of(export(bank, tuple(bank.questions.values()), JOTTINGS, ExportAs.ANKI), tmp_path)
    assert len(notes) == 4
    (fields, tags) = next(note for note in notes.values() if "加速解码" in note[0][0])
    question, short, answer, source, mine = fields
    assert question == "<p>KV cache 是什么，为什么能加速解码？</p>"
    assert short == "<p>KV cache 存下算过的键和值。</p>"
    assert r"\[2 L n d b\]" in answer
    assert r"\(L\)" in answer
    assert '<pre><code class="language-python">assert 1 &lt; 2  # $not a formula$' in answer
    assert source.startswith('<a href="file:///')
    assert mine == "<p>我的说法</p>\n<p>常考</p>"
    assert tags.split() == ["KV_cache", "显存"]


def test_a_second_import_updates(bank: Bank, tmp_path: Path) -> None:
    """The same ids of notes, note type and deck, whatever else changed."""
    before = notes_of(export(bank, tuple(bank.questions.values()), {}, ExportAs.ANKI), tmp_path / "a")
    page = CACHE.replace("KV cache 存下算过的键和值。", "KV cache 存下键和值，省去重算。")
    changed = bank_of(tmp_path / "b", {"another.md": DOCUMENTS["notes.md"], **DOCUMENTS, "cache.md": page})
    after = notes_of(export(changed, tuple(changed.questions.values()), {}, ExportAs.ANKI), tmp_path / "b")
    assert set(before) <= set(after)


def test_csv_and_markdown_hold_the_source_word_for_word(bank: Bank) -> None:
    questions = tuple(bank.questions.values())
    rows = list(csv.DictReader(io.StringIO(export(bank, questions, JOTTINGS, ExportAs.CSV).decode())))
    assert [row["id"] for row in rows] == [question.id for question in questions]
    assert rows[0]["answer"] in CACHE
    assert (rows[0]["note"], rows[0]["version"]) == ("常考", "我的说法")
    text = export(bank, questions, JOTTINGS, ExportAs.MARKDOWN).decode()
    assert all(question.answer.quote in text for question in questions)


def test_html_of_the_source_is_text() -> None:
    assert as_html("<script>alert(1)</script> `a $b$` $x<y$ \ue0003\ue001") == (
        "<p>&lt;script&gt;alert(1)&lt;/script&gt; <code>a $b$</code> \\(x&lt;y\\) 3</p>"
    )

"""The library, without a browser: what it shows, and that nothing in it can run."""

import os
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.library import Library, LibraryRun
from ingest.report import Stage
from ingest.sync import sync
from ingest.updates.auto_update import AutoUpdate
from rag.answer.assistant import Assistant
from rag.errors import DocumentError, Unreadable, UsageError
from rag.index import open_index
from rag.index.topics import topic_title, topic_titles
from rag.ui.app.page import Rooms
from rag.ui.library.listing import SHOWN, DocumentRow, Unread, matching, reader, rows_of, table, unread_list, unread_of
from rag.ui.library.report import run_report, why_unread
from rag.ui.session.session import Session
from rag.ui.texts import LIBRARY_TEXTS, Language
from rag.ui.texts import TEXTS as PAGE
from tests.conftest import HashEmbedder
from tests.paths import ROOT
from tests.rag.library import DOCUMENTS, ingest, library_settings
from tests.rag.ui.rooms import NASTY, built
from tests.source_pages import source_page

ROW = DocumentRow(
    "topic/a.md",
    "topic/a.md",
    "RoPE 外推",
    1_200,
    600,
    3,
    ("位置编码",),
    False,
    False,
    datetime(2026, 1, 2, tzinfo=UTC),
)
REPORT: dict[str, Any] = {
    "documents": {
        "added": 1, "changed": 0, "moved": 0, "unchanged": 5, "removed": 0, "stale": 0,
        "failed": [{"path": "/secret/b.pdf", "error": f"b.pdf: {NASTY}", "reason": "damaged"}],
    },
    "passages": {"total": 9, "embedded": 2, "reused": 7},
    "seconds": 1.25,
    "changes": {"added": ["a.md"], "changed": [], "moved": [], "removed": []},
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "kind", "topic", "count"),
    [("", "", None, 2), ("rope", "", None, 1), ("ＲｏＰＥ 位置", "", None, 1), ("rope 梯度", "", None, 0),
     ("", "md", None, 1), ("", "", "topic", 1), ("", "", "", 1), ("b.pdf", "pdf", "", 1)],
)  # fmt: skip
def test_documents_are_found(words: str, kind: str, topic: str | None, count: int) -> None:
    rows = [ROW, replace(ROW, name="b.pdf", relative="b.pdf", title="梯度", tags=())]
    assert len(matching(rows, words, kind, topic)) == count


def test_the_rows_are_those_of_the_index(assistant: Assistant) -> None:
    rows = rows_of(assistant.index, lambda root: root.endswith("documents"))
    assert sorted(row.name for row in rows) == sorted(DOCUMENTS)
    zero = next(row for row in rows if row.name == "zero.md")
    assert zero.characters == len(DOCUMENTS["zero.md"])
    assert zero.size == len(DOCUMENTS["zero.md"].encode())
    assert zero.passages == len(assistant.index.storage.document_numbers("zero.md"))
    assert zero.own
    assert zero.changed is not None


def test_a_table_of_documents_is_inert_and_bounded() -> None:
    texts = LIBRARY_TEXTS[Language.EN]
    hostile = replace(ROW, name=f"{NASTY}.md", title=NASTY, tags=(NASTY,), own=True, stale=True)
    html = table([hostile] * (SHOWN + 3), texts, any_at_all=True, may_remove=True)
    assert "<img" not in html
    assert html.count("<tr>") == SHOWN + 1
    assert "3 more are not listed" in html
    assert 'data-action="remove"' in html
    assert 'data-action="remove"' not in table([hostile], texts, any_at_all=True, may_remove=False)
    assert 'data-action="remove"' not in table([ROW], texts, any_at_all=True, may_remove=True)
    assert texts.none_fit in table([], texts, any_at_all=True, may_remove=True)


def test_a_document_is_read_as_it_stands() -> None:
    texts = LIBRARY_TEXTS[Language.ZH]
    assert "&lt;img src=x" in reader("a.md", ROW, source_page(f"# 标题\n{NASTY}"), texts)
    assert "<img" not in reader("a.md", ROW, source_page(NASTY), texts)
    assert "200,000" in reader("a.md", ROW, source_page("长" * 200_001), texts)
    assert texts.gone in reader("a.md", None, None, texts)


@pytest.mark.parametrize("language", Language)
def test_a_run_is_told(language: Language) -> None:
    texts = LIBRARY_TEXTS[language]
    assert "3/9" in run_report(
        LibraryRun(under_way=True, stage=Stage.PASSAGES, done=3, total=9), {}, texts, PAGE[language]
    )
    done = run_report(
        LibraryRun(ended=datetime(2026, 1, 2, 10, 23, tzinfo=UTC), report=REPORT), {}, texts, PAGE[language]
    )
    assert "10:23:00" in done
    assert "&lt;img" in done
    assert "<img" not in done
    assert "/secret" not in done
    assert "a.md" in done
    problem = run_report(
        LibraryRun(ended=datetime.now(UTC), problem=UsageError(NASTY, hint="do that")), {}, texts, PAGE[language]
    )
    assert "&lt;img" in problem
    assert "do that" in problem
    assert texts.nothing_run in run_report(LibraryRun(), REPORT, texts, PAGE[language])


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("bad.pdf", b"%PDF-1.7 no more", "damaged"),
        ("no.pdf", b"plain text", "damaged"),
        ("bad.docx", b"PK\x03\x04 no more", "damaged"),
        ("password.txt", b" \n", "empty"),
        ("old.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "protected"),
        ("binary.txt", bytes(range(256)) * 8, "encoding"),
        ("data.txt", b"x" * 600_000, "large"),
        ("big.txt", b"x y\n" * 300_000, "large"),
    ],
)
def test_why_a_file_cannot_be_read_is_told_in_words(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    from ingest.reading.loading import read_document

    (tmp_path / name).write_bytes(content)
    with pytest.raises(DocumentError) as raised:
        read_document(name, tmp_path / name, max_bytes=1_000_000)
    for language in Language:
        texts = LIBRARY_TEXTS[language]
        assert why_unread(raised.value.reason, texts) == getattr(texts, f"unread_{kind}")


def test_a_file_that_cannot_be_read_is_listed_until_it_is_removed(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    ingest(tmp_path, hash_embedder, {"zero.md": DOCUMENTS["zero.md"]})
    settings = library_settings(tmp_path).model_copy(update={"library": tmp_path / "own"})
    assistant, library = Assistant(settings, hash_embedder), Library(settings, hash_embedder)
    texts = LIBRARY_TEXTS[Language.ZH]

    def left(library: Library) -> list[Unread]:
        rows = rows_of(assistant.index, library.owns)
        return unread_of(library, rows, assistant.index.manifest.report, library.run().report)

    file = tmp_path / "bad.pdf"
    file.write_bytes(b"%PDF-1.7 no more")
    library.add("bad.pdf", file)
    assert texts.unread_yet in unread_list(left(library), texts, may_remove=True)
    library.add("zero.md", tmp_path / "documents" / "zero.md")
    until_idle(library)
    html = unread_list(left(library), texts, may_remove=True)
    assert texts.unread_damaged in html
    assert 'title="bad.pdf: is a damaged PDF file' in html
    assert 'data-action="discard" data-name="bad.pdf"' in html
    assert "zero.md" not in html
    assert "data-action" not in unread_list(left(library), texts, may_remove=False)
    later = Library(settings, hash_embedder)  # as after another start: the index tells what the last run said
    assert texts.unread_damaged in unread_list(left(later), texts, may_remove=True)
    library.remove("bad.pdf")
    assert unread_list(left(library), texts, may_remove=True) == ""


def until_idle(library: Any) -> None:
    assert library.sync()
    deadline = time.monotonic() + 60
    while library.run().under_way:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_own_documents_come_first_the_newest_in_front(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    ingest(tmp_path, hash_embedder, {"a.md": DOCUMENTS["zero.md"]})
    settings = library_settings(tmp_path).model_copy(update={"library": tmp_path / "own"})
    assistant, library = Assistant(settings, hash_embedder), Library(settings, hash_embedder)
    for age, name in enumerate(("z.md", "b.md")):
        library.add(name, tmp_path / "documents" / "a.md")
        os.utime(library.folder / name, (1_000_000 + age, 1_000_000 + age))
    until_idle(library)
    assert [row.name for row in rows_of(assistant.index, library.owns)] == ["own/b.md", "own/z.md", "a.md"]


def test_a_copy_says_of_what(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    """One's own of what was there before; and each is asked about by its name, which is never HTML."""
    ingest(tmp_path, hash_embedder, {"a.md": DOCUMENTS["zero.md"], "c.md": DOCUMENTS["rope.md"]})
    settings = library_settings(tmp_path).model_copy(update={"library": tmp_path / "own"})
    library = Library(settings, hash_embedder)
    library.add("copy.md", tmp_path / "documents" / "a.md")
    until_idle(library)
    rows = {row.name: row.same_as for row in rows_of(Assistant(settings, hash_embedder).index, library.owns)}
    assert rows == {"own/copy.md": "a.md", "a.md": "", "c.md": ""}
    texts = LIBRARY_TEXTS[Language.ZH]
    row = replace(ROW, name=f"{NASTY}.md", same_as=NASTY)
    html = table([row], texts, any_at_all=True, may_remove=True)
    assert "<img" not in html
    assert html.count('class="do-about-0" data-rest="&lt;img') == 1
    assert texts.same_as.format(other="&lt;img")[:8] in html


def test_a_root_that_is_a_file_has_a_date(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    file = tmp_path / "one.md"
    file.write_text(DOCUMENTS["zero.md"], encoding="utf-8")
    settings = library_settings(tmp_path)
    sync(settings, lambda: hash_embedder, [file], identity=hash_embedder.identity)
    index = open_index(settings.index)
    assert [row.changed is not None for row in rows_of(index, lambda root: False)] == [True]
    index.close()


@pytest.mark.parametrize("language", Language)
def test_only_what_happened_is_told_and_a_failure_once(language: Language) -> None:
    texts = LIBRARY_TEXTS[language]
    run = LibraryRun(ended=datetime(2026, 1, 2, 10, 23, tzinfo=UTC), report=REPORT)
    html = run_report(run, {}, texts, PAGE[language])
    assert texts.count_added.format(count=1) in html
    assert texts.count_moved.format(count=0) not in html
    assert texts.failed_heading in html
    below = run_report(run, {}, texts, PAGE[language], listed_below=Path("/secret"))
    assert texts.count_failed.format(count=1) in below
    assert texts.failed_heading not in below
    nothing = {**REPORT, "documents": {**REPORT["documents"], "added": 0, "failed": []}}
    assert texts.nothing_changed in run_report(LibraryRun(), nothing, texts, PAGE[language])


def test_folders_have_titles_that_their_root_gives_them(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    assert topic_titles([tmp_path]) == {}
    readme.write_text("---\ntopics:\n  lora: {zh: 微调, en: Tuning, de: x}\n  odd: 3\n---\n# text\n", encoding="utf-8")
    titles = topic_titles([tmp_path / "none", tmp_path])
    assert topic_title("lora", titles, Language.ZH) == "微调"
    assert topic_title("lora", titles, Language.EN) == "Tuning"
    assert topic_title("odd", titles, Language.ZH) == "odd"
    for broken in ("---\ntopics: [\n---\n", "---\ntopics: 1\n---\n", "---\nno end", "# none"):
        readme.write_text(broken, encoding="utf-8")
        assert topic_titles([tmp_path]) == {}


def test_the_folders_of_the_corpus_have_titles() -> None:
    titles = topic_titles([ROOT / "corpus"])
    folders = {file.parent.relative_to(ROOT / "corpus").as_posix() for file in (ROOT / "corpus").glob("*/*.md")}
    assert set(titles) == folders
    for language in Language:
        assert all(topic_title(folder, titles, language) != folder for folder in folders)


@pytest.mark.parametrize("reason", Unreadable)
def test_every_reason_has_words(reason: Unreadable) -> None:
    assert all(why_unread(reason, LIBRARY_TEXTS[language]) for language in Language)


@pytest.mark.parametrize("may_change", [True, False])
def test_only_those_who_may_change_the_documents_can_steer_what_is_read(
    assistant: Assistant, hash_embedder: HashEmbedder, tmp_path: Path, may_change: bool
) -> None:
    """The page has neither button nor switch for others, and what is sent past it does nothing."""
    library = Library(assistant.settings, hash_embedder, may_change=may_change)
    auto_update = AutoUpdate(assistant.settings, hash_embedder)
    page = built(assistant, Rooms(auto_update, library))
    named = {block.elem_id: block for block in page.blocks.values() if getattr(block, "elem_id", None)}
    assert named["library-refresh"].visible is may_change
    assert named["auto-update"].visible is may_change
    turn = next(call for call in page.fns.values() if call.name == "turn" and len(call.outputs) == 4)
    assert turn.fn is not None
    turn.fn(Session(), True)
    assert auto_update.status().on is may_change
    auto_update.stop()

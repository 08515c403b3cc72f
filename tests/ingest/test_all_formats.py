"""A folder of every format, hostile files among them: ingested, asked, and cited with pages."""

import os
import shutil
from pathlib import Path

import pytest

from ingest.sync import Report, sync
from rag.answer.assistant import Assistant
from rag.commands.output import answer_as_text
from rag.embedding import Embedder
from rag.index import open_index
from rag.settings import Settings
from rag.wire import answer_as_dict
from tests.paths import FORMATS as DATA
from tests.rag.library import library_settings


def ingest(settings: Settings, folder: Path, embedder: Embedder) -> Report:
    return sync(settings, lambda: embedder, [folder], identity=embedder.identity)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    for name in ("article.pdf", "columns.pdf", "deck.pptx", "methods.xlsx", "book.epub", "page.html", "pandoc.docx"):
        shutil.copy(DATA / name, folder)
    return folder


def test_the_rest_goes_on(tmp_path: Path, folder: Path, hash_embedder: Embedder) -> None:
    shutil.copy(DATA / "locked.pdf", folder)
    (folder / "fake.pdf").write_bytes(b"<html>")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04" + bytes(100))
    (folder / "notes.csv").write_text("术语,解释\n温度,除以它\n", encoding="utf-8")
    os.mkfifo(folder / "pipe.html")
    (folder / "away.html").symlink_to(DATA / "page.html")
    report = ingest(library_settings(tmp_path), folder, hash_embedder)
    assert report.documents.added == 8
    errors = [failure.error for failure in report.documents.failed]
    assert [error.split(": ")[0] for error in errors] == ["broken.docx", "fake.pdf", "locked.pdf"]
    assert "password-protected" in errors[2]
    assert [warning.message.rsplit(": ", 1)[-1] for warning in report.warnings] == [
        "a link that leads out of its root", "not an ordinary file",
    ]  # fmt: skip
    text = report.as_text()
    assert f"warning: {folder}/pipe.html: left out: not an ordinary file\n" in text
    told = [{"path": warning.path, "message": warning.message} for warning in report.warnings]
    assert report.as_dict()["warnings"] == told
    again = ingest(library_settings(tmp_path), folder, hash_embedder)
    assert (again.published, again.documents.unchanged) == (False, 8)


def test_citations_carry_pages(tmp_path: Path, folder: Path, hash_embedder: Embedder) -> None:
    settings = library_settings(tmp_path)
    ingest(settings, folder, hash_embedder)
    index = open_index(settings.index)
    pages = {name: index.storage.pages(name) for name in ("article.pdf", "deck.pptx", "page.html", "no.pdf")}
    assert (len(pages["article.pdf"]), len(pages["deck.pptx"]), pages["page.html"], pages["no.pdf"]) == (3, 3, (), ())
    index.close()
    for name in ("book.epub", "page.html", "pandoc.docx", "deck.pptx", "columns.pdf", "methods.xlsx"):
        (folder / name).unlink()
    ingest(settings, folder, hash_embedder)
    answer = Assistant(settings, hash_embedder).ask("Why does greedy decoding repeat itself?")
    cited = answer_as_dict(answer)["citations"]
    assert cited
    source = Assistant(settings, hash_embedder).source("article.pdf") or ""
    for citation in cited:
        assert source[citation["start"] : citation["end"]] == citation["quote"]
        assert citation["page"] == sum(border <= citation["start"] for border in pages["article.pdf"])
    assert {citation["page"] for citation in cited if "Greedy decoding" in citation["quote"]} == {3}
    assert "article.pdf p. 3 " in answer_as_text(answer)


def test_documents_without_pages_have_none(tmp_path: Path, hash_embedder: Embedder) -> None:
    settings = library_settings(tmp_path)
    (tmp_path / "documents").mkdir()
    shutil.copy(DATA / "page.html", tmp_path / "documents")
    ingest(settings, tmp_path / "documents", hash_embedder)
    answer = Assistant(settings, hash_embedder).ask("Why does greedy decoding repeat itself?")
    assert answer.citations
    assert all(citation.page is None for citation in answer.citations)

"""A BEIR set becomes an index by the command of users; what is kept is used again only where nothing changed."""

import os
from functools import cache
from pathlib import Path

import pytest

from ingest.reading.loading import read_document
from ingest.reading.registry import READERS
from rag.embedding import Embedder
from rag.errors import IngestError
from rag.evaluation.datasets import SourceDocument
from rag.evaluation.retrieval import indexing
from rag.evaluation.retrieval.indexing import (
    document_text,
    index_code,
    index_documents,
    ingest_folder,
    program_text,
    shaping,
)
from rag.index import open_index
from rag.settings import ChatModelName, Settings
from tests.paths import ROOT
from tests.rag.library import LORA, ZERO

DOCUMENTS = (SourceDocument("z/1", "ZeRO", ZERO), SourceDocument("lora", "", LORA))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The indexes that were asked for."""
    asked: list[Path] = []
    monkeypatch.setattr(indexing, "ingest_folder", lambda folder, settings: asked.append(settings.index))
    monkeypatch.setattr(indexing, "embedder_identity", lambda settings: settings.embedder)
    return asked


def test_the_documents_as_files(calls: list[Path], tmp_path: Path) -> None:
    indexed = index_documents(DOCUMENTS, Settings(), tmp_path)
    assert indexed.names == {"000000.md": "z/1", "000001.md": "lora"}
    [folder] = tmp_path.glob("*/documents")
    assert (folder / "000000.md").read_text(encoding="utf-8") == f"# ZeRO\n\n{ZERO}\n"
    assert (folder / "000001.md").read_text(encoding="utf-8") == f"\n{LORA}\n"
    assert calls == [indexed.settings.index]


def test_a_rule_at_the_start_is_not_front_matter(tmp_path: Path) -> None:
    text = "---\ntitle: 不是标题\n---\n正文。"
    (tmp_path / "a.md").write_text(document_text(SourceDocument("a", "", text)), encoding="utf-8")
    document = read_document("a.md", tmp_path / "a.md", max_bytes=1_000)
    assert (document.title, document.body_start) == ("", 0)


def test_a_title_is_one_line() -> None:
    assert document_text(SourceDocument("a", " 甲\n# 乙 ", "文")) == "# 甲 # 乙\n\n文\n"


def test_only_the_same_is_used_again(calls: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "program_text", cache(program_text))

    def ask(documents: tuple[SourceDocument, ...] = DOCUMENTS, settings: Settings | None = None) -> Path:
        index_documents(documents, settings or Settings(), tmp_path)
        return calls[-1]

    first = ask()
    assert ask() == first
    assert ask(settings=Settings(top_k=3, llm=ChatModelName.EXTRACTIVE, endpoint_url="http://localhost/v1")) == first
    others = [ask(DOCUMENTS[:1]), ask(DOCUMENTS[::-1]), ask(settings=Settings(passage_tokens=200))]
    others.append(ask(settings=Settings(embedder="another")))
    monkeypatch.setattr(indexing, "program_text", lambda: "a later version")
    others.append(ask())
    assert len({first, *others}) == 6


def test_the_code_that_makes_an_index_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Editing how passages are cut embeds anew, editing a prompt, the search or the page does not."""
    names = {file.relative_to(ROOT).as_posix() for file in index_code()}
    assert {
        "ingest/sync.py", "ingest/structure/passages.py", "ingest/prepare.py", "ingest/vectors.py",
        "ingest/reading/child.py", "ingest/formats/pdf/document.py", "rag/language/terms.py", "rag/index/keywords.py",
        "rag/embedding/encoder.py", "rag/embedding/load.py", "rag/models/e5.py", "rag/settings.py",
    } <= names  # fmt: skip
    after = ("rag/answer/", "rag/search/", "rag/question/", "rag/chat_models/", "rag/evaluation/", "rag/ui/")
    assert not [name for name in names if name.startswith(after)]
    before = program_text()
    monkeypatch.setattr(indexing, "index_code", lambda: [Path(__file__)])
    assert program_text() != before


def test_readers_of_formats_are_among_them() -> None:
    files = [file.relative_to(ROOT / "ingest") for file in index_code() if file.is_relative_to(ROOT / "ingest")]
    names = {".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files}
    assert {f"formats.{reader.partition(':')[0]}" for reader in READERS.values()} <= names


def test_what_shapes_an_index() -> None:
    assert set(shaping(Settings())) == {
        "embedder", "precision", "passage_tokens", "late_interaction", "max_file_megabytes", "ocr"
    }  # fmt: skip


def test_an_ingest_that_fails_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    (tmp_path / "documents").mkdir()
    settings = Settings(index=tmp_path / "index", models=tmp_path / "models")
    with pytest.raises(IngestError, match=r"cannot be ingested: the root .* holds no") as caught:
        ingest_folder(tmp_path / "documents", settings)
    assert "--allow-empty" in caught.value.hint
    monkeypatch.setattr("sys.executable", "/bin/false")
    with pytest.raises(IngestError, match="exit code 1"):
        ingest_folder(tmp_path / "documents", settings)


@pytest.mark.slow
def test_the_real_thing(
    tmp_path: Path, embedder: Embedder, model_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own process, the real embedder; an empty document is left out, and the settings reach the process."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))))
    documents = (*DOCUMENTS, SourceDocument("empty", "", ""), SourceDocument("again", "ZeRO", ZERO))
    settings = model_settings.model_copy(update={"passage_tokens": 128})
    indexed = index_documents(documents, settings, tmp_path)
    index = open_index(indexed.settings.index, embedder=embedder.identity)
    assert index.manifest.settings["passage_tokens"] == 128
    assert {indexed.names[document.name] for document in index.storage.documents()} == {"z/1", "lora", "again"}
    generation = index.manifest.generation
    assert index.manifest.report["passages"]["embedded"] == index.manifest.passages > 2
    index.close()
    assert index_documents(documents, settings, tmp_path) == indexed
    assert open_index(indexed.settings.index).manifest.generation == generation

"""Answers from some documents only: what is outside is no candidate, and the refusal says what was searched."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.embedding import Embedder
from rag.errors import UsageError
from rag.index import Index, open_index
from rag.index.part import check_names, part_of
from rag.index.vectors import Vectors, build_proposals
from rag.search.retrieval import search
from rag.wire import answer_as_dict
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, QUANTIZATION, ingest, library_settings

QUESTION = "W4A16 是什么意思？"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, hash_embedder: HashEmbedder) -> Iterator[Index]:
    """The library, and in two folders a page that says the same and one that speaks of it."""
    folder = tmp_path_factory.mktemp("scope")
    (folder / "documents" / "quant").mkdir(parents=True)
    source = folder / "documents"
    for name, text in {**DOCUMENTS, "quant/own.md": "# 早停是什么？\n\n早停在验证集损失不再下降时停止训练。\n"}.items():
        (source / name).write_text(text, encoding="utf-8")
    from ingest.sync import sync

    sync(library_settings(folder), lambda: hash_embedder, [source], identity=hash_embedder.identity)
    index = open_index(folder / "index")
    yield index
    index.close()


def documents(index: Index, embedder: Embedder, question: str, k: int = 10) -> set[str]:
    return {hit.passage.document for hit in search(index, embedder, question, k=k).hits}


def test_only_what_is_named_is_found(index: Index, hash_embedder: HashEmbedder) -> None:
    assert len(documents(index, hash_embedder, QUESTION)) > 2
    assert documents(part_of(index, ["zero.md"]), hash_embedder, QUESTION) == {"zero.md"}
    assert documents(part_of(index, ["quant/"]), hash_embedder, QUESTION) == {"quant/own.md"}
    both = part_of(index, ["quant/", "rope.md"])
    assert documents(both, hash_embedder, "位置 RoPE 早停", k=20) == {"quant/own.md", "rope.md"}
    assert part_of(index, []) is index
    assert both.vocabulary is index.vocabulary
    # Nor is it read by who asks for it by its name, as an agent may.
    assert (both.storage.source("zero.md"), both.storage.document_numbers("zero.md")) == (None, [])
    assert both.storage.source("rope.md")
    assert {document.name for document in both.storage.summaries()} == {"quant/own.md", "rope.md"}
    assert {document.name for document in both.storage.documents()} == {"quant/own.md", "rope.md"}


def test_what_is_inside_is_ranked_as_many_as_there_are(index: Index, hash_embedder: HashEmbedder) -> None:
    """Filtered before ranking: however far the best of it lies behind others, it is found."""
    part = part_of(index, ["lora.txt"])
    assert part.within is not None
    hits = search(part, hash_embedder, QUESTION, k=1).hits
    assert [hit.passage.document for hit in hits] == ["lora.txt"]
    hits = search(part, hash_embedder, QUESTION, k=50).hits
    assert {hit.passage.number for hit in hits} == set(part.within.tolist())


def test_a_passage_of_several_documents_is_cited_from_the_one_that_is_named(
    index: Index, hash_embedder: HashEmbedder
) -> None:
    """`formats.md` says the same as `quantization.md`, which holds the passage in one of them only."""
    for name in ("formats.md", "quantization.md"):
        part = part_of(index, [name])
        hits = search(part, hash_embedder, QUESTION).hits
        assert {hit.passage.document for hit in hits} == {name}
        assert all(place.document == name for hit in hits for place in hit.passage.also_in)
        source = index.storage.source(name) or ""
        held = hits[0].passage
        assert "激活仍用 16 位浮点数计算" in source[held.start : held.end]
    assert "激活仍用 16 位浮点数计算" in QUANTIZATION


def test_names_of_nothing(index: Index, hash_embedder: HashEmbedder) -> None:
    assert search(part_of(index, ["gone.md"]), hash_embedder, QUESTION).hits == ()
    check_names(index, ["zero.md", "quant/"])
    check_names(index, [])
    for name in ("gone.md", "zero", "quan/", "/", ""):
        with pytest.raises(UsageError, match="no document or folder") as caught:
            check_names(index, [name])
        assert "quant/" in str(caught.value.hint)


def test_an_answer_and_a_refusal_of_a_part(own_library: Path, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library_settings(own_library), hash_embedder)
    zero = assistant.choosing(Choices(only=("zero.md",)))
    answer = zero.ask("ZeRO-2 和 ZeRO-3 差在哪？")
    assert {citation.document for citation in answer.citations} == {"zero.md"}
    for only in (("gone.md",), ("lora.txt", "gone/")):
        refused = assistant.choosing(Choices(only=only)).ask("梯度 Zyxwv-77 的裁剪阈值？")
        assert refused.refusal is not None
        assert refused.refusal.only == only
        assert all(name in refused.text for name in only)
        assert answer_as_dict(refused)["refusal"]["only"] == list(only)
    assert assistant.choosing(Choices(only=("gone.md",))).ask("ZeRO-2 和 ZeRO-3 差在哪？").refused
    assert not assistant.ask("ZeRO-2 和 ZeRO-3 差在哪？").refused


def test_a_part_follows_the_index(own_library: Path, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library_settings(own_library), hash_embedder).choosing(Choices(only=("new.md",)))
    assert not assistant.search("早停是什么？").hits
    part = assistant.resources.index
    assert assistant.resources.index is part
    ingest(own_library, hash_embedder, {**DOCUMENTS, "new.md": "# 早停是什么？\n\n早停在损失不再下降时停止训练。\n"})
    assert {hit.passage.document for hit in assistant.search("早停是什么？").hits} == {"new.md"}


@pytest.mark.parametrize("flat", [True, False])
def test_the_nearest_within_are_exact(flat: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import faiss

    monkeypatch.setattr("rag.index.vectors.WITHIN_AT_ONCE", 7)
    random = np.random.default_rng(5)
    rows = random.standard_normal((400, 32)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    index = faiss.IndexFlatIP(32) if flat else build_proposals(rows)
    if flat:
        index.add(rows)
    within = np.unique(random.integers(0, 400, 60))
    numbers, cosines = Vectors(rows, index).search(rows[3], 10, within)
    expected = within[np.argsort(-(rows[within] @ rows[3]), kind="stable")[:10]]
    assert numbers.tolist() == expected.tolist()
    np.testing.assert_allclose(cosines, rows[expected] @ rows[3], atol=1e-6)
    assert Vectors(rows, index).search(rows[3], 10, within[:0])[0].tolist() == []


APART, TOGETHER = (unicodedata.normalize(form, "Résumé café.md") for form in ("NFD", "NFC"))


@pytest.mark.parametrize(("stored", "asked"), [(APART, TOGETHER), (TOGETHER, APART), (APART, APART)])
def test_a_name_is_found_however_its_accents_are_typed(
    tmp_path: Path, hash_embedder: HashEmbedder, stored: str, asked: str
) -> None:
    folder = unicodedata.normalize("NFD" if stored == APART else "NFC", "été")
    text = "# 早停是什么？\n\n早停在验证集损失不再下降时停止训练。\n"
    for name in (stored, f"{folder}/{stored}"):
        (tmp_path / "documents" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "documents" / name).write_text(text, encoding="utf-8")
    from ingest.sync import sync

    settings = library_settings(tmp_path)
    sync(settings, lambda: hash_embedder, [tmp_path / "documents"], identity=hash_embedder.identity)
    index = open_index(settings.index)
    check_names(index, [asked, f"été/{asked}", "été/", unicodedata.normalize("NFD", "été/")])
    assert documents(part_of(index, [asked]), hash_embedder, "早停") == {stored}
    assert documents(part_of(index, ["été/"]), hash_embedder, "早停") == {f"{folder}/{stored}"}
    assert Assistant(settings, hash_embedder).source(f"été/{asked}") == text
    assert Assistant(settings, hash_embedder).source("Resume cafe.md") is None
    index.close()

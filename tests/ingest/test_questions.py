"""What a page says it is also asked as has a vector for each way, and finds the page."""

from pathlib import Path

import numpy as np
import pytest

from ingest.sync import sync
from rag.index.generation import DiskIndex, open_index
from rag.index.questions import questions_of
from rag.search.retrieval import search
from rag.settings import Settings
from tests.conftest import HashEmbedder

PAGE = """---
title: 梯度裁剪是什么？
asked_as:
  - 梯度爆炸怎么办
  - What is gradient clipping?
---
# 梯度裁剪是什么？

## 一句话回答
把过长的梯度按比例缩短，训练就不会发散。

## English
### What does clipping do?
It scales a gradient that is too long.

### Is it always needed?
No, small models often train without it.
"""
OTHER = "# 梯度爆炸怎么办\n\n梯度爆炸怎么办，这里不说。\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "clipping.md").write_text(PAGE, encoding="utf-8")
    (folder / "other.md").write_text(OTHER, encoding="utf-8")
    return folder


def made(docs: Path, index: Path, embedder: HashEmbedder) -> DiskIndex:
    settings = Settings(index=index)
    sync(settings, lambda: embedder, [docs], identity=embedder.identity)
    return open_index(settings.index)


def test_each_way_speaks_for_the_passage_in_its_language(
    docs: Path, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    index = made(docs, tmp_path / "index", hash_embedder)
    asked = questions_of(index.storage.documents(with_passages=True))
    passages = index.storage.passages(list(asked))
    assert [(passage.section[-1], ways) for passage, ways in zip(passages, asked.values(), strict=True)] == [
        ("一句话回答", ("梯度裁剪是什么？", "梯度爆炸怎么办", "What is gradient clipping?")),
        ("What does clipping do?", ("What is gradient clipping?",)),
    ]
    assert index.questions is not None
    for number, ways in asked.items():
        vectors = np.stack([hash_embedder.encode_queries([way])[0].vector for way in ways])
        np.testing.assert_allclose(index.questions.of(number), vectors, atol=1e-6)


def test_a_question_finds_the_page_that_is_asked_so(docs: Path, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    """The other page says the very words; this one is known to answer them."""
    index = made(docs, tmp_path / "index", hash_embedder)
    best = search(index, hash_embedder, "梯度爆炸怎么办").hits[0].passage
    assert best.document == "clipping.md"
    english = search(index, hash_embedder, "What is gradient clipping?").hits[0].passage
    assert english.section[-1] == "What does clipping do?"


def test_an_index_brought_up_to_date_has_the_questions_of_a_new_one(
    docs: Path, tmp_path: Path, hash_embedder: HashEmbedder
) -> None:
    made(docs, tmp_path / "index", hash_embedder).close()
    (docs / "a.md").write_text(PAGE.replace("裁剪", "截断"), encoding="utf-8")
    (docs / "clipping.md").write_text(PAGE.replace("梯度爆炸怎么办", "梯度太大怎么办"), encoding="utf-8")
    updated = made(docs, tmp_path / "index", hash_embedder)
    new = made(docs, tmp_path / "new", hash_embedder)
    assert updated.questions is not None
    assert new.questions is not None
    np.testing.assert_array_equal(updated.questions.numbers, new.questions.numbers)
    np.testing.assert_array_equal(updated.questions.vectors, new.questions.vectors)


def test_a_library_that_names_no_questions_has_none(docs: Path, tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    (docs / "clipping.md").unlink()
    assert made(docs, tmp_path / "index", hash_embedder).questions is None

"""Labels that draw a question to a page that another one answers."""

from pathlib import Path

from rag.answer.assistant import Assistant
from rag.index import open_index
from tests.conftest import HashEmbedder
from tests.rag.library import ingest, library_settings
from tools.labels import Drawn, drawn_elsewhere, labels_of

CACHE = """---
title: What is a KV cache?
asked_as: [keys and values kept]
---
# What is a KV cache?

A KV cache keeps the keys and values of all layers.
"""
PAGED = """---
title: What is paging?
asked_as: [KV cache keeps keys and values of all layers]
---
# What is paging?

Paging cuts memory into blocks.
"""


def test_a_label_of_another_page_is_listed(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    ingest(tmp_path, hash_embedder, {"cache.md": CACHE, "paged.md": PAGED})
    index = open_index(tmp_path / "index")
    labels = labels_of(index)
    assert ("paged.md", "KV cache keeps keys and values of all layers") in labels
    assert len(labels) == 4
    assistant = Assistant(library_settings(tmp_path), hash_embedder, index=index)
    assert list(drawn_elsewhere(assistant, labels)) == [
        Drawn("paged.md", "KV cache keeps keys and values of all layers", "cache.md")
    ]

"""A review of documents that are given as text."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from rag.index import Index, open_index
from rag.review.report import Review, review
from tests.conftest import HashEmbedder
from tests.rag.library import ingest

Reviewing = Callable[[Mapping[str, str]], Review]


@pytest.fixture
def reviewing(tmp_path: Path, hash_embedder: HashEmbedder) -> Iterator[Reviewing]:
    opened: list[Index] = []

    def over(documents: Mapping[str, str]) -> Review:
        ingest(tmp_path, hash_embedder, documents, allow_empty=True)
        opened.append(open_index(tmp_path / "index"))
        return review(opened[-1])

    yield over
    for index in opened:
        index.close()

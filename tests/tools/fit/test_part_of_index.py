"""A part of an index against what an ingest of those documents alone makes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rag.index import DiskIndex, open_index
from rag.search.retrieval import search
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, ingest, library_settings
from tools.fit.part_of_index import part_of


@pytest.mark.parametrize("dropped", [{"rope.md"}, {"quantization.md"}, {"lora.txt", "zero.md"}, set()])
def test_a_part_is_what_an_ingest_of_it_makes(
    dropped: set[str], tmp_path: Path, library_index: DiskIndex, hash_embedder: HashEmbedder
) -> None:
    kept = {name: text for name, text in DOCUMENTS.items() if name not in dropped}
    ingest(tmp_path, hash_embedder, kept)
    alone = open_index(library_settings(tmp_path).index)
    part = part_in(tmp_path / "part", library_index, dropped)
    assert [document.name for document in part.storage.documents()] == sorted(kept)
    numbers = range(len(alone.vectors))
    assert part.storage.passages(numbers) == alone.storage.passages(numbers)
    assert part.vectors.all().tolist() == alone.vectors.all().tolist()
    assert part.keywords.terms() == alone.keywords.terms()
    assert part.keywords.weights.tolist() == alone.keywords.weights.tolist()
    assert part.tokens is not None
    assert alone.tokens is not None
    assert part.tokens.vocabulary.tolist() == alone.tokens.vocabulary.tolist()
    assert part.tokens.frequencies.tolist() == alone.tokens.frequencies.tolist()
    for question in ("LoRA 为什么能省显存？", "W4A16", "RoPE 怎么外推"):
        found, expected = (search(index, hash_embedder, question) for index in (part, alone))
        assert found.candidates is not None
        assert expected.candidates is not None
        assert found.candidates.cosines.max() == expected.candidates.cosines.max()
        # The vectors of tokens are coded about the centre of the whole index, which moves a code or two.
        encoded = hash_embedder.encode_queries([question])[0]
        apart = part.tokens.scores(encoded, list(numbers)) - alone.tokens.scores(encoded, list(numbers))
        assert np.abs(apart).max() < 0.05
    part.close()
    alone.close()


def test_a_repeat_takes_the_place_of_what_is_dropped(
    tmp_path: Path, library_index: DiskIndex, hash_embedder: HashEmbedder
) -> None:
    """quantization.md and formats.md say the same, and the passage of formats.md is the one that has a number."""
    part = part_in(tmp_path / "part", library_index, {"formats.md"})
    [hit] = [hit for hit in search(part, hash_embedder, "W4A16").hits if "W4A16" in hit.passage.title]
    assert hit.passage.document == "quantization.md"
    assert hit.passage.also_in == ()
    assert len(part.vectors) == len(library_index.vectors)
    part.close()


def test_without_vectors_of_tokens_a_part_has_none(tmp_path: Path, library_index: DiskIndex) -> None:
    part = part_in(tmp_path / "part", replace(library_index, tokens=None), {"rope.md"})
    assert part.tokens is None
    assert len(part.vectors) < len(library_index.vectors)
    part.close()


def part_in(folder: Path, index: DiskIndex, dropped: set[str]) -> DiskIndex:
    folder.mkdir()
    return part_of(index, dropped, folder)

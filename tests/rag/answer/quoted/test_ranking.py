"""Sections in the order in which they answer."""

from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from rag.answer.quoted.ranking import WEIGHTS_OF, SectionFeatures, rank
from rag.index import Index, open_index
from rag.search.retrieval import Evidence, search
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, ROPE, ingest

QUESTION = "RoPE 为什么能外推？"


def test_the_best_comes_first(library_index: Index, hash_embedder: HashEmbedder) -> None:
    found = rank(library_index, hash_embedder, search(library_index, hash_embedder, QUESTION))
    assert found.query == QUESTION
    assert list(found.scores) == sorted(found.scores, reverse=True)
    assert len(found.sections) == len(found.scores) > 3
    assert len({section.document for section in found.sections}) > 1


def test_of_one_page_only(library_index: Index, hash_embedder: HashEmbedder) -> None:
    found = rank(library_index, hash_embedder, search(library_index, hash_embedder, QUESTION), pages=1)
    assert {section.document for section in found.sections} == {"rope.md"}


def test_nothing_found_ranks_nothing(library_index: Index, hash_embedder: HashEmbedder) -> None:
    found = rank(library_index, hash_embedder, Evidence(QUESTION, ()))
    assert (found.query, found.sections, found.scores) == (QUESTION, (), ())


@pytest.mark.parametrize(
    ("question", "document", "heading"),
    [
        ("为什么能外推", "rope.md", "一句话回答"),  # what the page is titled, and the section does not say
        ("为什么能省显存", "lora.txt", "1、LoRA 为什么能省显存？"),
    ],
)
def test_what_a_section_answers_counts_as_said_by_it(
    question: str,
    document: str,
    heading: str,
    library_index: Index,
    hash_embedder: HashEmbedder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nothing = SectionFeatures(**dict.fromkeys((field.name for field in fields(SectionFeatures)), 0.0))
    monkeypatch.setitem(WEIGHTS_OF, library_index.manifest.embedder_name, replace(nothing, likeness=1.0))
    found = rank(library_index, hash_embedder, search(library_index, hash_embedder, question))
    assert (found.sections[0].document, found.sections[0].heading) == (document, heading)


def test_a_page_is_known_by_its_title_its_tags_and_other_ways_to_ask(
    own_library: Path, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    front_matter = "---\ntags: [旋转位置]\nasked_as: [长度外推靠什么]\n---\n"
    ingest(own_library, hash_embedder, DOCUMENTS | {"rope.md": front_matter + ROPE})
    nothing = SectionFeatures(**dict.fromkeys((field.name for field in fields(SectionFeatures)), 0.0))
    with closing(open_index(own_library / "index")) as index:
        assert index.storage.known_as("rope.md")[1:] == ("旋转位置", "长度外推靠什么")
        monkeypatch.setitem(WEIGHTS_OF, index.manifest.embedder_name, replace(nothing, known_as=1.0))
        for question in ("RoPE 为什么能外推", "旋转位置 LoRA 梯度", "长度外推靠什么"):
            found = rank(index, hash_embedder, search(index, hash_embedder, question))
            assert {s.document for s, score in zip(found.sections, found.scores, strict=True) if score} == {"rope.md"}
        found = rank(index, hash_embedder, search(index, hash_embedder, "zzz"))
        assert not any(found.scores)  # nothing that is asked is in any name


def test_an_embedder_has_weights_of_its_own(
    library_index: Index, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = SectionFeatures(**dict.fromkeys((field.name for field in fields(SectionFeatures)), 0.0))
    monkeypatch.setitem(WEIGHTS_OF, library_index.manifest.embedder_name, replace(nothing, cosine=1.0))
    evidence = search(library_index, hash_embedder, QUESTION)
    found = rank(library_index, hash_embedder, evidence)
    vector = hash_embedder.embed_query(QUESTION)
    cosines = [
        float(np.mean(library_index.vectors.rows(sorted(section.passages)) @ vector)) for section in found.sections
    ]
    assert cosines == sorted(cosines, reverse=True)
    assert found.scores[0] == 0
    assert found.scores[-1] == pytest.approx(cosines[-1] - cosines[0], abs=1e-5)
    assert min(cosines) < max(cosines)

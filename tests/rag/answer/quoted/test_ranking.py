"""Sections in the order in which they answer."""

from rag.answer.quoted.ranking import rank
from rag.index import Index
from rag.search.retrieval import Evidence, search
from tests.conftest import HashEmbedder

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

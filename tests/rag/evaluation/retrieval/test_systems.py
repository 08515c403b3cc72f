"""The compared systems: our own parts, LangChain's as baselines, and how their passages become documents."""

import sys
from collections.abc import Sequence

import numpy as np
import pytest

from rag.answer.assistant import Assistant
from rag.errors import UsageError
from rag.evaluation.retrieval.embedding_cache import CachedEmbedder
from rag.evaluation.retrieval.langchain_systems import LangChainEmbeddings, cut_to_fit
from rag.evaluation.retrieval.system_interface import RetrievedPassage, SystemInputs, document_ranking, retrieve
from rag.evaluation.retrieval.systems import DEFAULT, SYSTEMS, choose, is_baseline
from rag.search.retrieval import Proposals, search
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS

QUESTION = "LoRA 的秩怎么选？"


@pytest.fixture(scope="module")
def inputs(library: Settings, hash_embedder: HashEmbedder) -> SystemInputs:
    cached = CachedEmbedder(hash_embedder)
    return SystemInputs(Assistant(library, cached), cached, DOCUMENTS, {name: f"id of {name}" for name in DOCUMENTS})


@pytest.fixture(scope="module")
def plain_bench(inputs: SystemInputs) -> SystemInputs:
    return SystemInputs(inputs.assistant, inputs.embedder, DOCUMENTS, {name: name for name in DOCUMENTS})


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_finds_the_answer_and_stops_at_the_end(name: str, plain_bench: SystemInputs) -> None:
    system = SYSTEMS[name](plain_bench)
    everything = system("RoPE LoRA 的秩怎么选？", 1_000)
    assert "lora.txt" in document_ranking(everything)
    assert len(everything) < 1_000
    assert set(document_ranking(everything)) <= set(DOCUMENTS)
    assert list(system("RoPE LoRA 的秩怎么选？", 2)) == list(everything[:2])


def test_ours_is_the_search_of_users(inputs: SystemInputs) -> None:
    found = SYSTEMS["ours"](inputs)(QUESTION, 5)
    hits = search(inputs.assistant.index, HashEmbedder(), QUESTION, k=5).hits
    assert [passage.text for passage in found] == [hit.passage.text for hit in hits]
    assert [passage.documents[0] for passage in found] == [f"id of {hit.passage.document}" for hit in hits]


def test_dense_and_keyword_are_its_two_sides(inputs: SystemInputs) -> None:
    hits = search(inputs.assistant.index, HashEmbedder(), QUESTION, k=20).hits
    for name, side in (("dense", "dense"), ("keyword", "keyword")):
        ranks = {getattr(hit, side).rank: hit.passage.text for hit in hits if getattr(hit, side)}
        assert len(ranks) >= 3
        found = SYSTEMS[name](inputs)(QUESTION, max(ranks))
        assert {rank: found[rank - 1].text for rank in ranks} == ranks


def test_reciprocal_rank_fusion(inputs: SystemInputs) -> None:
    dense, keyword, fused = (SYSTEMS[name](inputs)(QUESTION, 20) for name in ("dense", "keyword", "rrf"))
    score = {
        passage.text: sum(1 / (60 + ranking.index(passage) + 1) for ranking in (dense, keyword) if passage in ranking)
        for passage in {*dense, *keyword}
    }
    assert [score[passage.text] for passage in fused] == sorted(score.values(), reverse=True)


def test_fused_by_hand_with_ties(inputs: SystemInputs, monkeypatch: pytest.MonkeyPatch) -> None:
    """2 is third on both sides, 2 / 63 = .0317; 4 and 5 are first on one, 1 / 61 = .0164; 1 and 3 second, 1 / 62.

    Equal scores stand in the order of the index.
    """

    def side(*numbers: int) -> Proposals:
        return Proposals(np.asarray(numbers, np.int64), np.ones(len(numbers), np.float32))

    monkeypatch.setattr("rag.evaluation.retrieval.systems.search_dense", lambda *_: side(5, 1, 2))
    monkeypatch.setattr("rag.evaluation.retrieval.systems.search_keyword", lambda *_: side(4, 3, 2))
    expected = inputs.assistant.index.storage.passages([2, 4, 5, 1, 3])
    assert [passage.text for passage in SYSTEMS["rrf"](inputs)(QUESTION, 5)] == [p.text for p in expected]


def test_a_passage_counts_for_all_documents_that_have_it(inputs: SystemInputs) -> None:
    """quantization.md and formats.md say the same; the index keeps one passage of it."""
    found = SYSTEMS["keyword"](inputs)("W4A16 权重用 4 位整数保存", 3)
    assert set(found[0].documents) == {"id of quantization.md", "id of formats.md"}
    assert set(document_ranking(found)[:2]) == set(found[0].documents)


def ranked(*documents: str) -> list[RetrievedPassage]:
    return [RetrievedPassage(f"text {number}", (document,)) for number, document in enumerate(documents)]


def test_documents_stand_where_their_first_passage_stands() -> None:
    assert document_ranking(
        [RetrievedPassage("1", ("b", "a")), RetrievedPassage("2", ("b",)), RetrievedPassage("3", ("c", "a"))]
    ) == ["b", "a", "c"]
    assert document_ranking([]) == []


class Recording:
    """A system that gives what it has, in an order that a longer search may change."""

    def __init__(self, passages: Sequence[RetrievedPassage]) -> None:
        self.passages = passages
        self.asked: list[int] = []

    def __call__(self, question: str, count: int) -> list[RetrievedPassage]:
        self.asked.append(count)
        found = list(self.passages[:count])
        return found if len(self.asked) == 1 else found[::-1]


def test_more_passages_are_asked_for_until_ten_documents_are_there() -> None:
    system = Recording(ranked(*["a"] * 12, *"bcdefghijklm"))
    found = retrieve(system, "?", first=5)
    assert system.asked == [5, 20, 80]
    assert found[:5] == system.passages[:5]  # what a user gets stays in front
    assert len(found) == 24


def test_no_more_than_needed() -> None:
    system = Recording(ranked(*"abcdefghijklmnop"))
    assert len(retrieve(system, "?", first=10)) == 10
    assert system.asked == [10]
    assert len(retrieve(Recording(ranked(*"abcdefghijklmnop")), "?", first=10, characters=100)) == 16


def test_a_search_without_results() -> None:
    system = Recording([])
    assert retrieve(system, "?", first=10, characters=3_000) == []
    assert system.asked == [10]


def test_what_is_too_long_for_the_model_is_cut_where_it_must(hash_embedder: HashEmbedder) -> None:
    long = "长" * 2_000
    short, cut, empty = cut_to_fit(["短", long, ""], hash_embedder)
    assert (short, empty) == ("短", "")
    # The hash embedder counts 2 and a token for a Chinese character: 510 characters are 512 tokens.
    assert cut == long[:510]


def test_langchain_gets_our_vectors(hash_embedder: HashEmbedder) -> None:
    embeddings = LangChainEmbeddings(hash_embedder)
    assert embeddings.embed_query("甲\n乙") == hash_embedder.embed_query("甲 乙").tolist()
    assert embeddings.embed_documents(["甲\n乙", "丙"]) == hash_embedder.embed_passages(["甲 乙", "丙"]).tolist()


def test_the_default_tokenizer_of_bm25_is_blind_to_chinese(plain_bench: SystemInputs) -> None:
    """Between blanks there is one word, the whole question; jieba's words and bigrams find what it misses."""
    first = {
        name: document_ranking(SYSTEMS[name](plain_bench)("秩太小会怎样", 1))
        for name in ("langchain-bm25", "langchain-bm25-jieba", "langchain-bm25-bigrams")
    }
    assert first["langchain-bm25-jieba"] == first["langchain-bm25-bigrams"] == ["lora.txt"]
    assert first["langchain-bm25"] != ["lora.txt"]


def test_a_missing_extra_says_what_to_install(inputs: SystemInputs, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, systems in {
        "langchain_community.vectorstores": ["langchain", "langchain-chinese"],
        "langchain_community.retrievers": ["langchain-bm25"],
        "rank_bm25": ["langchain-bm25"],
        "rjieba": ["langchain-bm25-jieba"],
    }.items():
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            for system in systems:
                with pytest.raises(UsageError, match="not installed") as caught:
                    SYSTEMS[system](inputs)
                assert caught.value.hint == 'pip install "interview-rag[evaluation]"'


def test_choosing() -> None:
    assert choose(None) == DEFAULT
    assert choose("all") == tuple(SYSTEMS)
    assert choose("dense, ours,dense") == ["dense", "ours"]
    for names in ("dence", "", "ours,nothing", "all,nothing"):
        with pytest.raises(UsageError, match="there is no system") as caught:
            choose(names)
        assert "langchain-bm25" in caught.value.hint


def test_variants_of_ours_are_no_baselines() -> None:
    ours = [name for name in SYSTEMS if not is_baseline(name)]
    assert set(ours) >= {"ours", "ours-without-tokens"}
    assert all(name.startswith("ours") for name in ours)

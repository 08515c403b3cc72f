"""Retrieval: both sides, their fusion, and that every hit says truly how it was found."""

import gc
import math
import weakref
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag.embedding import Embedder, Encoded
from rag.index import DiskIndex, Index, open_index
from rag.index.keywords import KeywordScores
from rag.language.terms import terms
from rag.search.fusion import FusionWeights, spread, weighted_mean
from rag.search.retrieval import CANDIDATES, Candidates, merge, propose, search, search_dense, search_keyword
from rag.search.searcher import Searcher
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS, ingest, library_settings

QUESTIONS = [
    "RoPE 为什么能外推？",
    "find_unused_parameters",
    "ZeRO-2 和 ZeRO-3 差在哪",
    "Why loss scaling?",
    "C++ 反量化",
    "完全无关的天气",
    "?!",
]


def late_interaction(index: DiskIndex, embedder: HashEmbedder, question: str) -> NDArray[np.float32]:
    """Token by token in plain loops, over the vectors as they were before they were coded."""
    stored = [p for d in index.storage.documents(with_passages=True) for p in d.passages if p.number is not None]
    passages = embedder.encode_queries([p.embedded_text for p in sorted(stored, key=lambda p: p.number or 0)])
    (asked,) = embedder.encode_queries([question])
    weights = []
    for token in asked.token_ids:
        holding = sum(token in passage.token_ids for passage in passages)
        weights.append(math.log(1 + (len(passages) - holding + 0.5) / (holding + 0.5)))
    scores = [
        sum(weight * max(passage.tokens @ token) for weight, token in zip(weights, asked.tokens, strict=True))
        for passage in passages
    ]
    return np.asarray(scores, np.float32) / sum(weights)


@pytest.mark.parametrize("by_token", [False, True])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_order_is_that_of_a_plain_reimplementation(
    question: str, by_token: bool, library_index: DiskIndex, hash_embedder: HashEmbedder
) -> None:
    """Fewer passages than candidates: all compete, so numbers alone say what must come out."""
    count = library_index.manifest.passages
    assert count < CANDIDATES
    by_token = by_token and bool(terms(question))
    cosines = library_index.vectors.all() @ hash_embedder.embed_query(question)
    keyword = library_index.keywords.scores(terms(question)) / max(
        library_index.keywords.ceiling(terms(question)), 1e-6
    )
    likeness = cosines if not by_token else late_interaction(library_index, hash_embedder, question)
    if not by_token:
        likeness = (likeness - likeness.min()) / (likeness.max() - likeness.min())
    cosine_weight = 0.4 if by_token else 0
    fused = (likeness + 0.7 * keyword + cosine_weight * cosines) / (1 + 0.7 + cosine_weight)
    ranking = FusionWeights(by_token=by_token, spread_weight=0.7, token_weight=0.7, cosine_weight=0.4)
    evidence = search(library_index, hash_embedder, question, k=count, ranking=ranking)
    assert len(evidence.hits) == count
    numbers = [hit.passage.number for hit in evidence.hits]
    np.testing.assert_allclose([hit.score for hit in evidence.hits], fused[numbers], atol=0.035 if by_token else 2e-6)
    assert sorted(numbers) == list(range(count))
    scores = [hit.score for hit in evidence.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert evidence.candidates is not None
    assert evidence.candidates.cosines.max() == pytest.approx(cosines.max(), abs=1e-5)


@pytest.mark.parametrize("question", QUESTIONS)
def test_found_by_is_the_rank_on_each_side(
    question: str, library_index: DiskIndex, hash_embedder: HashEmbedder
) -> None:
    cosines = library_index.vectors.all() @ hash_embedder.embed_query(question)
    keyword = library_index.keywords.scores(terms(question))
    by_cosine = sorted(range(len(cosines)), key=lambda number: (-cosines[number], number))
    by_keyword = sorted(np.flatnonzero(keyword).tolist(), key=lambda number: (-keyword[number], number))
    hits = search(library_index, hash_embedder, question).hits
    assert len(hits) >= 5
    for place, hit in enumerate(hits, start=1):
        number = hit.passage.number
        assert hit.rank == place
        assert hit.dense is not None
        assert hit.dense.rank == by_cosine.index(number) + 1
        assert hit.dense.score == pytest.approx(cosines[number], abs=2e-6)
        if number in by_keyword:
            assert hit.keyword is not None
            assert hit.keyword.rank == by_keyword.index(number) + 1
            assert hit.keyword.score == pytest.approx(keyword[number], abs=2e-6)
        else:
            assert hit.keyword is None


def test_a_blind_keyword_side_adds_nothing(library_index: DiskIndex, hash_embedder: HashEmbedder) -> None:
    evidence = search(library_index, hash_embedder, "zzz qqq", ranking=FusionWeights(by_token=False))
    assert evidence.candidates is not None
    assert not evidence.candidates.shares.any()
    ranks = [hit.dense.rank for hit in evidence.hits if hit.dense]
    assert ranks == list(range(1, len(evidence.hits) + 1))


def test_ties_break_by_number() -> None:
    scores = np.asarray([0, 2, 1, 2, 0, 1, 2], dtype=np.float32)
    match = KeywordScores(scores)
    assert search_keyword(match, 4).numbers.tolist() == [1, 3, 6, 2]
    assert search_keyword(match, 2).numbers.tolist() == [1, 3]
    assert search_keyword(match, 99).numbers.tolist() == [1, 3, 6, 2, 5]
    assert search_keyword(KeywordScores(np.zeros(4, dtype=np.float32)), 3).numbers.tolist() == []


def test_equal_passages_come_in_order_of_number(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    """They differ in a letter that the question does not name; the dense side is made blind."""

    class Flat(HashEmbedder):
        def embed_query(self, text: str) -> NDArray[np.float32]:
            return np.asarray(np.eye(1, self.dimension)[0], dtype=np.float32)  # and so is every token

    documents = {
        f"{name}.md": f"# 第{name}篇\n\n显存不够的时候可以做的优化，方法 {name} 是其中一种。\n" for name in "cabed"
    }
    ingest(tmp_path, Flat(), documents)
    index = open_index(library_settings(tmp_path).index)
    evidence = search(index, Flat(), "显存")
    assert len(evidence.hits) == 5
    assert [hit.passage.number for hit in evidence.hits] == [0, 1, 2, 3, 4]
    assert search_dense(index, Flat().embed_query(""), 5).numbers.tolist() == [0, 1, 2, 3, 4]
    index.close()


def test_fusing_equal_cosines_leaves_the_keywords_to_decide() -> None:
    likeness = spread(np.asarray([0.5, 0.5], dtype=np.float32))
    fused = weighted_mean(likeness, (1.0, np.asarray([0.1, 0.9], dtype=np.float32)))
    assert fused[1] > fused[0]
    assert np.isfinite(fused).all()


def test_fusing_is_a_weighted_mean() -> None:
    parts = [np.asarray(values, dtype=np.float32) for values in ([0.2, 0.4], [1.0, 0.0], [0.6, 0.6])]
    np.testing.assert_allclose(weighted_mean(parts[0], (0.5, parts[1]), (0.5, parts[2])), [0.5, 0.35], atol=1e-6)
    np.testing.assert_array_equal(weighted_mean(parts[0]), parts[0])


def test_search_after_opening_anew_is_the_same(own_library: Path, hash_embedder: HashEmbedder) -> None:
    for question in QUESTIONS:
        found = []
        for _ in range(2):
            index = open_index(own_library / "index")
            found.append(search(index, hash_embedder, question))
            index.close()
        assert found[0] == found[1]
        assert found[0].hits


def test_an_empty_index_finds_nothing(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    ingest(tmp_path, hash_embedder, {}, allow_empty=True)
    index = open_index(tmp_path / "index")
    evidence = search(index, hash_embedder, "RoPE 为什么能外推？")
    assert evidence.hits == ()
    assert evidence.candidates is None
    index.close()


def test_k_may_be_larger_than_the_corpus(library_index: DiskIndex, hash_embedder: HashEmbedder) -> None:
    count = library_index.manifest.passages
    assert len(search(library_index, hash_embedder, "LoRA", k=1_000).hits) == count
    assert len(search(library_index, hash_embedder, "LoRA", k=1).hits) == 1


def test_a_passage_says_where_else_it_stands(library_index: DiskIndex, hash_embedder: HashEmbedder) -> None:
    hit = search(library_index, hash_embedder, "W4A16 权重 4 位整数 激活 16 位").hits[0]
    places = [(hit.passage.document, hit.passage.start, hit.passage.end)]
    places += [(place.document, place.start, place.end) for place in hit.passage.also_in]
    assert {document for document, _, _ in places} == {"formats.md", "quantization.md"}
    for document, start, end in places:
        assert "权重用 4 位整数保存" in DOCUMENTS[document][start:end]


def test_spans_are_exact_pieces_of_the_source(library_index: DiskIndex, hash_embedder: HashEmbedder) -> None:
    hits = search(library_index, hash_embedder, "RoPE", k=100).hits
    assert len(hits) == library_index.manifest.passages
    for hit in hits:
        source = library_index.storage.source(hit.passage.document)
        assert source is not None
        copied = "".join(source[start:end] for start, end in hit.passage.content.spans)
        assert "".join(copied.split()) == "".join(hit.passage.text.split())
        assert source[hit.passage.start : hit.passage.end].strip()


@pytest.mark.slow
def test_the_real_embedder_crosses_languages_and_scripts(tmp_path: Path, embedder: Embedder) -> None:
    ingest(tmp_path, embedder, {name: text for name, text in DOCUMENTS.items() if name != "scaling.md"})
    index = open_index(tmp_path / "index", embedder=embedder.identity)
    for question, document in (
        ("Why does LoRA save memory?", "lora.txt"),
        ("How much more communication does sharding the parameters cost?", "zero.md"),
        ("旋轉位置編碼為什麼能外推", "rope.md"),
        ("優化器狀態和梯度怎麼切分", "zero.md"),
    ):
        assert search(index, embedder, question).hits[0].passage.document == document, question
    index.close()


def test_merged_searches_rank_by_what_each_found(library_index: DiskIndex, hash_embedder: HashEmbedder) -> None:
    parts = [search(library_index, hash_embedder, question, k=4) for question in ("LoRA 的秩", "W4A16", "LoRA 的秩")]
    merged = merge(parts, 5)
    assert (merged.query, merged.candidates) == ("LoRA 的秩", parts[0].candidates)
    assert [hit.rank for hit in merged.hits] == [1, 2, 3, 4, 5]
    assert [hit.score for hit in merged.hits] == sorted((hit.score for hit in merged.hits), reverse=True)
    assert len({hit.passage.number for hit in merged.hits}) == 5
    assert merged.hits[0].passage == parts[0].hits[0].passage  # two searches found it
    assert parts[1].hits[0].passage in [hit.passage for hit in merged.hits[:3]]
    assert [hit.passage for hit in merge(parts[:1], 4).hits] == [hit.passage for hit in parts[0].hits]


def test_a_passage_deep_in_a_page_is_known_by_the_names_of_the_page(tmp_path: Path) -> None:
    sections = "".join(f"\n## 第 {number} 步\n{f'{number} 步一步地做。' * 40}\n" for number in range(5))
    page = f"---\ntags: [warmup]\nasked_as: [How is a cold start avoided]\n---\n# 预热怎么做？\n{sections}"
    embedder = HashEmbedder()
    ingest(tmp_path, embedder, {"a.md": page, "b.md": "# 冷启动\n\nwarmup 也叫预热。\n"})
    with closing(open_index(tmp_path / "index")) as index:
        own = index.storage.document_numbers("a.md")
        assert len(own) > 3
        assert index.keywords.frequency("avoided") == len(own)
        assert index.keywords.frequency("warmup") == len(own) + 1
        # Where a name is part of what is embedded, it is not counted twice.
        document = index.storage.documents(with_passages=True)[0]
        assert {document.keyword_terms(passage).count("avoided") for passage in document.passages} == {1}


def test_a_text_is_searched_once(
    library_index: Index, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposed: list[str] = []

    def counted(index: Index, question: str, encoded: Encoded, **more: Any) -> Candidates | None:
        proposed.append(question)
        return propose(index, question, encoded, **more)

    monkeypatch.setattr("rag.search.searcher.propose", counted)
    searcher = Searcher(library_index, hash_embedder, 3)
    few, again = searcher.search(["RoPE 为什么能外推", "RoPE 为什么能外推"])
    [many] = searcher.search(["RoPE 为什么能外推"], k=10)
    assert proposed == ["RoPE 为什么能外推"]
    assert few == again == search(library_index, hash_embedder, "RoPE 为什么能外推", k=3)
    assert many.hits == search(library_index, hash_embedder, "RoPE 为什么能外推", k=10).hits
    assert len(few.hits) == 3 < len(many.hits)


def test_a_searcher_that_is_dropped_holds_its_index_no_longer(
    library_index: Index, hash_embedder: HashEmbedder
) -> None:
    """Also before the garbage is collected, which happens seldom: an index holds files."""
    index = replace(library_index)
    searcher = Searcher(index, hash_embedder, 3)
    searcher.search(["RoPE 为什么能外推"])
    held = weakref.ref(index)
    gc.disable()
    try:
        del index, searcher
        assert held() is None
    finally:
        gc.enable()

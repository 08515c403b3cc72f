"""BM25 as arrays against BM25 as the book writes it."""

import math
import random
import weakref
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from rag.index.keywords import K1, B, KeywordIndex

WORDS = [f"w{number}" for number in range(30)]


def oracle(documents: list[list[str]], query: list[str]) -> list[float]:
    """Robertson & Zaragoza (2009), equation 3.15, with Lucene's idf."""
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        counts = Counter(document)
        score = 0.0
        for term in query:
            holding = sum(term in other for other in documents)
            idf = math.log(1 + (len(documents) - holding + 0.5) / (holding + 0.5))
            length = 1 - B + B * len(document) / mean
            score += idf * counts[term] * (K1 + 1) / (counts[term] + K1 * length) if counts[term] else 0.0
        scores.append(score)
    return scores


def random_corpus(seed: int) -> tuple[list[list[str]], list[list[str]]]:
    chance = random.Random(seed)
    weights = [1 / (rank + 1) for rank in range(len(WORDS))]
    documents = [chance.choices(WORDS, weights, k=chance.randint(0, 40)) for _ in range(chance.randint(1, 60))]
    documents[0] = documents[0] or ["w0"]
    return documents, [chance.choices([*WORDS, "unseen"], k=chance.randint(1, 8)) for _ in range(10)]


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_of_the_book(seed: int) -> None:
    documents, queries = random_corpus(seed)
    index = KeywordIndex.build(documents)
    for query in queries:
        np.testing.assert_allclose(index.scores(query), oracle(documents, query), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_no_score_exceeds_the_ceiling(seed: int) -> None:
    documents, queries = random_corpus(seed)
    documents += [["w1"] * 10_000, ["w2"]]  # as saturated as can be, and as short
    index = KeywordIndex.build(documents)
    for query in [*queries, ["w1"], ["w2"], ["w1", "w1", "w2"]]:
        assert float(index.scores(query).max()) <= index.ceiling(query) * (1 + 1e-6)
        for term in query:
            assert index.ceiling([term]) <= index.ceiling(["unseen"])


@pytest.mark.parametrize("seed", range(3))
def test_saved_and_loaded_it_is_the_same(seed: int, tmp_path: Path) -> None:
    documents, queries = random_corpus(seed)
    documents.append(["zero-3", "显存", "c++", "ε"])
    index = KeywordIndex.build(documents)
    index.save(tmp_path / "keywords")
    loaded = KeywordIndex.load(tmp_path / "keywords")
    assert loaded.terms() == index.terms() == sorted({term for document in documents for term in document})
    assert loaded.passage_count == index.passage_count
    for query in [*queries, ["显存", "c++"]]:
        np.testing.assert_array_equal(loaded.scores(query), index.scores(query))
        assert loaded.ceiling(query) == index.ceiling(query)
    assert [loaded.frequency(term) for term in (*WORDS, "unseen")] == [
        sum(term in document for document in documents) for term in (*WORDS, "unseen")
    ]


@pytest.mark.parametrize("documents", [[], [[]], [[], []]])
def test_without_terms_all_scores_are_zero(documents: list[list[str]], tmp_path: Path) -> None:
    KeywordIndex.build(documents).save(tmp_path / "keywords")
    index = KeywordIndex.load(tmp_path / "keywords")
    assert index.scores(["w1"]).tolist() == [0.0] * len(documents)
    assert not len(index.names)
    assert index.frequency("w1") == 0
    assert index.ceiling(["w1"]) > 0
    assert index.ceiling([]) == 0


def test_latin_terms() -> None:
    assert KeywordIndex.build([["zero-3", "显存", "3", "ε"]]).latin_terms == ["3", "zero-3"]


@pytest.mark.parametrize("seed", range(20))
def test_brought_up_to_date_it_is_as_if_made_anew(seed: int, tmp_path: Path) -> None:
    """Some passages go, the others change places, some are new; terms go with the last passage that held them."""
    before, after = random_corpus(seed)[0], random_corpus(seed + 100)[0]
    KeywordIndex.build(before).save(tmp_path / "keywords")
    chance = random.Random(seed)
    stay = chance.sample(range(len(before)), chance.randint(0, len(before)))
    numbers = chance.sample(range(len(stay) + len(after)), len(stay) + len(after))
    places = np.full(len(before), -1)
    places[stay] = numbers[: len(stay)]
    new = {number: [*document, f"only {number}"] for number, document in zip(numbers[len(stay) :], after, strict=True)}
    updated = KeywordIndex.load(tmp_path / "keywords").updated(places, new, len(numbers))
    whole = {**new, **{number: before[place] for number, place in zip(numbers, stay, strict=False)}}
    anew = KeywordIndex.build(whole[number] for number in range(len(numbers)))
    updated.save(tmp_path / "updated")
    anew.save(tmp_path / "anew")
    files = sorted(tmp_path.glob("anew*"))
    assert len(files) == 9
    for file in files:
        assert file.read_bytes() == file.with_name(file.name.replace("anew", "updated")).read_bytes(), file.name


def test_counts_of_terms_that_were_cut_otherwise_do_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    KeywordIndex.build([["a", "b"]]).save(tmp_path / "keywords")
    assert KeywordIndex.load(tmp_path / "keywords").counts is not None
    monkeypatch.setattr("rag.index.keywords._cutter", lambda: np.zeros(32, np.uint8))
    assert KeywordIndex.load(tmp_path / "keywords").counts is None


def test_what_is_remembered_keeps_no_index_alive() -> None:
    index = KeywordIndex.build([("rope", "旋转"), ("lora",)])
    assert [index.frequency(term) for term in ("rope", "lora", "none", "rope")] == [1, 1, 0, 1]
    still_there = weakref.ref(index)
    del index  # its files are closed at once, not when cycles are looked for
    assert still_there() is None

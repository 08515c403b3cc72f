"""The features that tell whether there is an answer, and the decision that is made from them."""

from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pytest

from rag.answer.answerability import CALIBRATIONS, AnswerabilityFeatures, Calibration, read_features, unspoken_share
from rag.answer.decide import judge
from rag.embedding import Embedder
from rag.index import Index, open_index
from rag.question.names import find_names
from rag.search.fusion import DEFAULT
from rag.search.retrieval import Evidence, search
from tests.conftest import HashEmbedder
from tests.rag.library import ingest, library_settings


def features(index: Index, evidence: Evidence) -> AnswerabilityFeatures:
    found = read_features(index, evidence, find_names(index.keywords, evidence.query))
    assert found is not None
    return found


def test_what_the_material_says_matches_better(library_index: Index, hash_embedder: HashEmbedder) -> None:
    answered = features(library_index, search(library_index, hash_embedder, "LoRA 为什么能省显存？"))
    foreign = features(library_index, search(library_index, hash_embedder, "红烧肉怎么做才不腻？"))
    assert answered.match > foreign.match
    assert answered.lead > foreign.lead
    assert answered.chinese == foreign.chinese == 1.0


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("GRPO 的优势函数", {"unknown_name": 1.0, "unknown_word": 0.0, "unknown_capital": 0.0, "chinese": 1.0}),
        ("mamba 的优势函数", {"unknown_name": 0.0, "unknown_word": 1.0, "unknown_capital": 0.0, "chinese": 1.0}),
        (
            "Can Ray do loss scaling?",
            {"unknown_name": 0.0, "unknown_word": 0.0, "unknown_capital": 1.0, "chinese": 0.0},
        ),
        ("LoRA 的秩怎么选？", {"unknown_name": 0.0, "unknown_word": 0.0, "unknown_capital": 0.0, "uncovered": 0.0}),
    ],
)
def test_features_of_names(
    question: str, expected: dict[str, float], library_index: Index, hash_embedder: HashEmbedder
) -> None:
    found = asdict(features(library_index, search(library_index, hash_embedder, question)))
    assert {name: found[name] for name in expected} == expected


def test_a_known_name_that_the_best_passages_lack_is_uncovered(
    library_index: Index, hash_embedder: HashEmbedder
) -> None:
    evidence = search(library_index, hash_embedder, "W4A16 是什么意思？")
    without = tuple(hit for hit in evidence.hits if "W4A16" not in f"{hit.passage.title} {hit.passage.text}")
    assert 1 < len(without) < len(evidence.hits)
    assert features(library_index, evidence).uncovered == 0.0
    assert 0.0 < features(library_index, replace(evidence, hits=without)).uncovered <= 1.0


def test_no_features_where_nothing_was_found_or_asked(library_index: Index, hash_embedder: HashEmbedder) -> None:
    evidence = search(library_index, hash_embedder, "LoRA 的秩怎么选？")
    assert evidence.encoded is not None
    no_tokens = replace(evidence.encoded, tokens=np.zeros((0, 256), np.float32), token_ids=np.zeros(0, np.int32))
    for found in (replace(evidence, encoded=None), replace(evidence, encoded=no_tokens), replace(evidence, hits=())):
        assert read_features(library_index, found, ()) is None


def test_without_vectors_of_tokens_the_cosine_takes_their_place(
    library_index: Index, hash_embedder: HashEmbedder
) -> None:
    without = replace(library_index, tokens=None)
    answered = search(without, hash_embedder, "LoRA 为什么能省显存？")
    foreign = search(without, hash_embedder, "红烧肉怎么做才不腻？")
    assert answered.candidates is not None
    similarity = float(answered.candidates.cosines.max())
    assert similarity <= features(without, answered).match <= similarity + DEFAULT.token_weight
    assert features(without, answered).match > features(without, foreign).match


@pytest.mark.parametrize("embedder", CALIBRATIONS)
def test_every_feature_counts_the_way_it_points(embedder: str) -> None:
    """A better match never makes a refusal more likely; a name that stands nowhere never makes it less likely."""
    calibration = CALIBRATIONS[embedder]
    middle = AnswerabilityFeatures(0.85, 0.05, 0.0, 0.0, 0.0, 0.3, 1.0)
    for field in fields(AnswerabilityFeatures):
        more = replace(middle, **{field.name: getattr(middle, field.name) + 0.05})
        rises = calibration.log_odds(more) > calibration.log_odds(middle)
        assert rises == (field.name not in ("match", "lead"))


def test_the_decision_follows_the_features(
    library_index: Index, hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_names = Calibration(-0.5, AnswerabilityFeatures(0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0))
    monkeypatch.setitem(CALIBRATIONS, "hash", only_names)
    known = search(library_index, hash_embedder, "LoRA 的秩怎么选？")
    unknown = search(library_index, hash_embedder, "GRPO 的秩怎么选？")
    assert judge(library_index, known).refusal is None
    refused = judge(library_index, unknown).refusal
    assert refused is not None
    assert (refused.reason, refused.missing) == ("missing_terms", ("GRPO",))
    monkeypatch.setitem(CALIBRATIONS, "hash", replace(only_names, offset=0.5))
    refused = judge(library_index, known).refusal
    assert refused is not None
    assert (refused.reason, refused.missing) == ("nothing_relevant", ())


@pytest.mark.slow
def test_clear_cases_with_the_real_embedder(tmp_path: Path, embedder: Embedder) -> None:
    """Nothing here was calibrated on these documents."""
    ingest(tmp_path, embedder)
    index = open_index(library_settings(tmp_path).index)
    answered = (
        "LoRA 的秩一般取多少？",
        "ZeRO-3 比 ZeRO-2 多切了什么",
        "为什么 RoPE 不能直接外推",
        "W4A16 的激活用几位",
        "Why is the loss multiplied before the backward pass?",
    )
    unanswerable = (
        "GRPO 的优势函数怎么估计？",
        "Mamba 的选择性扫描是什么",
        "LightGBM 怎么处理类别特征",
        "HNSW 的 efConstruction 设多大",
        "明天上海会下雨吗",
        "How does PagedAttention share blocks?",
    )
    refused = [question for question in answered if judge(index, search(index, embedder, question)).refusal]
    tried = [question for question in unanswerable if not judge(index, search(index, embedder, question)).refusal]
    index.close()
    assert refused == []
    assert tried == []


def test_what_the_pages_found_do_not_speak_of(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    asked = '---\ntitle: 秩怎么选？\nquestions:\n  "秩": ["矩阵要多宽才够"]\n---\n\n# 秩怎么选？\n\n## 秩\n\n先取八。\n'
    ingest(tmp_path / "asked", hash_embedder, {"a.md": asked})
    ingest(tmp_path / "plain", hash_embedder, {"a.md": "# 秩怎么选？\n\n## 秩\n\n先取八。\n"})

    def share(folder: str, question: str) -> float | None:
        index = open_index(tmp_path / folder / "index")
        return unspoken_share(index, search(index, hash_embedder, question))

    assert share("asked", "矩阵要多宽") == 0.0
    assert share("asked", "红烧肉") == 1.0
    assert 0.0 < (share("asked", "矩阵红烧") or 0.0) < 1.0
    assert share("plain", "矩阵多宽") is None  # nothing says how people ask for it

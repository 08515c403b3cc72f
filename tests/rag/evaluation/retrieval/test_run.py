"""A whole evaluation: the JSON of the command, the numbers in it, gold files, and what is refused."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ingest.sync import sync
from rag.__main__ import main
from rag.evaluation.retrieval import indexing
from rag.evaluation.retrieval import run as retrieval
from rag.evaluation.retrieval.systems import SYSTEMS
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.evaluation.made_up_set import DOCUMENTS, QUERIES, write_beir, write_lines

METRICS = ["ndcg@10", "recall@5", "recall@10", "mrr@10"]
GOLD: list[dict[str, Any]] = [
    {
        "id": "plain",
        "question": "RoPE 为什么不能直接外推？",
        "kind": "plain",
        "split": "dev",
        "evidence": [{"document": "rope.md", "quote": "超长时会遇到没见过的角度，所以 RoPE 不能直接外推。"}],
    },
    {
        "id": "follow",
        "question": "那秩怎么选？",
        "history": [["user", "LoRA 为什么能省显存？"], ["assistant", "因为低秩。"]],
        "kind": "follow-up",
        "split": "test",
        "evidence": [{"document": "lora.txt", "quote": "常用的秩是 8 到 64。"}],
    },
    {"id": "none", "question": "GRPO 是什么？", "kind": "near-miss", "split": "dev", "evidence": []},
]


@pytest.fixture(autouse=True)
def fast(hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast embedder, ingesting in this process, and no look at the working copy."""

    def ingest_folder(folder: Path, settings: Settings) -> None:
        sync(settings, lambda: hash_embedder, [folder], identity=hash_embedder.identity)

    for module in (retrieval, indexing):
        monkeypatch.setattr(module, "embedder_identity", lambda settings: hash_embedder.identity)
    monkeypatch.setattr(retrieval, "load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr(indexing, "ingest_folder", ingest_folder)
    monkeypatch.setattr("rag.evaluation.provenance.commit", lambda: "0123abc")


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> tuple[int, dict[str, Any]]:
        code = main(["eval", "retrieval", *map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def test_the_contract(evaluate: Any, tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    code, result = evaluate(write_beir(tmp_path / "small"), "--out", out)
    assert code == 0
    assert result == json.loads(out.read_text(encoding="utf-8"))
    assert result["dataset"] == "small"
    assert list(result["systems"]) == ["ours", "dense", "keyword", "rrf"]
    for measures in result["systems"].values():
        assert list(measures) == METRICS
        for measure in measures.values():
            assert 0 <= measure["low"] <= measure["value"] <= measure["high"] <= 1
    assert result["queries"] == {"scored": 4, "without_relevant_document": 1}
    assert result["documents"] == {"total": 4, "duplicates": 0, "not_indexed": 0}
    assert result["kinds"] == {}
    assert result["embedder"] == "hash@1"
    assert result["commit"] == "0123abc"
    assert set(result["machine"]) == {"cpu", "cores", "memory_gb", "python", "torch"}
    assert result["settings"]["passage_tokens"] == 320
    assert result["indexing"]["passages_per_second"] > 0
    for speed in result["speed_ms"].values():
        assert 0 < speed["p50"] <= speed["p95"]
    assert str(tmp_path) not in json.dumps(result)


def test_the_numbers_are_those_of_the_rows(evaluate: Any, tmp_path: Path) -> None:
    rows_file = tmp_path / "rows.jsonl"
    _, result = evaluate(write_beir(tmp_path / "small"), "--per-query", rows_file, "--systems", "ours,dense,keyword")
    rows = [json.loads(line) for line in rows_file.read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["q1", "q2", "q3", "q4"]
    assert rows[0]["question"] == QUERIES["q1"]
    assert {len(row["systems"]["ours"]["documents"]) for row in rows} == {4}
    assert set(rows[0]["systems"]["ours"]["documents"]) == set(DOCUMENTS)
    mean = {
        name: sum(row["systems"][name]["ndcg@10"] for row in rows) / len(rows) for name in ("ours", "dense", "keyword")
    }
    for name, value in mean.items():
        assert result["systems"][name]["ndcg@10"]["value"] == pytest.approx(value, abs=1e-5)
    difference = result["differences"]["dense"]["ndcg@10"]
    assert difference["value"] == pytest.approx(mean["ours"] - mean["dense"], abs=1e-5)
    assert difference["low"] <= difference["value"] <= difference["high"]
    assert 0 < difference["p"] <= 1


def test_what_the_best_baseline_leaves_undone() -> None:
    # (.9 - .8) / (1 - .8) = .5; a variant of ours is no baseline.
    found = retrieval._recovered({"ours": 0.9, "dense": 0.8, "keyword": 0.3, "ours-other": 0.95})
    assert found == {"measure": "ndcg@10", "against": "dense", "value": pytest.approx(0.5)}
    assert retrieval._recovered({"ours": 0.9, "dense": 1.0}) == {
        "measure": "ndcg@10",
        "against": "dense",
        "value": None,
    }
    assert retrieval._recovered({"ours": 0.9}) is None


def test_the_halves_make_the_whole(evaluate: Any, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "small")
    whole, dev, test = (
        evaluate(folder, "--work", tmp_path / "work", *options)[1]
        for options in ([], ["--split", "dev"], ["--split", "test"])
    )
    assert (dev["split"], test["split"], whole["split"]) == ("dev", "test", "all")
    assert dev["queries"] == {"scored": 2, "without_relevant_document": 1}
    assert test["queries"] == {"scored": 2, "without_relevant_document": 0}
    halves = [half["systems"]["keyword"]["mrr@10"]["value"] for half in (dev, test)]
    assert sum(halves) / 2 == pytest.approx(whole["systems"]["keyword"]["mrr@10"]["value"], abs=1e-5)


def test_a_limit_asks_fewer(evaluate: Any, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "small")
    _, part, *_ = evaluate(folder, "--work", tmp_path / "work", "--limit", "2")
    assert (part["limit"], part["queries"]["scored"]) == (2, 2)
    code, error, *_ = evaluate(folder, "--work", tmp_path / "work", "--limit", "0")
    assert code == 2
    assert "--limit 0" in str(error)


def test_a_second_run_gives_the_same_and_embeds_nothing(
    evaluate: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = [write_beir(tmp_path / "small"), "--work", tmp_path / "work", "--systems", "all"]
    _, first = evaluate(*arguments)
    assert list(first["systems"]) == list(SYSTEMS)
    seen: list[str] = []
    plain = HashEmbedder.embed_passages

    def noted(self: HashEmbedder, texts: Sequence[str], progress: object = None) -> NDArray[np.float32]:
        seen.extend(texts)
        return plain(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed_passages", noted)
    _, second = evaluate(*arguments)
    assert seen == []
    for key in ("systems", "differences", "recovered", "queries", "documents"):
        assert second[key] == first[key]


def test_duplicate_empty_and_huge_documents(evaluate: Any, tmp_path: Path) -> None:
    """The two that say the same are both found; an empty one is not; a huge one is found by what stands at its end."""
    texts = {
        **DOCUMENTS,
        "again": DOCUMENTS["lora"],
        "empty": "",
        "huge": "无关的话。\n" * 17_000 + "蓝鲸重一百五十吨。",
    }
    assert len(texts["huge"]) > 100_000
    queries = {"q1": "LoRA 的秩怎么选？", "q2": "蓝鲸重多少吨"}
    qrels = [("q1", "again", 1), ("q1", "lora", 1), ("q2", "huge", 1)]
    rows = tmp_path / "rows.jsonl"
    folder = write_beir(tmp_path / "odd", documents=texts, queries=queries, qrels=qrels)
    code, result = evaluate(folder, "--per-query", rows)
    assert code == 0
    assert result["documents"] == {"total": 7, "duplicates": 1, "not_indexed": 1}
    first, second = (json.loads(line)["systems"]["keyword"] for line in rows.read_text(encoding="utf-8").splitlines())
    assert set(first["documents"][:2]) == {"lora", "again"}
    assert first["ndcg@10"] == 1.0
    assert second["documents"][0] == "huge"
    assert "empty" not in first["documents"] + second["documents"]


def test_a_gold_file(evaluate: Any, library: Settings, tmp_path: Path) -> None:
    write_lines(tmp_path / "gold.jsonl", GOLD)
    rows_file = tmp_path / "rows.jsonl"
    code, result = evaluate(tmp_path / "gold.jsonl", "--index", library.index, "--per-query", rows_file)
    assert code == 0
    assert result["dataset"] == "gold"
    assert list(result["systems"]["ours"]) == [*METRICS, "evidence@1000", "evidence@3000"]
    assert result["queries"] == {"scored": 2, "without_relevant_document": 1}
    assert {kind: part["queries"] for kind, part in result["kinds"].items()} == {"plain": 1, "follow-up": 1}
    rows = {row["id"]: row for row in map(json.loads, rows_file.read_text(encoding="utf-8").splitlines())}
    for kind, name in (("plain", "plain"), ("follow-up", "follow")):
        for system, values in result["kinds"][kind]["systems"].items():
            assert values == {measure: rows[name]["systems"][system][measure] for measure in values}
    # The follow-up is asked with what it leans on, of every system.
    assert rows["follow"]["question"] == "LoRA 为什么能省显存 那秩怎么选？"
    assert rows["follow"]["systems"]["keyword"]["documents"][0] == "lora.txt"
    assert rows["follow"]["systems"]["keyword"]["evidence@3000"] == 1.0


def test_a_gold_file_whose_documents_are_not_in_the_index(evaluate: Any, library: Settings, tmp_path: Path) -> None:
    rows = [GOLD[0] | {"evidence": [{"document": "nowhere.md", "quote": "没有"}]}]
    write_lines(tmp_path / "gold.jsonl", rows)
    code, result = evaluate(tmp_path / "gold.jsonl", "--index", library.index)
    assert code == 2
    assert "1 of 1 documents of gold are not in the index" in result["error"]["message"]
    assert "nowhere.md" in result["error"]["message"]
    assert "python -m ingest" in result["error"]["hint"]


def test_a_gold_file_without_an_index(evaluate: Any, tmp_path: Path) -> None:
    write_lines(tmp_path / "gold.jsonl", GOLD)
    code, result = evaluate(tmp_path / "gold.jsonl", "--index", tmp_path / "nothing")
    assert (code, result["error"]["code"]) == (1, "index_missing")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--systems", "dence"], "there is no system 'dence'"),
        (["--index", "somewhere"], "--index is for gold files"),
        (["--out", "no/such/folder/result.json"], "its folder is not there"),
        (["--split", "train"], "invalid choice"),
        (["--work", __file__], "cannot make the folder"),
    ],
)
def test_wrong_usage(options: list[str], message: str, evaluate: Any, tmp_path: Path) -> None:
    code, result = evaluate(write_beir(tmp_path / "small"), *options)
    assert code == 2
    assert message in result["error"]["message"]


def test_a_question_that_cannot_be_asked_is_named(evaluate: Any, tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "small", queries=QUERIES | {"q3": "问" * 4_001})
    code, result = evaluate(folder)
    assert code == 2
    assert "query 'q3': the question has 4,001 characters" in result["error"]["message"]


def test_text_for_people(tmp_path: Path, library: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    write_lines(tmp_path / "gold.jsonl", GOLD)
    assert main(["eval", "retrieval", str(tmp_path / "gold.jsonl"), "--index", str(library.index)]) == 0
    shown = capsys.readouterr()
    lines = shown.out.splitlines()
    assert lines[0].startswith("gold, split all: 2 queries, 6 documents")
    assert lines[1].split()[:2] == ["ndcg@10", "recall@5"]
    assert len({len(line) for line in lines[1:6]}) == 1  # aligned
    assert [line.split()[0] for line in lines[2:6]] == ["ours", "dense", "keyword", "rrf"]
    assert "left out, no relevant document: 1 queries" in shown.out
    assert "ours: 100%" in shown.err

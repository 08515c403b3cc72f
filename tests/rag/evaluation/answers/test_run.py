"""A whole evaluation of answers: the JSON of the command, the numbers in it, and what is refused."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rag.__main__ import main
from rag.evaluation.answers.table import gates
from rag.settings import Settings
from tests.conftest import HashEmbedder
from tests.rag.chat_models.chat_server import ChatServer
from tests.rag.evaluation.made_up_set import write_lines

OUTER = "超长时会遇到没见过的角度，所以 RoPE 不能直接外推。"
GOLD: list[dict[str, Any]] = [
    {
        "id": "plain",
        "question": "RoPE 为什么不能直接外推？",
        "kind": "plain",
        "split": "dev",
        "answerable": True,
        "evidence": [{"document": "rope.md", "quote": OUTER}],
    },
    {
        "id": "follow",
        "question": "那秩怎么选？",
        "standalone": "LoRA 的秩怎么选？",
        "history": [["user", "LoRA 为什么能省显存？"], ["assistant", "因为低秩。"]],
        "kind": "follow-up",
        "split": "dev",
        "answerable": True,
        "evidence": [{"document": "lora.txt", "quote": "常用的秩是 8 到 64。"}],
    },
    {
        "id": "sides",
        "question": "ZeRO-2 和 ZeRO-3 差在哪？",
        "kind": "two-sided",
        "split": "test",
        "answerable": True,
        "evidence": [
            {"document": "zero.md", "quote": "ZeRO-2 切分优化器状态和梯度"},
            {"document": "zero.md", "quote": "ZeRO-3 还切分模型参数。"},
        ],
    },
    {"id": "near", "question": "GRPO 的优势怎么算？", "kind": "near-miss", "split": "dev", "answerable": False},
]


@pytest.fixture(autouse=True)
def fast(hash_embedder: HashEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast embedder, and no look at the working copy."""
    monkeypatch.setattr("rag.answer.assistant.load_embedder", lambda settings: hash_embedder)
    monkeypatch.setattr("rag.answer.assistant.embedder_identity", lambda settings: hash_embedder.identity)
    monkeypatch.setattr("rag.evaluation.provenance.commit", lambda: "0123abc")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer().running() as server:
        yield server


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    write_lines(tmp_path / "gold.jsonl", GOLD)
    return tmp_path / "gold.jsonl"


@pytest.fixture
def evaluate(library: Settings, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: object) -> tuple[int, dict[str, Any]]:
        given = ["--llm", "extractive"] if "--llm" not in arguments else []
        code = main(["eval", "answers", *map(str, arguments), *given, "--index", str(library.index), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def test_the_contract(evaluate: Any, gold: Path, tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    code, result = evaluate(gold, "--out", out)
    assert code == 0
    assert result == json.loads(out.read_text(encoding="utf-8"))
    assert (result["dataset"], result["split"], result["llm"], result["model"]) == ("gold", "all", "extractive", None)
    assert result["questions"] == {"asked": 4, "answerable": 3, "near_misses": 1, "two_sided": 1, "follow_ups": 1}
    assert result["answered_by"] == {"extractive": 4}
    for value in result["measures"].values():
        assert value["low"] <= value["value"] <= value["high"]
        assert value["of"] > 0
    for quantiles in result["seconds"].values():
        assert 0 < quantiles["p50"]["value"] <= quantiles["p95"]["value"]
    assert result["seconds"]["first_evidence"]["p50"]["value"] <= result["seconds"]["end"]["p50"]["value"]
    assert list(result["kinds"]) == ["plain", "follow-up", "two-sided", "near-miss"]
    assert result["commit"] == "0123abc"
    assert result["embedder"] == "hash@1"
    assert set(result["machine"]) == {"cpu", "cores", "memory_gb", "python", "torch"}
    assert result["settings"]["passage_tokens"] == 320
    assert set(result["cold_seconds"]) == {"open", "first_answer"}
    assert str(tmp_path) not in json.dumps(result)


def test_the_numbers_are_those_of_the_rows(evaluate: Any, gold: Path, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    _, result = evaluate(gold, "--per-query", file)
    rows = {row["id"]: row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    assert list(rows) == [row["id"] for row in GOLD]
    measures = result["measures"]
    answerable = [rows[name] for name in ("plain", "follow", "sides")]
    recall = sum(sum(row["cited"]) / len(row["cited"]) for row in answerable) / 3
    assert measures["citation_recall"]["value"] == pytest.approx(recall, abs=1e-5)
    pairs, precise = (sum(row[key] for row in rows.values()) for key in ("pairs", "precise"))
    # Extractive claims are their own quotes.
    assert precise == pairs > 0
    assert measures["citation_precision"]["of"] == pairs
    # The name that the near miss asks about stands nowhere.
    assert rows["near"]["refused"]
    assert (measures["refusal_recall"]["value"], measures["near_misses"]["value"]) == (1.0, 0.25)
    assert rows["plain"]["cited"] == [True]
    assert rows["follow"]["standalone_ndcg@10"] == 1.0
    assert measures["follow_up_retained"]["value"] == pytest.approx(rows["follow"]["ndcg@10"], abs=1e-5)
    assert measures["two_sided_found"]["value"] == float(all(rows["sides"]["found"]))
    assert result["kinds"]["two-sided"]["measures"]["two_sided_found"] == measures["two_sided_found"]
    assert "refusal_recall" not in result["kinds"]["plain"]["measures"]


def test_splits_and_limits(evaluate: Any, gold: Path) -> None:
    _, dev = evaluate(gold, "--split", "dev")
    assert (dev["split"], dev["questions"]["asked"]) == ("dev", 3)
    _, two = evaluate(gold, "--limit", 2)
    assert (two["limit"], two["questions"]["asked"]) == (2, 2)
    assert list(two["kinds"]) == ["plain", "two-sided"]  # spread over the file


def test_only_the_gate_makes_a_missed_target_fail(evaluate: Any, gold: Path) -> None:
    rows = [GOLD[0] | {"id": "n", "kind": "near-miss", "answerable": False, "evidence": []}, GOLD[0]]
    write_lines(gold, rows)  # what the material does answer is taken for a near miss
    code, result = evaluate(gold)
    assert code == 0
    assert result["gates"]["refusal_recall"] == {"at_least": 0.9, "met": False}
    assert result["gates"]["false_refusals"] == {"at_most": 0.05, "met": True}
    assert evaluate(gold, "--gate")[0] == 1
    write_lines(gold, [GOLD[0]])
    assert evaluate(gold, "--gate")[0] == 0


def test_each_answerer_has_its_targets() -> None:
    measures = {"citation_recall": {"value": 0.85}, "citation_precision": {"value": 0.94}}
    seconds: dict[str, Any] = {name: {"p50": {"value": 12.5}} for name in ("first_evidence", "first_text", "end")}
    assert gates("extractive", measures, seconds) == {"citation_recall": {"at_least": 0.9, "met": False}}
    local = gates("local", measures, seconds)
    assert local["citation_recall"] == {"at_least": 0.8, "met": True}
    assert local["citation_precision"] == {"at_least": 0.95, "met": False}
    assert local["first_text_p50"] == {"at_most": 12.0, "met": False}
    assert local["end_p50"] == {"at_most": 45.0, "met": True}
    assert set(gates("endpoint", measures, seconds)) == {"citation_recall", "citation_precision"}


@pytest.fixture
def endpoint(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    monkeypatch.setenv("INTERVIEW_RAG_ENDPOINT_URL", server.url)
    monkeypatch.setenv("INTERVIEW_RAG_ENDPOINT_MODEL", "made-up")
    return server


def test_a_chat_model(evaluate: Any, gold: Path, endpoint: ChatServer) -> None:
    """One sentence of two is right; the other is left out and counted, and what its section has left follows."""
    endpoint.reply = f"{OUTER}它由 OpenAI 在 2015 年提出。"
    write_lines(gold, GOLD[:1])
    _, result = evaluate(gold, "--llm", "endpoint")
    assert (result["llm"], result["model"]) == ("endpoint", "made-up")
    assert result["measures"]["unsupported_claims"]["value"] == pytest.approx(1 / 3, abs=1e-5)
    assert (result["measures"]["citation_precision"]["value"], result["measures"]["citation_recall"]["value"]) == (1, 1)


def test_answers_that_fell_back_to_quotes_are_counted(
    evaluate: Any, gold: Path, endpoint: ChatServer, capsys: pytest.CaptureFixture[str], library: Settings
) -> None:
    endpoint.status = 401
    write_lines(gold, GOLD[:1])
    _, result = evaluate(gold, "--llm", "endpoint")
    assert (result["llm"], result["answered_by"]) == ("endpoint", {"extractive": 1})
    assert main(["eval", "answers", str(gold), "--llm", "endpoint", "--index", str(library.index)]) == 0
    assert "not answered by endpoint but by extractive: 1 questions" in capsys.readouterr().out


def test_text_for_people(gold: Path, library: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "answers", str(gold), "--llm", "extractive", "--index", str(library.index)]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("extractive, gold: 4 questions, 6 documents\n")
    assert "near misses refused" in shown.out
    assert "at least 0.9 ✓" in shown.out
    assert "extractive: 100%" in shown.err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"evidence": [{"document": "nowhere.md", "quote": "x"}]}, "are not in the index: nowhere.md"),
        (
            {"evidence": [{"document": "rope.md", "quote": "没有的话"}]},
            r"do not stand in their documents: plain (rope.md)",
        ),
        ({"evidence": []}, "'plain' has 0 quotes and says answerable: True"),
        ({"answerable": False}, "'plain' has 1 quotes and says answerable: False"),
        ({"question": "问" * 4_001}, "'plain': the question has 4,001 characters"),
        ({"kind": "follow-up"}, "the follow-up 'plain' does not say what it asks"),
        ({"split": "train"}, "line 1: split"),
        ({"question": " "}, "line 1: question"),
    ],
)
def test_rows_that_cannot_be_meant(change: dict[str, Any], message: str, evaluate: Any, gold: Path) -> None:
    write_lines(gold, [GOLD[0] | change])
    code, result = evaluate(gold)
    assert code == 2
    assert message in result["error"]["message"]
    assert result["error"]["hint"]


def test_files_that_cannot_be_meant(evaluate: Any, gold: Path) -> None:
    write_lines(gold, [GOLD[0], GOLD[0]])
    assert "line 2 has the id 'plain' of line 1" in evaluate(gold)[1]["error"]["message"]
    gold.write_text("\n", encoding="utf-8")
    assert "gold.jsonl is empty" in evaluate(gold)[1]["error"]["message"]
    gold.unlink()
    assert "cannot read" in evaluate(gold)[1]["error"]["message"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--limit", "0"], 2, "--limit 0 asks nothing"),
        (["--split", "train"], 2, "invalid choice"),
        (["--llm", "gpt"], 2, "invalid choice"),
        (["--llm", "endpoint"], 2, "an endpoint needs `endpoint_url`"),
        (["--out", "no/such/folder/result.json"], 2, "its folder is not there"),
    ],
)
def test_wrong_usage(options: list[str], code: int, message: str, evaluate: Any, gold: Path) -> None:
    found, result = evaluate(gold, *options)
    assert found == code
    assert message in result["error"]["message"]


def test_a_split_without_questions(evaluate: Any, gold: Path) -> None:
    write_lines(gold, GOLD[:2])
    code, result = evaluate(gold, "--split", "test")
    assert (code, "no question in its split test" in result["error"]["message"]) == (2, True)


def test_without_an_index(gold: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "answers", str(gold), "--index", str(tmp_path / "none"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "index_missing"

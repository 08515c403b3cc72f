"""Datasets from disk: what is read, what is refused and what the message says."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from rag.errors import UsageError
from rag.evaluation.datasets import Query, SourceDocument, Split, choose, evenly_spread, load_dataset
from rag.types import Role, Turn
from tests.rag.evaluation.made_up_set import HEADER, QUERIES, write_beir, write_lines

GOLD_ROW = {
    "id": "g1",
    "question": "那秩怎么选？",
    "history": [["user", "LoRA 是什么？"], ["assistant", "低秩适配。"]],
    "kind": "follow-up",
    "split": "dev",
    "answerable": True,
    "evidence": [{"document": "lora.txt", "quote": "常用的秩是 8 到 64"}, {"document": "zero.md", "quote": "ZeRO"}],
    "standalone": "LoRA 的秩怎么选？",
}
UNANSWERABLE = {"id": "g2", "question": "GRPO 是什么？", "kind": "near-miss", "split": "test", "evidence": []}


def test_a_beir_folder(tmp_path: Path) -> None:
    dataset = load_dataset(write_beir(tmp_path / "small"))
    assert dataset.name == "small"
    assert dataset.documents is not None
    assert [document.id for document in dataset.documents] == ["rope", "zero", "scaling", "lora"]
    assert [query.text for query in dataset.queries] == list(QUERIES.values())
    assert dataset.qrels["q2"] == {"zero": 2, "lora": 1}
    assert not dataset.evidence


def test_a_gold_file(tmp_path: Path) -> None:
    write_lines(tmp_path / "gold.jsonl", [GOLD_ROW, UNANSWERABLE])
    dataset = load_dataset(tmp_path / "gold.jsonl")
    history = (Turn(Role.USER, "LoRA 是什么？"), Turn(Role.ASSISTANT, "低秩适配。"))
    assert dataset.name == "gold"
    assert dataset.documents is None
    assert dataset.queries[0] == Query("g1", "那秩怎么选？", Split.DEV, history, "follow-up")
    assert dataset.qrels == {"g1": {"lora.txt": 1, "zero.md": 1}}
    assert dataset.evidence == {"g1": (("常用的秩是 8 到 64",), ("ZeRO",))}
    assert [query.id for query in dataset.scored] == ["g1"]


def test_queries_without_a_relevant_document_are_not_scored(tmp_path: Path) -> None:
    dataset = load_dataset(write_beir(tmp_path, qrels=[("q1", "rope", 1), ("q2", "zero", 0), ("q3", "zero", -1)]))
    assert [query.id for query in dataset.scored] == ["q1"]
    assert len(dataset.queries) == 5


def test_the_split_of_a_beir_query_is_the_parity_of_its_hash(tmp_path: Path) -> None:
    # The first bytes of the SHA-256 of q1 to q5, by sha256sum: c7, be, 58, 11, 26.
    dataset = load_dataset(write_beir(tmp_path))
    assert [query.id for query in dataset.part(Split.DEV).queries] == ["q2", "q3", "q5"]
    assert [query.id for query in dataset.part(Split.TEST).queries] == ["q1", "q4"]
    assert dataset.part(Split.ALL) is dataset


def test_a_split_of_a_gold_file_is_what_its_rows_say(tmp_path: Path) -> None:
    write_lines(tmp_path / "gold.jsonl", [GOLD_ROW, UNANSWERABLE])
    dataset = load_dataset(tmp_path / "gold.jsonl")
    assert [query.id for query in dataset.part(Split.DEV).queries] == ["g1"]
    with pytest.raises(UsageError, match="no query with a relevant document in its split test"):
        dataset.part(Split.TEST)


def test_duplicate_documents_are_kept_and_counted(tmp_path: Path) -> None:
    dataset = load_dataset(write_beir(tmp_path, documents={"rope": "甲", "zero": "甲", "scaling": "甲", "lora": "乙"}))
    assert len(dataset.documents or ()) == 4
    assert dataset.duplicate_documents == 2


def test_empty_and_huge_documents_are_kept(tmp_path: Path) -> None:
    huge = "长" * 100_000
    dataset = load_dataset(write_beir(tmp_path, documents={"rope": "", "zero": huge, "scaling": " ", "lora": "乙"}))
    assert (dataset.documents or ())[:2] == (SourceDocument("rope", "", ""), SourceDocument("zero", "", huge))


def test_a_missing_title_extra_fields_and_blank_lines(tmp_path: Path) -> None:
    write_beir(tmp_path)
    (tmp_path / "corpus.jsonl").write_text(
        '\ufeff{"_id": "rope", "text": "a\u2028b", "url": 1}\r\n\n{"_id": "zero", "title": "t", "text": "c"}\r\n',
        encoding="utf-8",
        newline="",
    )
    (tmp_path / "qrels.tsv").write_text(f"{HEADER}q1\trope\t1\r\n\n", newline="")
    assert load_dataset(tmp_path).documents == (
        SourceDocument("rope", "", "a\u2028b"),
        SourceDocument("zero", "t", "c"),
    )


def row(**values: object) -> str:
    return json.dumps(values, ensure_ascii=False) + "\n"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("corpus.jsonl", "\n", r"corpus.jsonl is empty"),
        ("queries.jsonl", "", r"queries.jsonl is empty"),
        ("corpus.jsonl", row(_id="rope", text=" "), r"no document of .*corpus.jsonl has text"),
        ("corpus.jsonl", row(_id="rope", text="a") + "{oops\n", r"corpus.jsonl line 2: .*JSON.*'\{oops'"),
        ("corpus.jsonl", row(_id="rope", text="a") + "[1]\n", r"corpus.jsonl line 2: .*\[1\]"),
        ("corpus.jsonl", row(_id="rope", title="no text"), r"corpus.jsonl line 1: text: Field required"),
        ("corpus.jsonl", row(_id=7, text="a"), r"corpus.jsonl line 1: _id: .*string"),
        ("corpus.jsonl", row(_id="a", text="b") * 2, r"corpus.jsonl line 2 has the id 'a' of line 1"),
        ("queries.jsonl", row(_id="q1", text="b") * 2, r"queries.jsonl line 2 has the id 'q1' of line 1"),
        ("queries.jsonl", row(_id="q1", text=" \n"), r"queries.jsonl line 1: text: "),
        ("qrels.tsv", "q1\trope\t1\n", r"qrels.tsv line 1 is a judgement, not the header row"),
        ("qrels.tsv", f"{HEADER}q1 rope 1\n", r"qrels.tsv line 2 has 1 columns: 'q1 rope 1'"),
        ("qrels.tsv", f"{HEADER}q1\trope\tgood\n", r"qrels.tsv line 2: grade: .*q1\\trope\\tgood"),
        ("qrels.tsv", f"{HEADER}q1\tnowhere\t1\n", r"qrels.tsv line 2 names the unknown document 'nowhere'"),
        ("qrels.tsv", f"{HEADER}q9\trope\t1\n", r"qrels.tsv line 2 names the unknown query 'q9'"),
        ("qrels.tsv", f"{HEADER}q1\trope\t1\nq1\trope\t2\n", r"qrels.tsv line 3 grades document 'rope' .* second time"),
    ],
)
def test_what_cannot_be_meant_is_refused(file: str, text: str, message: str, tmp_path: Path) -> None:
    write_beir(tmp_path)
    (tmp_path / file).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=message) as caught:
        load_dataset(tmp_path)
    assert caught.value.hint


@pytest.mark.parametrize("file", ["corpus.jsonl", "queries.jsonl", "qrels.tsv"])
def test_a_missing_file(file: str, tmp_path: Path) -> None:
    (write_beir(tmp_path) / file).unlink()
    with pytest.raises(UsageError, match=rf"cannot read .*{file}: No such file") as caught:
        load_dataset(tmp_path)
    assert "BEIR" in caught.value.hint


def test_no_dataset_at_all(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no dataset at"):
        load_dataset(tmp_path / "nothing")


def test_judgements_that_judge_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no query with a relevant document"):
        load_dataset(write_beir(tmp_path, qrels=[])).part(Split.ALL)


def test_not_utf_8(tmp_path: Path) -> None:
    write_beir(tmp_path)
    (tmp_path / "queries.jsonl").write_bytes(row(_id="q1", text="中文").encode("gb18030"))
    with pytest.raises(UsageError, match=r"queries.jsonl is not UTF-8"):
        load_dataset(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": "train"}, "split"),
        ({"question": ""}, "question"),
        ({"history": [["system", "x"]]}, "history"),
        ({"evidence": [{"document": "a.md"}]}, r"evidence\.0\.quote: Field required"),
        ({"id": ""}, "id"),
    ],
)
def test_a_bad_gold_row(change: dict[str, object], message: str, tmp_path: Path) -> None:
    write_lines(tmp_path / "gold.jsonl", [UNANSWERABLE, GOLD_ROW | change])
    with pytest.raises(UsageError, match=rf"gold.jsonl line 2: {message}"):
        load_dataset(tmp_path / "gold.jsonl")


def test_questions_are_evenly_spread_and_stable() -> None:
    names = [f"q{number}" for number in range(10)]
    assert evenly_spread(names, 5) == ["q0", "q2", "q4", "q6", "q8"]
    assert evenly_spread([*names, *names, " "], 50) == names
    assert evenly_spread([], 5) == []
    assert evenly_spread(names, 0) == []


@dataclass(frozen=True)
class Labelled:
    id: str
    split: str


def test_rows_are_chosen_evenly_from_their_split() -> None:
    rows = [Labelled(f"r{number}", "dev" if number % 2 else "test") for number in range(20)]
    assert [row.id for row in choose(rows, Split.DEV, 4, Path("set"))] == ["r1", "r5", "r11", "r15"]
    assert [row.id for row in choose(rows, Split.DEV, 9, Path("set"))][-1] == "r17"
    assert len(choose(rows, Split.ALL, None, Path("set"))) == 20
    for limit in (0, -3):
        with pytest.raises(UsageError, match=f"--limit {limit} "):
            choose(rows, Split.ALL, limit, Path("set"))
    with pytest.raises(UsageError, match="no question in its split test"):
        choose(rows[1::2], Split.TEST, None, Path("set"))

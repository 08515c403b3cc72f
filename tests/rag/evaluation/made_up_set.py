"""A small BEIR folder, and how to write others."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.rag.library import LORA, ROPE, SCALING, ZERO

HEADER = "query-id\tcorpus-id\tscore\n"
DOCUMENTS = {"rope": ROPE, "zero": ZERO, "scaling": SCALING, "lora": LORA}
QUERIES = {
    "q1": "RoPE 为什么不能直接外推？",
    "q2": "ZeRO-3 的通信量是多少？",
    "q3": "Why does BF16 not need loss scaling?",
    "q4": "LoRA 的秩怎么选？",
    "q5": "谁也没有回答的问题",
}
QRELS = [("q1", "rope", 1), ("q2", "zero", 2), ("q2", "lora", 1), ("q3", "scaling", 1), ("q4", "lora", 1)]


def write_beir(
    folder: Path,
    *,
    documents: Mapping[str, str] = DOCUMENTS,
    queries: Mapping[str, str] = QUERIES,
    qrels: Iterable[tuple[str, str, int]] = QRELS,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    write_lines(folder / "corpus.jsonl", ({"_id": key, "title": "", "text": text} for key, text in documents.items()))
    write_lines(folder / "queries.jsonl", ({"_id": key, "text": text} for key, text in queries.items()))
    (folder / "qrels.tsv").write_text(HEADER + "".join(f"{q}\t{d}\t{grade}\n" for q, d, grade in qrels))
    return folder


def write_lines(file: Path, rows: Iterable[object]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")

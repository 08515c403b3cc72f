"""The reader's training: rows made of what people wrote, and a run that goes on where it stopped."""

import gzip
import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import torch

from rag.embedding import BertEmbedder
from tests.tools.small_embedder import small_bert
from tools.reader.data import LabelledText, Row, of_sections, read_spans, with_negatives, without_answer
from tools.reader.documents import write_documents
from tools.reader.network import ReaderNetwork
from tools.reader.train import Recipe, load, train

ROWS = [
    Row(
        f"r{number}",
        f"what is kept in cache {number}",
        (
            LabelledText("cache", ("nothing here.", f"keys of cache {number}.", "the end."), frozenset({1})),
            LabelledText("other", ("of another thing.", "and another.")),
        ),
        f"g{number}",
    )
    for number in range(24)
]


class Characters:
    """As much of an embedder as training needs."""

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        return [[3 + ord(character) % 90 for character in text] for text in texts]

    def special_ids(self) -> tuple[int, int]:
        return 0, 2


def network() -> ReaderNetwork:
    found = ReaderNetwork(small_bert(layers=2, seed=5))
    for parameter in found.encoder.embeddings.parameters():
        parameter.requires_grad = False
    return found


def trained(folder: Path, *, stops: int = 0) -> dict[str, torch.Tensor]:
    recipe = Recipe(rows=4, rate=1e-3, checkpoint_minutes=0.0)
    embedder = cast("BertEmbedder", Characters())
    for _ in range(stops):
        assert not train(network(), embedder, ROWS, recipe, folder, minutes=0.0)
        assert (folder / "last.pt").exists()
    assert train(network(), embedder, ROWS, recipe, folder, minutes=5.0)
    return load(folder / "reader.safetensors")


def test_a_run_that_stopped_goes_on_as_if_it_had_not(tmp_path: Path) -> None:
    whole, stopped = trained(tmp_path / "whole"), trained(tmp_path / "stopped", stops=2)
    assert set(whole) == set(stopped)
    assert not any(name.startswith("encoder.embeddings.") for name in whole)
    for name, value in whole.items():
        assert torch.allclose(value, stopped[name], atol=1e-6), name
    before = network().state_dict()
    assert any(not torch.equal(value, before[name]) for name, value in whole.items())
    assert not (tmp_path / "stopped" / "last.pt").exists()


def test_spans_become_units(tmp_path: Path) -> None:
    passage = "甲在东边。乙在西边。丙不在。"
    rows: list[dict[str, Any]] = [
        {
            "id": "a",
            "question": "乙在哪",
            "passage": passage,
            "answerable": True,
            "spans": [[7, 9]],
            "answers": ["西边"],
        },
        {"id": "b", "question": "丁在哪", "passage": passage, "answerable": False, "spans": [], "answers": []},
        {"id": "c", "question": "没有位置", "passage": passage, "answerable": True, "spans": [], "answers": ["是"]},
    ]
    file = tmp_path / "rows.jsonl.gz"
    with gzip.open(file, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row | {"group": row["id"], "passage": passage}) + "\n" for row in rows)
    found = list(read_spans(file))
    assert [row.id for row in found] == ["a", "b"]
    assert found[0].texts[0].units == ("甲在东边。", "乙在西边。", "丙不在。")
    assert [row.texts[0].answering for row in found] == [frozenset({1}), frozenset()]


def test_a_text_without_its_answer_answers_nothing() -> None:
    text = LabelledText("", ("甲。", "乙在西边。", "丙。"), frozenset({1}), ("西边",))
    left = without_answer(text)
    assert left is not None
    assert (left.units, left.answering) == (("甲。", "丙。"), frozenset())
    assert without_answer(LabelledText("", ("西边。", "乙在西边。", "丙。"), frozenset({1}), ("西边",))) is None


def test_each_row_gets_what_does_not_answer_it() -> None:
    rows = [
        Row(
            f"r{number}",
            f"问题{number}",
            (LabelledText("", (f"甲{number}。", f"答{number}。", "丙。"), frozenset({1}), (f"答{number}",)),),
            f"g{number}",
        )
        for number in range(30)
    ]
    found = with_negatives(rows, random.Random(1))
    assert [row.id for row in found] == [row.id for row in rows]
    assert all(row.texts[0].answering and not any(text.answering for text in row.texts[1:]) for row in found)
    assert 0.5 < sum(len(row.texts) > 1 for row in found) / len(found) < 1


def test_questions_about_sections(tmp_path: Path) -> None:
    units = [{"kind": "sentence", "text": "缓存保存键和值。"}, {"kind": "sentence", "text": "它随序列变长。"}]
    other = [{"kind": "sentence", "text": "学习率先升后降。"}]
    document = {
        "doc": "a.md",
        "title": "缓存",
        "sections": [{"path": ["缓存", "存什么"], "units": units}, {"path": ["缓存", "别的"], "units": other}],
    }
    asked = {"id": "1", "doc": "a.md", "question": "缓存存什么", "best": 0, "answers": {"0": [0]}, "use": [0, 1]}
    rewritten = asked | {"id": "2", "answers": {"0": [2]}}  # its unit is gone
    shortened = asked | {"id": "3", "use": [0, 1, 2]}
    elsewhere = asked | {"id": "4", "doc": "b.md"}
    (tmp_path / "documents.jsonl").write_text(json.dumps(document), encoding="utf-8")
    rows = (rewritten, asked, shortened, elsewhere)
    (tmp_path / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    [row] = of_sections(tmp_path / "documents.jsonl", tmp_path / "questions.jsonl", negatives=2, rng=random.Random(1))
    assert [text.heading for text in row.texts] == ["存什么 · 缓存", "别的 · 缓存"]
    assert [text.answering for text in row.texts] == [frozenset({0}), frozenset()]


def test_documents_are_cut_as_their_questions_were_labelled(tmp_path: Path) -> None:
    corpus, file = Path(__file__).parents[3] / "corpus", tmp_path / "documents.jsonl"
    assert write_documents([corpus / "maths"], file) == len(list((corpus / "maths").glob("*.md")))
    cut = {row["doc"]: row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    sections = cut["backprop-by-hand.md"]["sections"]
    assert sections[0]["path"][-1] == "一句话回答"
    page = (corpus / "maths" / "backprop-by-hand.md").read_text(encoding="utf-8")
    assert all(unit["text"] in page for section in sections for unit in section["units"] if "\n" not in unit["text"])

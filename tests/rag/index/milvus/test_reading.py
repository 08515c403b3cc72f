"""What is read from Milvus is what the embedded store has, passage for passage and score for score."""

from contextlib import closing

import numpy as np
import pytest

from rag.answer.answerability import read_features
from rag.answer.assistant import Assistant
from rag.answer.choices import Choices
from rag.errors import IndexCorruptError
from rag.evaluation.datasets import load_gold
from rag.index.milvus.connection import Connection
from rag.index.milvus.records import PART_CHARACTERS
from rag.index.milvus.schema import Table
from rag.index.part import check_names, part_of
from rag.language.terms import terms
from rag.question.names import find_names
from rag.search.retrieval import search
from rag.types import Passage
from tests.corpus.gold import GOLD
from tests.rag.index.milvus.conftest import Place
from tests.rag.library import DOCUMENTS

QUESTIONS = [
    "RoPE 为什么能外推？",
    "ZeRO-2 和 ZeRO-3 差在哪",
    "loss scaling",
    "W4A16",
    "LoRA 的秩",
    "天气",
    "loss loss 切分",
]


def said(passage: Passage) -> tuple[object, ...]:
    """A passage without its number."""
    return passage.document, passage.title, passage.section, passage.content, passage.also_in, passage.blocks


def test_search_equals_the_embedded_one(place: Place) -> None:
    place.ingest()
    with closing(place.on_disk()) as disk:
        stored = place.open()
        for question in QUESTIONS:
            ours, theirs = (search(index, place.embedder, question) for index in (stored, disk))
            assert [said(hit.passage) for hit in ours.hits] == [said(hit.passage) for hit in theirs.hits]
            assert [hit.score for hit in ours.hits] == pytest.approx([hit.score for hit in theirs.hits], abs=2e-6)
            assert [hit.keyword for hit in ours.hits] == [hit.keyword for hit in theirs.hits]
            assert [hit.dense and hit.dense.rank for hit in ours.hits] == [
                hit.dense and hit.dense.rank for hit in theirs.hits
            ]
            names = find_names(disk.keywords, question)
            assert find_names(stored.keywords, question) == names
            features = [read_features(index, found, names) for index, found in ((stored, ours), (disk, theirs))]
            assert features[0] is not None
            assert features[1] is not None
            np.testing.assert_allclose(features[0].row(), features[1].row(), atol=2e-6)


def test_keyword_scores_equal_the_embedded_ones_after_updates_that_changed_every_length(place: Place) -> None:
    """The mean length has changed since rows were weighed, and the stored weights with it would rank otherwise."""
    place.ingest({name: DOCUMENTS[name] for name in ("rope.md", "zero.md", "scaling.md", "lora.txt")})
    first = place.open().generation
    place.ingest(DOCUMENTS | {"long.md": "# 切分\n\n" + "切分 梯度 loss scaling 参数。" * 12})
    stored = place.open()
    assert stored.generation.since == first.since
    assert stored.generation.mean_length != stored.generation.weighed_at
    with closing(place.on_disk()) as disk:
        numbers = {said(p)[:4]: p.number for p in disk.storage.passages(range(disk.manifest.passages))}
        for question in QUESTIONS:
            asked = terms(question)
            assert stored.keywords.ceiling(asked) == pytest.approx(disk.keywords.ceiling(asked), rel=1e-6)
            for count in (1, 2, 3, 50):
                found, scores = stored.keywords.match(asked).best(count)
                there = [numbers[said(p)[:4]] for p in stored.storage.passages(found.tolist())]
                expected = disk.keywords.match(asked).best(count)[1]
                np.testing.assert_allclose(scores, expected, rtol=1e-5)
                np.testing.assert_allclose(disk.keywords.scores(asked)[there], scores, rtol=1e-5)
        for term in disk.keywords.terms():
            assert stored.keywords.frequency(term) == disk.keywords.frequency(term)
        assert stored.keywords.latin_terms == disk.keywords.latin_terms


def test_every_passage_of_a_small_index_has_the_word(place: Place) -> None:
    words = ("裁剪梯度防止爆炸", "累积梯度省下显存", "压缩梯度减少通信")
    place.ingest({f"{n}.md": f"# {said}的办法\n\n{said}，训练就更稳，这一点很重要。\n" for n, said in enumerate(words)})
    assert len(place.open().keywords.match(terms("梯度")).best(50)[0]) == 3


def test_an_index_of_nothing(place: Place) -> None:
    place.ingest({"empty.md": "# \n"})
    stored = place.open()
    assert not stored.manifest.passages
    assert not search(stored, place.embedder, "梯度").hits
    place.ingest({"rope.md": DOCUMENTS["rope.md"]})
    assert search(place.open(), place.embedder, "RoPE").hits


def test_documents_equal_the_embedded_ones(place: Place) -> None:
    asked = 'questions:\n  "甲": ["钥匙在哪", "where is the key"]\n  "乙": ["门呢"]\n'
    place.ingest(
        DOCUMENTS
        | {'say "hi" \\ 中文\'s.md': "# 引号\n\n文件名里有引号。"}
        | {"asked.md": f"---\ntitle: 房子\n{asked}---\n# 房子\n\n## 甲\n在抽屉里。\n\n## 乙\n往里推。\n"}
    )
    with closing(place.on_disk()) as disk:
        ours, theirs = place.open().storage, disk.storage
        assert [name for name, _, _ in theirs.all_questions()] == ["asked.md"] * 3
        assert sorted(ours.all_questions()) == sorted(theirs.all_questions())
        [kept, wanted] = [
            {document.name: document.questions for document in storage.documents(with_passages=True)}
            for storage in (ours, theirs)
        ]
        assert kept == wanted
        assert [len(questions) for questions in kept["asked.md"].values()] == [2, 1]
        assert ours.entries() == theirs.entries()
        assert ours.summaries() == theirs.summaries()
        assert ours.documents() == theirs.documents()
        assert sorted(ours.names(50)) == sorted(theirs.names(50))
        assert set(ours.texts(50)) == set(theirs.texts(50))  # a repeat counts once here
        assert ours.source("none.md") is None
        assert ours.pages("none.md") == ()
        assert ours.known_as("none.md") == theirs.known_as("none.md") == ()
        assert ours.document_numbers("none.md") == []
        for entry in theirs.entries():
            assert ours.source(entry.name) == theirs.source(entry.name)
            assert ours.pages(entry.name) == theirs.pages(entry.name)
            assert ours.known_as(entry.name) == theirs.known_as(entry.name) != ()
            mine, other = (s.passages(s.document_numbers(entry.name)) for s in (ours, theirs))
            assert list(map(said, mine)) == list(map(said, other))


def test_an_answer_equals_the_embedded_one_and_cites_the_source(place: Place) -> None:
    place.ingest()
    ours = Assistant(place.settings, place.embedder)
    theirs = Assistant(place.settings.model_copy(update={"store": "embedded"}), place.embedder)
    for question in ("ZeRO-2 和 ZeRO-3 差在哪？", "LoRA 为什么能省显存？", "今天天气怎么样"):
        answer, expected = ours.ask(question), theirs.ask(question)
        assert answer.text == expected.text
        assert answer.citations == expected.citations
        for citation in answer.citations:
            source = ours.source(citation.document)
            assert source is not None
            assert source[citation.start : citation.end] == citation.quote


def test_a_long_source_comes_back_whole(place: Place) -> None:
    text = "# 长文\n\n" + "".join(f"第 {n} 段：注意力把每个位置和其他位置联系起来 𝄞。\n\n" for n in range(800))
    place.ingest({"long.md": text})
    assert len(text) > PART_CHARACTERS
    assert place.open().storage.source("long.md") == text


# A page of its own folder, and two that repeat what others say: one of them another of the same part.
OWN = "# 早停是什么？\n\n早停在验证集损失不再下降时停止训练。\n"
SCOPED = DOCUMENTS | {"own.md": OWN, "repeats.md": DOCUMENTS["rope.md"], "repeats-too.md": DOCUMENTS["rope.md"]}
PARTS = [("rope.md",), ("repeats.md",), ("repeats.md", "repeats-too.md", "own.md"), ("own.md", "zero.md"), ("gone.md",)]


def test_a_part_equals_the_embedded_one(place: Place) -> None:
    place.ingest(SCOPED)
    stored = place.open()
    assert part_of(stored, ()) is stored
    with closing(place.on_disk()) as disk:
        dev = [row.question for row in load_gold(GOLD) if row.split == "dev"][:100]
        assert len(dev) == 100
        for turn, only in enumerate(PARTS):
            ours, theirs = part_of(stored, only), part_of(disk, only)
            assert ours.whole is stored
            for question in QUESTIONS + dev[turn :: len(PARTS)]:
                mine, other = (search(index, place.embedder, question, k=50).hits for index in (ours, theirs))
                assert [said(hit.passage) for hit in mine] == [said(hit.passage) for hit in other]
                assert [hit.score for hit in mine] == pytest.approx([hit.score for hit in other], abs=2e-6)
                assert [hit.keyword for hit in mine] == [hit.keyword for hit in other]
                assert {hit.passage.document for hit in mine} <= set(only)
            for name in SCOPED:
                assert ours.storage.source(name) == theirs.storage.source(name)
                assert bool(ours.storage.document_numbers(name)) == (name in only)
            assert ours.storage.summaries() == theirs.storage.summaries()
            assert ours.storage.documents() == theirs.storage.documents()
    asked, asked_too = (
        Assistant(settings, place.embedder).choosing(Choices(only=("repeats.md", "zero.md")))
        for settings in (place.settings, place.settings.model_copy(update={"store": "embedded"}))
    )
    for question in ("ZeRO-2 和 ZeRO-3 差在哪？", "RoPE 为什么能外推？"):
        answer, expected = asked.ask(question), asked_too.ask(question)
        assert answer.text == expected.text
        assert answer.citations == expected.citations


def test_names_of_documents_are_read_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.ingest()
    stored = place.open()
    check_names(stored, ["zero.md"])

    def asked(*_: object, **__: object) -> None:
        raise AssertionError("the server is asked again")

    for method in ("all", "query"):
        monkeypatch.setattr(Connection, method, asked)
    check_names(stored, ["rope.md"])
    entries = stored.storage.entries()
    entries.clear()
    assert len(stored.storage.entries()) == len(DOCUMENTS)


@pytest.mark.parametrize("table", [Table.DOCUMENTS, Table.PASSAGES, Table.PARTS])
def test_a_part_whose_rows_were_collected(place: Place, table: Table) -> None:
    place.ingest(SCOPED)
    stored = place.open()
    stored.storage.entries()
    stored.reader.connection.delete(table, "id >= 0")
    with pytest.raises(IndexCorruptError, match=r"generation 1, which was perhaps collected") as raised:
        part_of(stored, ["repeats.md"])
    assert "ask again" in raised.value.hint


def test_passages_named_by_number_are_all_that_is_searched(place: Place) -> None:
    place.ingest()
    stored = place.open()
    numbers = np.asarray(stored.storage.document_numbers("zero.md"), np.int64)
    vector = place.embedder.embed_query("ZeRO")
    assert sorted(stored.vectors.search(vector, 50, numbers)[0].tolist()) == sorted(numbers.tolist())
    assert set(stored.keywords.match(terms("ZeRO RoPE")).best(50, numbers)[0].tolist()) <= set(numbers.tolist())

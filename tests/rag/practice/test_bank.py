"""Which questions the material asks, and how they are named."""

from pathlib import Path

import pytest

from rag.errors import UsageError
from rag.practice.bank import Bank, QuestionKind
from tests.rag.practice.pages import CACHE, CACHE_ID, DOCUMENTS, GQA_ID, LORA_ID, NOTES, QUERY_ID, bank_of


def test_a_page_gives_its_title_and_its_follow_ups_and_notes_their_headed_questions(bank: Bank) -> None:
    assert {question.id: question.kind for question in bank.questions.values()} == {
        CACHE_ID: QuestionKind.PAGE,
        QUERY_ID: QuestionKind.FOLLOW_UP,
        GQA_ID: QuestionKind.FOLLOW_UP,
        LORA_ID: QuestionKind.SECTION,
    }
    page = bank.find(CACHE_ID)
    assert page.follow_ups == (QUERY_ID, GQA_ID)
    assert bank.find(GQA_ID).parent == CACHE_ID
    assert page.english == "What is a KV cache, and why does it speed up decoding?"
    assert bank.find(GQA_ID).english == "How much does GQA save?"


def test_what_is_answered_in_english_alone_names_no_question(tmp_path: Path) -> None:
    bank = bank_of(tmp_path, {**DOCUMENTS, "cache.md": f"{CACHE}\n### Does it fit?\nIt does.\n"})
    assert bank.find(GQA_ID).english == "How much does GQA save?"
    assert "Does it fit?" not in {question.english for question in bank.questions.values()}


def test_everything_is_a_slice_of_the_source(bank: Bank) -> None:
    for question in bank.questions.values():
        source = bank.pages[question.document].source
        for citation in filter(None, (question.short, question.answer)):
            assert source[citation.start : citation.end] == citation.quote
        for section in bank.pages[question.document].sections:
            assert all(source[u.citation.start : u.citation.end] == u.citation.quote for u in section.units)


def test_an_answer_is_all_that_stands_below_its_heading(bank: Bank) -> None:
    assert bank.find(LORA_ID).answer.quote.endswith("合并之后推理没有额外开销。")
    whole = bank.find(CACHE_ID).answer.quote
    assert whole.startswith("KV cache 存下算过的键和值。")
    assert "式中 $L$ 是层数" in whole
    assert "追问" not in whole
    short = bank.find(CACHE_ID).short
    assert short is not None
    assert short.quote == "KV cache 存下算过的键和值。"


def test_ids_stay_and_a_reworded_answer_shows(bank: Bank, tmp_path: Path) -> None:
    """Another question in front of it, and other numbers, move nothing."""
    notes = NOTES.replace("## 31、LoRA", "## 30、什么是秩？\n秩是线性无关的行数。\n\n## 32、LoRA")
    changed = bank_of(tmp_path, {**DOCUMENTS, "notes.md": notes})
    assert changed.find(LORA_ID).answer_sha256 == bank.find(LORA_ID).answer_sha256
    reworded = bank_of(tmp_path, {"notes.md": NOTES.replace("两个低秩矩阵", "两个小矩阵")})
    assert reworded.find(LORA_ID).answer_sha256 != bank.find(LORA_ID).answer_sha256


def test_a_heading_that_comes_twice_gives_two_questions(tmp_path: Path) -> None:
    notes = (
        "# 笔记\n\n## LoRA\n\n### 为什么有效？\n微调时权重的增量可以用两个低秩矩阵之积来近似。\n\n"
        "## DoRA\n\n### 为什么有效？\nDoRA 把权重的方向和大小分开训练。\n"
    )
    found = bank_of(tmp_path, {"notes.md": notes})
    assert list(found.questions) == ["notes.md#为什么有效？", "notes.md#笔记 > DoRA > 为什么有效？"]


def test_a_page_that_vanished_is_a_clear_word(bank: Bank) -> None:
    with pytest.raises(UsageError, match=r"gone\.md#为什么") as raised:
        bank.find("gone.md#为什么？")
    assert "practice ask" in raised.value.hint
    assert bank.find("cache.md").id == CACHE_ID


def test_selecting_by_topic_and_words(tmp_path: Path) -> None:
    (tmp_path / "documents" / "inference").mkdir(parents=True)
    from ingest.sync import sync
    from rag.index import open_index
    from rag.practice.bank import read_bank
    from tests.conftest import HashEmbedder
    from tests.rag.library import library_settings

    (tmp_path / "documents" / "inference" / "cache.md").write_text(CACHE, encoding="utf-8")
    (tmp_path / "documents" / "notes.md").write_text(NOTES, encoding="utf-8")
    embedder = HashEmbedder()
    sync(library_settings(tmp_path), lambda: embedder, [tmp_path / "documents"], identity=embedder.identity)
    found = read_bank(open_index(tmp_path / "index"))
    assert found.topics() == {"": 1, "inference": 3}
    assert [q.kind for q in found.select(topic="inference", kind=QuestionKind.PAGE)] == [QuestionKind.PAGE]
    assert {q.text for q in found.select(sought="显存 lora")} == {"LoRA 为什么能省显存？"}
    assert {q.text for q in found.select(sought="what is a kv")} == {"KV cache 是什么，为什么能加速解码？"}
    with pytest.raises(UsageError, match="there is no topic 'x'"):
        found.select(topic="x")
    assert found.find("notes.md").topic == ""
    page = found.pages["inference/cache.md"]
    assert page.uri == (tmp_path / "documents" / "inference" / "cache.md").as_uri()

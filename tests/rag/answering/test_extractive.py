"""Answers without a chat model: every claim is a slice of its source, and the markers in the text are the citations."""

import re

import pytest

from rag.answering.extractive import choose_passages, write_extract
from rag.index import Index
from rag.retrieval import Evidence, search
from rag.types import Answer
from tests.conftest import HashEmbedder
from tests.rag.library import DOCUMENTS

QUESTIONS = [
    ("RoPE 为什么能外推？", "rope.md"),
    ("ZeRO-2 和 ZeRO-3 差在哪", "zero.md"),
    ("Why does mixed precision training need loss scaling?", "scaling.md"),
    ("LoRA 的秩怎么选？", "lora.txt"),
    ("W4A16 是什么意思？", "formats.md"),
]
with_questions = pytest.mark.parametrize(("question", "document"), QUESTIONS)


def check(answer: Answer, index: Index) -> None:
    """What holds for every answer, whoever wrote it."""
    markers = [citation.marker for citation in answer.citations]
    assert markers == list(range(1, len(markers) + 1))
    for citation in answer.citations:
        source = index.storage.source(citation.document)
        assert source is not None
        assert source[citation.start : citation.end] == citation.quote
        assert citation.quote.strip()
    outside_code = re.sub(r"`[^`\n]*`", "", answer.text)
    assert {int(number) for number in re.findall(r"\[(\d+)\]", outside_code)} == set(markers)
    assert {number for claim in answer.claims for number in claim.citations} == set(markers)
    for claim in answer.claims:
        assert claim.supported == bool(claim.citations)


def evidence_for(index: Index, embedder: HashEmbedder, question: str) -> Evidence:
    return search(index, embedder, question)


def answer_to(index: Index, embedder: HashEmbedder, question: str) -> Answer:
    passages = choose_passages(index, evidence_for(index, embedder, question))
    sources = {passage.document: index.storage.source(passage.document) or "" for passage in passages}
    written = write_extract(passages, sources)
    return Answer(question, (question,), written.text, "extractive", written.claims, written.citations)


@with_questions
def test_every_claim_cites_exact_slices(
    question: str, document: str, library_index: Index, hash_embedder: HashEmbedder
) -> None:
    answer = answer_to(library_index, hash_embedder, question)
    check(answer, library_index)
    assert answer.claims
    assert {citation.document for citation in answer.citations} == {document}
    for claim in answer.claims:
        assert claim.supported
        quotes = "".join(c.quote for c in answer.citations if c.marker in claim.citations)
        assert "".join(claim.text.split()) in "".join(quotes.split())


@with_questions
def test_claims_stand_in_the_order_of_the_document(
    question: str, document: str, library_index: Index, hash_embedder: HashEmbedder
) -> None:
    answer = answer_to(library_index, hash_embedder, question)
    starts = [citation.start for citation in answer.citations]
    assert starts == sorted(starts)
    positions = [answer.text.index(claim.text) for claim in answer.claims]
    assert positions == sorted(positions)


def test_the_short_answer_of_the_page_leads(library_index: Index, hash_embedder: HashEmbedder) -> None:
    answer = answer_to(library_index, hash_embedder, "RoPE 超长时会遇到没见过的角度吗")
    assert answer.claims[0].text.startswith("RoPE 按位置旋转")


def test_headings_are_not_claims(library_index: Index, hash_embedder: HashEmbedder) -> None:
    for question, _ in QUESTIONS:
        for claim in answer_to(library_index, hash_embedder, question).claims:
            assert not claim.text.lstrip().startswith("#")
            assert claim.text not in ("推导", "外推", "LoRA 面试题")


def test_blocks_stay_whole(library_index: Index, hash_embedder: HashEmbedder) -> None:
    texts = [claim.text for claim in answer_to(library_index, hash_embedder, "RoPE 底数 旋转 推导 公式").claims]
    assert any(text.startswith("$$") and text.endswith("$$") for text in texts)
    assert any(text.startswith("| 方法") and text.endswith("|") for text in texts)
    assert any(text.startswith("```python") and text.endswith("```") for text in texts)
    assert any("10000.5，也就是 `base = 10000.5`" in text for text in texts)


def test_nothing_of_another_question_of_the_article(library_index: Index, hash_embedder: HashEmbedder) -> None:
    answer = answer_to(library_index, hash_embedder, "LoRA 的秩怎么选？")
    assert "8 到 64" in answer.text
    assert "冻结" not in answer.text


def test_sources_are_those_that_were_ingested(library_index: Index) -> None:
    for name, text in DOCUMENTS.items():
        assert library_index.storage.source(name) == text

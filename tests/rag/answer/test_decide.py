"""Refusing: what the question names and the material does not hold, and what can be asked instead."""

from pathlib import Path

import pytest

from rag.answer.answerability import CALIBRATIONS, AnswerabilityFeatures, Calibration
from rag.answer.assistant import Assistant
from rag.answer.decide import judge
from rag.index import Index, open_index
from rag.language.language import has_chinese
from rag.search.retrieval import Evidence, search
from rag.types import AnswerKind
from tests.conftest import HashEmbedder
from tests.rag.library import ingest


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("GRPO 的优势函数怎么估计？", ("GRPO",)),
        ("What is GRPO?", ("GRPO",)),
        ("用 W8A8 还是 INT2 好", ("W8A8", "INT2")),
        ("Ｍａｍｂａ２ 怎么扫描", ("Mamba2",)),
    ],
)
def test_a_name_that_stands_nowhere_is_named(
    question: str, missing: tuple[str, ...], library_index: Index, hash_embedder: HashEmbedder
) -> None:
    refusal = judge(library_index, search(library_index, hash_embedder, question)).refusal
    assert refusal is not None
    assert refusal.missing == missing
    assert refusal.reason == "missing_terms"


def test_a_digit_makes_another_name(library_index: Index, hash_embedder: HashEmbedder) -> None:
    """`zero` stands in the material, and so does `4`, but in W4A16."""
    refusal = judge(library_index, search(library_index, hash_embedder, "ZeRO-4 切分什么？")).refusal
    assert refusal is not None
    assert refusal.missing == ("ZeRO-4",)


@pytest.mark.parametrize(
    "question",
    [
        "RoPE 为什么能外推？",
        "rope 为什么能外推",
        "ZeRO3 和 zero-2 差在哪",
        "find_unused_parameters 是什么",
        "C++ 推理引擎做什么",
        "Why does mixed precision training need loss scaling?",
        "80G 的卡上 LoRA 能省多少显存",
        "Yarn 怎么插值",
    ],
)
def test_known_names_are_no_reason(question: str, library_index: Index, hash_embedder: HashEmbedder) -> None:
    assert judge(library_index, search(library_index, hash_embedder, question)).refusal is None


def test_a_name_that_questions_are_written_with_is_known(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    """A page that says 坏案例 is written down to answer "badcase 怎么收集"."""
    body = "# 坏案例怎么办？\n\n## 收集\n坏案例来自点踩和抽查，脱敏之后进回归集。\n\n## 归因\n坏案例按失败的环节分。\n"
    once, twice = '  "收集": ["badcase 怎么收集"]\n', '  "归因": ["badcase 归因"]\n'
    for number, (asked, is_known) in enumerate((("", False), (once, False), (once + twice, True))):
        source = f"---\nquestions:\n{asked}---\n{body}" if asked else body
        ingest(tmp_path / str(number), hash_embedder, {"page.md": source})
        index = open_index(tmp_path / str(number) / "index")
        refusal = judge(index, search(index, hash_embedder, "badcase 的收集")).refusal
        assert (refusal is None or "badcase" not in refusal.missing) is is_known, asked


def test_nothing_found_is_refused(library_index: Index) -> None:
    refusal = judge(library_index, Evidence("显存", ())).refusal
    assert refusal is not None
    assert refusal.reason == "nothing_relevant"


def test_has_chinese() -> None:
    assert has_chinese("LoRA 的秩")
    assert not has_chinese("What is LoRA? ε é")


@pytest.mark.parametrize(("odds", "kind"), [(-3.0, "answer"), (-0.5, "nearest"), (0.5, "refusal")])
def test_the_doubtful_band_is_pointed_to_the_nearest(
    odds: float, kind: str, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = AnswerabilityFeatures(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    monkeypatch.setitem(CALIBRATIONS, assistant.index.manifest.embedder_name, Calibration(odds, nothing))
    answer = assistant.ask("LoRA 的秩怎么选？")
    assert (answer.kind, answer.refused) == (AnswerKind(kind), kind == "refusal")
    assert answer.text.startswith("没有把握资料直接回答") is (kind == "nearest")
    assert bool(answer.nearest) is (kind == "nearest")
    if kind == "nearest":
        assert len({citation.section for citation in answer.citations}) == 1


@pytest.mark.parametrize(
    ("odds", "question", "opening"),
    [
        (-0.5, "LoRA9 的秩怎么选？", "资料里没有提到 LoRA9，最接近的是："),
        (-3.0, "LoRA9 的秩怎么选？", "资料里没有提到 LoRA9。"),
        (-3.0, "LoRA9 和 LoRA 的秩有什么区别？", "资料里没有提到 LoRA9"),
        (-0.5, "How is the rank of LoRA9 chosen?", "The material does not mention LoRA9. The nearest is:"),
    ],
)
def test_what_is_shown_in_place_of_an_unknown_name_says_so(
    odds: float, question: str, opening: str, assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = AnswerabilityFeatures(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    monkeypatch.setitem(CALIBRATIONS, assistant.index.manifest.embedder_name, Calibration(odds, nothing))
    answer = assistant.ask(question)
    assert answer.text.startswith(opening)
    assert answer.text.count("LoRA9") == 1
    assert answer.citations


def test_of_two_questions_the_one_that_the_material_knows_is_answered(assistant: Assistant) -> None:
    answer = assistant.ask("LoRA 的秩怎么选？另外 Zorblax 框架怎么装")
    assert answer.kind is AnswerKind.ANSWER
    assert answer.text.startswith("资料里没有提到 Zorblax 框架怎么装")
    assert "8 到 64" in answer.text
    assert {citation.document for citation in answer.citations} == {"lora.txt"}


def test_two_questions_are_answered_in_their_order(assistant: Assistant) -> None:
    answer = assistant.ask("W4A16 是什么意思？另外 LoRA 的秩怎么选")
    documents = list(dict.fromkeys(citation.document for citation in answer.citations))
    assert documents[:2] == ["formats.md", "lora.txt"]


def test_two_questions_that_nothing_answers_are_refused(assistant: Assistant) -> None:
    answer = assistant.ask("Qwerty9 的秩怎么选？另外 Zorblax 框架怎么装")
    assert answer.refusal is not None
    assert {"Qwerty9", "Zorblax"} <= set(answer.refusal.missing)

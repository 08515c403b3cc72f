"""What a chat model wrote is supported only where numbers, names and negations stand in the evidence."""

import pytest

from rag.answer.written.claims import EvidenceSentence, evidence_sentences, supporting, without_model_markers
from rag.index import Index
from rag.text.sentences import units
from rag.types import Passage


@pytest.fixture(scope="module")
def passages(library_index: Index) -> list[Passage]:
    return library_index.storage.passages(list(range(library_index.manifest.passages)))


@pytest.fixture(scope="module")
def evidence(library_index: Index, passages: list[Passage]) -> list[EvidenceSentence]:
    return evidence_sentences(passages, {p.document: library_index.storage.source(p.document) or "" for p in passages})


def quotes(sentence: str, evidence: list[EvidenceSentence], index: Index) -> str:
    return " ".join(unit.citation.quote for unit in supporting(sentence, evidence, index))


def test_every_unit_but_headings_can_be_quoted(
    evidence: list[EvidenceSentence], passages: list[Passage], library_index: Index
) -> None:
    assert len(evidence) == sum(unit.kind != "heading" for p in passages for unit in units(p.text, p.blocks))
    for unit in evidence:
        source = library_index.storage.source(unit.citation.document) or ""
        assert source[unit.citation.start : unit.citation.end] == unit.citation.quote


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("ZeRO-3 的通信量是数据并行的 1.5 倍。", "1.5 倍"),
        ("ZeRO-3 連模型參數也切分。", "ZeRO-3 还切分模型参数"),
        ("LoRA 只训练两个低秩矩阵", "只训练两个低秩矩阵"),
        ("BF16 does not need loss scaling.", "BF16 does not need loss scaling"),
        ("In FP16 small gradients would underflow to zero.", "underflow to zero"),
        ("超长的时候 RoPE 不能直接外推。", "不能直接外推"),
        ("LoRA 只训练 2 个低秩矩阵。", "只训练两个低秩矩阵"),
        ("旋转不会改变向量长度，并没有可训练参数。", "旋转不改变向量长度"),
        (r"写作 $f(q, m)=q e^{i m \theta}$。", "e^{i m"),
    ],
)
def test_what_the_evidence_says_is_supported(
    sentence: str, quote: str, evidence: list[EvidenceSentence], library_index: Index
) -> None:
    assert quote in quotes(sentence, evidence, library_index)


@pytest.mark.parametrize(
    "sentence",
    [
        "ZeRO-3 的通信量是数据并行的 2.5 倍。",  # another number
        "ZeRO-3 的通信量是数据并行的 15 倍。",
        "ZeRO-4 还切分模型参数。",  # another name
        "QLoRA 只训练两个低秩矩阵。",
        "`find_used_parameters` 属于 DDP，不属于 ZeRO。",
        "BF16 needs loss scaling.",  # the negation is gone
        "FP16 does not need loss scaling.",
        "超长的时候 RoPE 能直接外推。",
        "LoRA 不训练两个低秩矩阵。",  # a negation was added
        "LoRA 不只训练两个低秩矩阵。",
        "旋转改变向量长度，也没有可训练参数。",
        "LoRA 只训练三个低秩矩阵。",  # another number in words
        "秩太大会欠拟合。",  # the other direction
        "Loss scaling divides the loss by a large factor before the backward pass.",
        "Loss scaling multiplies the loss by a small factor before the backward pass.",
        "超长时会遇到见过的角度。",
        "今天天气很好，适合出去走走。",  # something else
        "。。。",
        "",
    ],
)
def test_what_it_does_not_say_is_not(sentence: str, evidence: list[EvidenceSentence], library_index: Index) -> None:
    assert supporting(sentence, evidence, library_index) == []


def test_a_sentence_may_rest_on_two(evidence: list[EvidenceSentence], library_index: Index) -> None:
    support = supporting("LoRA 只训练两个低秩矩阵，合并之后推理没有额外开销", evidence, library_index)
    assert 1 <= len(support) <= 2
    assert any("额外开销" in unit.citation.quote for unit in support)


def test_words_with_a_negating_character_do_not_negate(evidence: list[EvidenceSentence], library_index: Index) -> None:
    assert supporting("不同之处：ZeRO-3 还切分模型参数。", evidence, library_index)
    assert supporting("ZeRO-3 不仅切分梯度，还切分模型参数", evidence, library_index)


def test_what_stands_side_by_side_in_a_formula_must_do_so_in_the_evidence(
    evidence: list[EvidenceSentence], library_index: Index
) -> None:
    for formula in (
        r"$f(q, m) = m e^{i q \theta}$",
        r"$f(q, m) = q e^{m i \theta}$",
        r"$f(q, m) = q + e^{i m \theta}$",
    ):
        assert supporting(f"写作 {formula}。", evidence, library_index) == []


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("甲 [1]。乙【2】丙［3］。", "甲。乙丙。"),
        ("甲[1, 2] 乙 [1-3][4]", "甲 乙"),
        ("甲 [^1] 乙 [123]", "甲 乙"),
        ("甲【3†来源】", "甲"),
        ("复杂度是 O(1)，不是 O(n)", "复杂度是 O(1)，不是 O(n)"),
        ("取 `x[0]` 与 [mask]", "取 `x[0]` 与 [mask]"),
    ],
)
def test_the_models_own_markers_are_removed(written: str, kept: str) -> None:
    assert without_model_markers(written) == kept

"""What says the same is found; what differs in a number, a term or a negation is kept apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.structure.repeats import find_repeats, fingerprint
from rag.language.terms import simplified

BASE = (
    "混合精度训练用半精度计算，用单精度保存权重。为了不让很小的梯度变成零，先把损失放大，更新之前再缩小。"
    "遇到溢出就跳过这一步，并且减小放大的倍数。"
)


def repeats(*texts: str) -> list[int | None]:
    return find_repeats([fingerprint(text) for text in texts])


def test_exact() -> None:
    assert repeats(BASE, "另一段完全不同的文字，讲的是检索。", BASE, BASE) == [None, None, 0, 0]


@pytest.mark.parametrize(
    "same",
    [
        "12、" + BASE,
        "### Q3：" + BASE,
        BASE.replace("，", ", ").replace("。", "."),
        BASE.replace("混合精度", "**混合精度**"),
        "- " + BASE.replace("。", "。\n- "),
        BASE.replace("损失", "損失").replace("单精度", "單精度"),
        BASE.replace("，", "，\n"),
    ],
)
def test_the_same_in_another_dress(same: str) -> None:
    assert repeats(BASE, same) == [None, 0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ZeRO-2 切开优化器状态和梯度。", "ZeRO-3 切开优化器状态和梯度。"),
        ("学习率取 1.5 就好，别的不变。", "学习率取 15 就好，别的不变。"),
        ("学习率取 0.1 就好，别的不变。", "学习率取 0.01 就好，别的不变。"),
        ("1.5 倍的显存就够了，别的不变。", "2.5 倍的显存就够了，别的不变。"),
        ("当 x > 0.5 时取正类，别的不变。", "当 x < 0.5 时取正类，别的不变。"),
        ("结果是 -1，别的不变。", "结果是 1，别的不变。"),
        ("结果是 a+b，别的不变。", "结果是 a*b，别的不变。"),
        ("BERT 适合这个任务。", "GPT 适合这个任务。"),
        ("这样做会收敛。", "这样做不会收敛。"),
        ("这样做是有监督的。", "这样做是无监督的。"),
        ("It does work here.", "It does not work here."),
        ("学习率过大会怎样。", "学习率过小会怎样。"),
        ("显存占用会升高。", "显存占用会降低。"),
        ("北京机房的负责人是王芳，三天之内写出复盘。", "上海机房的负责人是李明，五天之内写出复盘。"),
        ("若甲方未能按期交付，应当向乙方支付违约金。", "若乙方未能按期交付，应当向甲方支付违约金。"),
        ("每周一上线。", "每周五上线。"),
        ("これは訓練です。", "これは推論です。"),
        ("Он говорит да.", "Она говорит да."),
        ("这样做会收敛？", "这样做会收敛。"),
    ],
)
@pytest.mark.parametrize("around", ["", BASE])
def test_kept_apart(one: str, other: str, around: str) -> None:
    assert repeats(around + "\n" + one, around + "\n" + other) == [None, None]


def test_a_repeat_names_the_first_of_its_kind() -> None:
    assert repeats(BASE, BASE + "\n", "- " + BASE) == [None, 0, 0]


@given(st.integers(0, len(BASE) - 1), st.characters(categories=("L", "N")))
def test_one_other_letter_keeps_two_texts_apart(place: int, letter: str) -> None:
    other = BASE[:place] + letter + BASE[place + 1 :]
    same = fingerprint(other) == fingerprint(BASE)
    assert not same or simplified(letter) == BASE[place] or not BASE[place].isalnum()


def test_nothing() -> None:
    assert repeats() == []
    assert repeats("", "甲", "") == [None, None, 0]

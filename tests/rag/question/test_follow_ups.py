"""Follow-up questions: which lean on what was said, and what they become."""

import pytest

from rag.index import Index
from rag.language.messages import restates
from rag.question import follow_ups
from rag.question.follow_ups import MAX_SUBJECT_CHARACTERS, Standalone, recent, stand_alone, tells_by_itself
from rag.search.searcher import Searcher
from rag.types import Role, Turn
from tests.conftest import HashEmbedder

HISTORY = [Turn(Role.USER, "LoRA 为什么能省显存？"), Turn(Role.ASSISTANT, "它只训练两个低秩矩阵。")]
FOLLOW_UPS = [
    "那它的缺点呢",
    "and for bf16?",
    "第二点展开说",
    "为什么要除以根号 d",
    "为什么？",
    "举个例子",
    "既然这样干嘛还用它",
    "Why?",
    "How does it differ from QLoRA?",
    "那個怎麼初始化",
    "详细说说",
    "秩怎么选",
    "能说人话吗",
    "没看懂 说人话",
    "eli5 pls",
    "推导过程写一下",
    "ok and its drawback?",
    "ok and how do you prevent it in the first place",
    "嗯，那初始化呢",
    "和直接微调全部参数比有啥好",
    "跟 LoRA 比呢",
    "another thing: why is it faster?",
    "moving on, how is it trained?",
    "嗯，好的，那它为什么快？",
]


def follow(question: str, history: list[Turn]) -> Standalone:
    """After a question that stands alone."""
    asked = [turn.text for turn in history if turn.role is Role.USER]
    return follow_ups.follow(question, history, Standalone(asked[-1]))


@pytest.mark.parametrize("question", FOLLOW_UPS)
def test_a_follow_up_gets_its_subject_in_front(question: str) -> None:
    followed = follow(question, HISTORY)
    assert tells_by_itself(question, followed) is not False
    assert (followed.text, followed.said) == (f"LoRA 为什么能省显存 {question}", HISTORY[1].text)
    searched = "" if followed.intent else f" {question}"
    assert followed.query == f"LoRA 为什么能省显存{searched}"


@pytest.mark.parametrize(
    "question", ["换个问题：什么是 LoRA", "Another question: what does it mean to quantize a model?", "什么是过拟合？",
                 "ok moving on, vanishing gradients", "okay different thing, how do you tile a matmul in triton"],
)  # fmt: skip
def test_what_says_that_it_is_new_is_new(question: str) -> None:
    assert tells_by_itself(question, follow(question, HISTORY)) is False


@pytest.mark.parametrize("question", FOLLOW_UPS)
def test_without_history_nothing_changes(question: str, library_index: Index, hash_embedder: HashEmbedder) -> None:
    for history in ([], [Turn(Role.ASSISTANT, "你好"), Turn(Role.USER, "  ")]):
        assert stand_alone(Searcher(library_index, hash_embedder, 10), question, recent(history)) == Standalone(
            question
        )


@pytest.mark.parametrize(("follows", "subject"), [(True, "LoRA 为什么能省显存"), (False, "")])
@pytest.mark.parametrize("question", ["那它的缺点呢", "换个问题：旋转呢", "ZeRO-2 和 ZeRO-3 差在哪"])
def test_the_reader_has_the_last_word(
    question: str, follows: bool, subject: str, library_index: Index, hash_embedder: HashEmbedder
) -> None:
    assert (
        stand_alone(Searcher(library_index, hash_embedder, 10), question, HISTORY, follows=follows).subject == subject
    )


@pytest.mark.parametrize("question", ["能说人话吗", "没看懂 说人话", "eli5 pls", "推导过程写一下", "写一段代码我看看"])
def test_what_only_asks_for_another_form_follows_whatever_the_material_holds(
    library_index: Index, hash_embedder: HashEmbedder, question: str
) -> None:
    """The material has no 人话 and no "eli5", which names no subject."""
    assert stand_alone(Searcher(library_index, hash_embedder, 10), question, HISTORY).restates


def test_the_subject_is_what_the_last_question_was_read_as() -> None:
    """And what began it, however long the talk; but not the questions between."""
    root = "RoPE 为什么能外推"
    talk = [Turn(Role.USER, f"{root}？"), Turn(Role.USER, "那它的缺点呢")]
    alone = Standalone(f"{root}？")
    second = follow_ups.follow("那它的缺点呢", talk[:1], alone)
    third = follow_ups.follow("怎么算", talk, second)
    assert (second.subject, third.subject) == (root, f"{root} 那它的缺点呢")
    assert follow_ups.follow("为什么", talk, third).text == f"{root} 怎么算 为什么"
    short = follow_ups.follow("举个例子", talk, third)
    assert follow_ups.follow("为什么", talk, short).text == f"{root} 怎么算 为什么"
    swapped = follow_ups.follow("那 LoRA 呢", talk[:1], alone)
    assert follow_ups.follow("那 MoE 呢", talk, swapped).text == "MoE 为什么能外推？"
    assert follow_ups.follow("为什么", talk, swapped).subject == "LoRA 为什么能外推"


def test_points_of_an_answer_do_not_pile_up() -> None:
    said = Turn(Role.ASSISTANT, "有三点：\n\n- 快\n- 省\n- 稳")
    talk = [Turn(Role.USER, "LoRA 好在哪"), said]
    second = follow_ups.follow("第二点展开说", talk, Standalone("LoRA 好在哪"))
    assert second.subject == "LoRA 好在哪 省"
    assert (
        follow_ups.follow("第一点呢", [*talk, Turn(Role.USER, "第二点展开说"), said], second).subject
        == "LoRA 好在哪 快"
    )


def test_words_that_do_not_point_back_still_lean_on_the_root_of_the_talk(
    library_index: Index, hash_embedder: HashEmbedder
) -> None:
    talk = [
        Turn(Role.USER, "LoRA 的秩怎么选"), Turn(Role.ASSISTANT, "看任务。"),
        Turn(Role.USER, "那具体呢"), Turn(Role.ASSISTANT, "从 8 试起。"),
        Turn(Role.USER, "那怎么算"), Turn(Role.ASSISTANT, "乘起来。"),
    ]  # fmt: skip
    read = stand_alone(Searcher(library_index, hash_embedder, 10), "那压小一点呢", talk, follows=True)
    assert read.text == "LoRA 的秩怎么选 那怎么算 那压小一点呢"
    assert read.root == "LoRA 的秩怎么选"


@pytest.mark.parametrize(
    ("question", "asked"),
    [("嗯，好的，那它为什么快？", "为什么快"), ("ok, got it, why so slow", "why so slow"), ("hmm...", "hmm...")],
)
def test_what_is_said_on_the_way_is_not_asked(question: str, asked: str) -> None:
    assert follow(question, HISTORY).own_words.strip() == asked


def test_a_refusal_is_no_context() -> None:
    refused = Turn(Role.ASSISTANT, "资料里没有提到 GRPO。", refused=True)
    followed = follow("那它的缺点呢", [Turn(Role.USER, "GRPO 是什么？"), refused])
    assert followed.said == ""


def test_an_answer_that_names_a_silent_side_is_context() -> None:
    """It begins as a refusal does, and is none."""
    answer = "资料里没有提到 GRPO，下面只说 RoPE。\n\n- RoPE 按位置旋转 [1]\n- 旋转不改变长度 [2]"
    history = [Turn(Role.USER, "GRPO 和 RoPE 各是什么？"), Turn(Role.ASSISTANT, answer)]
    assert follow("第二点展开说", history).subject.endswith("旋转不改变长度")


POINTS = "方法有：\n\n- **PI** 等比压缩位置 [1]\n- NTK 改底数 [2]\n- YaRN 分段插值 [3]"


@pytest.mark.parametrize(
    ("question", "point"),
    [
        ("第二点展开说", "NTK 改底数"),
        ("第 1 条呢", ""),
        ("第1条呢", "PI 等比压缩位置"),
        ("Tell me more about the third point", "YaRN 分段插值"),
        ("最后一点为什么", "YaRN 分段插值"),
        ("第九点展开说", ""),
    ],
)
def test_a_point_of_the_last_answer_is_named(question: str, point: str) -> None:
    history = [Turn(Role.USER, "RoPE 怎么外推？"), Turn(Role.ASSISTANT, POINTS)]
    assert follow(question, history).subject == f"RoPE 怎么外推 {point}".strip()


def test_an_answer_without_a_list_has_its_paragraphs_for_points() -> None:
    history = [Turn(Role.USER, "RoPE 怎么外推？"), Turn(Role.ASSISTANT, "先压缩。 [1]\n\n再微调。 [2]")]
    assert follow("第二点展开说", history).subject == "RoPE 怎么外推 再微调。"


@pytest.mark.parametrize(
    ("question", "named"), [("后者慢多少", "ZeRO-3慢多少"), ("is the former faster?", "is ZeRO-2 faster?")]
)
def test_former_and_latter_are_named(question: str, named: str) -> None:
    assert follow(question, [Turn(Role.USER, "ZeRO-2 和 ZeRO-3 差在哪")]).question == named


@pytest.mark.parametrize(
    ("last", "question", "swapped"),
    [
        ("DPO 是什么？", "那 PPO 呢？", "PPO 是什么？"),
        ("What is LoRA?", "How about QLoRA?", "What is QLoRA?"),
        ("Terraform 是什么？", "那 LoRA 呢？", "LoRA 是什么？"),
        ("LoRA 为什么能省显存？", "换成 MoE 呢", "MoE 为什么能省显存？"),
    ],
)
def test_a_bare_name_takes_the_place_of_the_one_before(last: str, question: str, swapped: str) -> None:
    followed = follow(question, [Turn(Role.USER, last)])
    assert (followed.query, followed.own_words, followed.replaces) == (swapped, swapped, True)


@pytest.mark.parametrize(
    ("last", "question"),
    [
        ("DPO 和 PPO 差在哪", "那 GRPO 呢"),
        ("自注意力是什么", "那 LoRA 呢"),
        ("DPO 是什么？", "那 PPO 慢吗"),
        ("DPO 是什么？", "PPO"),
        ("What is the idea of MLA in attention", "ok and its drawback?"),
    ],
)
def test_what_says_more_or_has_no_one_name_to_replace_stays(last: str, question: str) -> None:
    assert not follow(question, [Turn(Role.USER, last)]).replaces


@pytest.mark.parametrize(("question", "own"), [("那 alpha 呢？", "alpha"), ("and its rank?", "rank"), ("它", "它")])
def test_own_words_are_those_that_do_not_lean(question: str, own: str) -> None:
    assert Standalone(question, "LoRA").own_words == own


def test_a_very_long_subject_leaves_room_for_the_question() -> None:
    question = follow("那它的缺点呢", [Turn(Role.USER, "背景" * 5_000 + "，RoPE 怎么外推？")]).text
    assert question.endswith("RoPE 怎么外推 那它的缺点呢")
    assert len(question) <= MAX_SUBJECT_CHARACTERS + 10


@pytest.mark.parametrize(
    "question",
    ["写出来看看", "公式给我", "换个简单的说法", "聽不懂 講白話一點", "太绕了 打个比方", "eli5 pls", "shorter please, one or two sentence",
     "can you write the formula down", "show me the steps as pseudocode", "写出来 要能跑的", "代码呢", "举个例子"],
)  # fmt: skip
def test_the_last_answer_in_another_form_leans_on_it_and_names_nothing(question: str) -> None:
    assert restates(question)
    followed = follow(question, HISTORY)
    assert (followed.subject, followed.restates) == ("LoRA 为什么能省显存", True)


@pytest.mark.parametrize(
    "question", ["LoRA 公式", "give me an example of LoRA", "手写一个 softmax", "简单介绍一下 BERT", "那 alpha 呢"]
)
def test_what_names_something_is_no_restatement(question: str) -> None:
    assert not restates(question)


def test_what_stands_between_a_follow_up_and_its_answer_is_passed_over() -> None:
    """Thanks, and what was refused after something had been answered."""
    aside = [
        Turn(Role.USER, "谢谢"),
        Turn(Role.ASSISTANT, "不客气！"),
        Turn(Role.USER, "今天天气咋样"),
        Turn(Role.ASSISTANT, "资料里没有找到能回答这个问题的内容。", refused=True),
    ]
    followed = follow("那它的缺点呢", recent([*HISTORY, *aside]))
    assert (followed.subject, followed.said) == ("LoRA 为什么能省显存", HISTORY[1].text)


def test_a_refused_question_is_leant_on_where_nothing_was_answered_before_it() -> None:
    refused = [Turn(Role.USER, "GRPO 是什么？"), Turn(Role.ASSISTANT, "资料里没有提到 GRPO。", refused=True)]
    assert follow("那它的缺点呢", recent(refused)).subject == "GRPO 是什么"
    assert follow("那它的缺点呢", recent([*refused, *HISTORY])).subject == "LoRA 为什么能省显存"


def test_a_question_that_failed_is_leant_on() -> None:
    """It was asked, and nothing says that the material has no answer."""
    assert (
        follow("那它的缺点呢", recent([*HISTORY, Turn(Role.USER, "RoPE 为什么能外推？")])).subject
        == "RoPE 为什么能外推"
    )

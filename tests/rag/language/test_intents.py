"""What a message wants of the last answer."""

import pytest

from rag.language.messages import MESSAGES, Intent, answered_by, intent_of, restates


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("写出来看看", Intent.FORMULA),
        ("公式给我", Intent.FORMULA),
        ("给我代码", Intent.CODE),
        ("写出代码看看", Intent.CODE),
        ("要能跑的", Intent.CODE),
        ("show me the code", Intent.CODE),
        ("can you write the formula down", Intent.FORMULA),
        ("有什么坑", Intent.MISTAKES),
        ("有哪些常见错误？", Intent.MISTAKES),
        ("what are common mistakes", Intent.MISTAKES),
        ("展开讲讲", Intent.MORE),
        ("go into more detail", Intent.MORE),
        ("没听懂 换个简单的说法", Intent.SIMPLER),
        ("too hard, say it like i am a chemist", Intent.SIMPLER),
        ("太长了 一句话说", Intent.SHORTER),
        ("shorter please, one or two sentence", Intent.SHORTER),
        ("LoRA 的秩怎么选", None),
        ("写代码跟闲聊的温度各设多少", None),
    ],
)
def test_an_intent_is_seen(message: str, intent: Intent | None) -> None:
    assert intent_of(message) is intent


@pytest.mark.parametrize("message", [text for texts in MESSAGES.values() for text in texts.values()])
def test_what_the_buttons_say_asks_for_the_last_answer_in_another_form(message: str) -> None:
    assert restates(message)
    assert intent_of(message) is next(i for texts in MESSAGES.values() for i, text in texts.items() if text == message)


@pytest.mark.parametrize("question", ["LoRA 的常见错误有哪些", "展开讲讲 ZeRO", "beam search 的代码", "有哪些量化方法"])
def test_a_question_with_a_subject_of_its_own_restates_nothing(question: str) -> None:
    assert not restates(question)


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("LoRA 怎么实现", True),
        ("用 PyTorch 实现 LayerNorm", True),
        ("位置编码的作用和实现方式", False),
        ("流式输出实现的原理", False),
        ("KV cache 实现思路", False),
    ],
)
def test_the_ways_something_is_done_are_told_in_words(question: str, code: bool) -> None:
    assert answered_by(Intent.CODE, question) is code

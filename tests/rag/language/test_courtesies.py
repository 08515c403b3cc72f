"""Greetings, thanks and questions about the chatbot itself are told from questions about the material."""

import pytest

from rag.answer.assistant import Assistant
from rag.language.courtesy import Courtesy
from rag.language.messages import courtesy
from rag.types import AnswerKind, Role, Turn

COURTESIES = {
    Courtesy.GREETING: ["hi", "你好", "你好啊！", "Hello there", "在吗", "哈喽", "早上好", "👋", "good morning"],
    Courtesy.THANKS: ["谢谢", "好的谢谢", "thanks a lot", "ok", "明白了", "太感谢了", "thank you so much!", "got it"],
    Courtesy.FAREWELL: ["再见", "bye", "拜拜啦", "see you later", "晚安"],
    Courtesy.ABILITIES: [
        "你能做什么？",
        "你是谁",
        "What can you do?",
        "What topics can you answer?",
        "hi，你能做什么",
        "help",
        "有哪些主题",
    ],
    Courtesy.QUIZ: ["考考我", "来一道题", "面试我", "quiz me", "模拟面试", "Ask me a question"],
    Courtesy.TRANSLATION: ["翻译成英文", "translate that to English", "用英文说一遍", "把上面的回答翻译成中文"],
}
QUESTIONS = [
    "LoRA", "分词", "为什么", "怎么用", "举个例子", "翻译模型怎么评测", "你好，LoRA 是什么", "测试集怎么划分", "英文分词",
    "How do I cook pasta?", "法国的首都是哪里？", "什么是好的奖励模型", "BERT 能做什么", "谢谢，那它的缺点呢", "Thanks, and its drawbacks?",
    "Who proposed LoRA?", "What is help-only RLHF?", "好的，那学习率一般设多少", "test time compute", "问题分解怎么做",
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), [(text, kind) for kind, texts in COURTESIES.items() for text in texts])
def test_a_courtesy_is_known(text: str, kind: Courtesy) -> None:
    assert courtesy(text) is kind


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_is_none(text: str) -> None:
    assert courtesy(text) is None


@pytest.mark.parametrize("kind", Courtesy)
def test_every_courtesy_is_answered_in_both_languages_without_a_search(kind: Courtesy, assistant: Assistant) -> None:
    texts = COURTESIES[kind]
    chinese = next((text for text in texts if not text.isascii()), texts[0])
    english = next(text for text in texts if text.isascii() and text.isprintable())
    for text in (chinese, english):
        finished = assistant.finish(text, [Turn(Role.USER, "LoRA 为什么能省显存？")])
        answer = finished.answer
        assert (answer.courtesy, answer.kind, answer.refused) == (kind, AnswerKind.ANSWER, False)
        assert answer.text.count("\n- ") >= 1
        assert (answer.citations, answer.claims, answer.search_queries) == ((), (), ())
        assert finished.trace.milliseconds == {}


def test_a_quiz_asks_other_questions_at_each_turn(assistant: Assistant) -> None:
    said = {assistant.ask("考考我", [Turn(Role.USER, "考考我")] * turn).text for turn in range(3)}
    assert len(said) == 3

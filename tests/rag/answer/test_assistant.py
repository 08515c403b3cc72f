"""The whole way of a question over one open index."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from rag.answer.assistant import MAX_QUESTION_CHARACTERS, Assistant
from rag.answer.quoted.writer import write_quotes
from rag.answer.trace import EvidenceFound, Finished, TextAdded, WrittenAnswer
from rag.errors import IndexMismatchError, IndexMissingError, UsageError
from rag.settings import Settings
from rag.types import Role, Turn
from tests.conftest import HashEmbedder
from tests.rag.answer.quoted.test_selection import check
from tests.rag.library import DOCUMENTS, ingest, library_settings

QUESTIONS = [
    "RoPE 为什么能外推？",
    "ZeRO-2 和 ZeRO-3 差在哪",
    "Why loss scaling?",
    "LoRA 的秩怎么选？",
    "GRPO 是什么？",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_events_come_in_order_and_add_up(question: str, assistant: Assistant) -> None:
    events = list(assistant.stream(question))
    assert isinstance(events[0], EvidenceFound)
    assert all(isinstance(event, TextAdded) for event in events[1:-1])
    last = events[-1]
    assert isinstance(last, Finished)
    answer = last.answer
    check(answer, assistant.index)
    if answer.refused:
        assert len(events) == 2
        assert answer.text
        assert (answer.claims, answer.citations) == ((), ())
    else:
        assert "".join(event.text for event in events if isinstance(event, TextAdded)).strip() == answer.text
        assert 0 < answer.seconds.retrieve <= answer.seconds.first_text <= answer.seconds.total


def test_what_the_first_question_would_wait_for_is_done_before(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = assistant.index
    read_late = ("vocabulary", "sounds")
    for name in read_late:
        vars(index).pop(name, None)
    assistant.warm_up()
    assert vars(index).keys() >= {*read_late}

    def broken(*_: object) -> None:
        raise IndexMissingError("gone")

    monkeypatch.setattr(assistant, "prepare", broken)
    assistant.warm_up()


@pytest.mark.parametrize("question", ["", "  \n\t", "\x00\x07\u200b", "\ud800"])
def test_an_empty_question_is_wrong_usage(question: str, assistant: Assistant) -> None:
    for ask in (assistant.ask, assistant.search):
        with pytest.raises(UsageError, match="empty"):
            ask(question)


def test_a_question_may_be_long_but_not_endless(assistant: Assistant) -> None:
    assert assistant.ask("显存" * (MAX_QUESTION_CHARACTERS // 2)).question
    with pytest.raises(UsageError, match=r"20,000 characters; at most 4,000"):
        assistant.ask("显存" * 10_000)


def test_control_characters_do_not_reach_the_search(assistant: Assistant) -> None:
    answer = assistant.ask("LoRA\x00\x1b[31m 的秩\u202e怎么选？")
    assert answer.search_queries == ("LoRA[31m 的秩怎么选？",)
    assert "8 到 64" in answer.text


@pytest.mark.parametrize("question", ["%s {x} {{", "'; DROP TABLE passages; --", "[1] **", "\\", "😀" * 50, "？？？"])
def test_odd_questions_are_questions(question: str, assistant: Assistant) -> None:
    check(assistant.ask(question), assistant.index)


def test_a_follow_up_is_searched_with_its_subject(assistant: Assistant) -> None:
    history = [Turn(Role.USER, "LoRA 为什么能省显存？"), Turn(Role.ASSISTANT, "因为低秩。")]
    answer = assistant.ask("那秩怎么选", history)
    assert answer.question == "那秩怎么选"
    assert answer.search_queries == ("LoRA 为什么能省显存 那秩怎么选",)
    assert {citation.document for citation in answer.citations} == {"lora.txt"}


def test_a_long_history_does_not_push_the_question_out(assistant: Assistant) -> None:
    answer = assistant.ask("那秩怎么选", [Turn(Role.USER, "LoRA" + "背景" * 2_000)] * 3)
    assert answer.search_queries[0].endswith("那秩怎么选")


def test_each_side_of_a_question_is_searched_and_cited(assistant: Assistant) -> None:
    answer = assistant.ask("W4A16 和 LoRA 各自省的是什么显存")
    check(answer, assistant.index)
    assert answer.search_queries[1:] == ("W4A16 各自省的是什么显存", "LoRA 各自省的是什么显存")
    assert {citation.document for citation in answer.citations} == {"formats.md", "lora.txt"}


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("LoRA 和 GRPO 的区别", "资料里没有提到 GRPO，下面只说 LoRA。"),
        ("LoRA 和玻璃鱼缸的区别", "资料里没有提到 玻璃鱼缸，下面只说 LoRA。"),
        (
            "What is the difference between LoRA and GRPO?",
            "The material says nothing about GRPO. What follows is about LoRA only.",
        ),
    ],
)
def test_a_side_of_which_nothing_is_said_is_named(question: str, said: str, assistant: Assistant) -> None:
    events = list(assistant.stream(question))
    answer = events[-1].answer if isinstance(events[-1], Finished) else None
    assert answer is not None
    check(answer, assistant.index)
    assert answer.text.startswith(said)
    assert {citation.document for citation in answer.citations} == {"lora.txt"}
    assert "".join(event.text for event in events if isinstance(event, TextAdded)).strip() == answer.text


def test_where_no_side_is_known_the_question_is_refused(assistant: Assistant) -> None:
    answer = assistant.ask("GRPO 和 DAPO 的区别")
    assert answer.refusal is not None
    assert answer.refusal.missing == ("GRPO", "DAPO")


def test_a_refusal_speaks_the_language_of_the_question(assistant: Assistant) -> None:
    chinese, english = assistant.ask("GRPO 的优势怎么估计？"), assistant.ask("What is GRPO?")
    for answer in (chinese, english):
        assert answer.refusal is not None
        assert answer.refusal.missing == ("GRPO",)
        assert "GRPO" in answer.text
        assert all(suggestion in answer.text for suggestion in answer.refusal.suggestions)
    assert "资料" in chinese.text
    assert chinese.text.isascii() is False
    assert english.text.split("\n")[0].isascii()


def test_top_k_is_that_of_the_settings_or_the_call(library: Settings, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library.model_copy(update={"top_k": 2}), hash_embedder)
    assert len(assistant.search("LoRA").hits) == 2
    assert len(assistant.search("LoRA", k=3).hits) == 3


def test_a_new_generation_is_picked_up(own_library: Path, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library_settings(own_library), hash_embedder)
    assert assistant.ask("GRPO 的优势怎么估计？").refused
    new = {"grpo.md": "# GRPO 的优势怎么估计？\n\nGRPO 用同一个问题的一组回答的平均奖励作基线，不训练价值模型。\n"}
    ingest(own_library, hash_embedder, DOCUMENTS | new)
    answer = assistant.ask("GRPO 的优势怎么估计？")
    assert not answer.refused
    assert answer.citations[0].document == "grpo.md"
    ingest(own_library, hash_embedder, DOCUMENTS)
    assert assistant.ask("GRPO 的优势怎么估计？").refused
    assert assistant.source("grpo.md") is None


def test_an_index_made_anew_is_picked_up_though_its_generation_has_the_same_number(
    own_library: Path, hash_embedder: HashEmbedder
) -> None:
    assistant = Assistant(library_settings(own_library), hash_embedder)
    shutil.rmtree(assistant.settings.index)
    ingest(own_library, hash_embedder, {"new.md": "# MoE 的路由怎么训练？\n\n路由网络给每个专家打分，取前两个。\n"})
    assert assistant.index.name == "000001"
    assert assistant.search("MoE 的路由").hits[0].passage.document == "new.md"


def test_an_answer_under_way_keeps_its_generation(own_library: Path, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library_settings(own_library), hash_embedder)
    events = assistant.stream("LoRA 的秩怎么选？")
    next(events)
    for number in range(4):
        ingest(own_library, hash_embedder, {"new.md": f"# 别的内容\n\n第 {number} 版，里面没有原来的任何一句话。\n"})
    *_, last = events
    assert isinstance(last, Finished)
    assert "8 到 64" in last.answer.text
    assert assistant.ask("LoRA 的秩怎么选？").refused


def test_questions_are_answered_while_the_index_changes(own_library: Path, hash_embedder: HashEmbedder) -> None:
    assistant = Assistant(library_settings(own_library), hash_embedder)
    done = threading.Event()

    def publish() -> None:
        for number in range(10):
            page = {"new.md": f"# 新的一页讲什么？\n\n第 {number} 版的内容在这里，和别的都不一样。\n"}
            ingest(own_library, hash_embedder, DOCUMENTS | page)
        done.set()

    def ask(question: str) -> int:
        asked = 0
        while not done.is_set():
            answer = assistant.ask(question)
            assert answer.refused == ("GRPO" in question)
            asked += 1
        return asked

    with ThreadPoolExecutor(4) as pool:
        publisher = pool.submit(publish)
        counts = list(pool.map(ask, ["LoRA 的秩怎么选？", "ZeRO-2 和 ZeRO-3 差在哪", "GRPO 是什么？"]))
        publisher.result()
    assert all(counts)


def test_closing_the_stream_stops_the_work(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever leaves at the evidence has nothing written. That a chat model hangs up is tested in test_writer.py."""
    written: list[str] = []

    def counted(*arguments: Any, **more: Any) -> WrittenAnswer:
        written.append("quotes")
        return write_quotes(*arguments, **more)

    monkeypatch.setattr("rag.answer.quoted.writer.write_quotes", counted)
    list(assistant.stream("RoPE 为什么能外推？"))
    assert written == ["quotes"]
    events = assistant.stream("RoPE 为什么能外推？")
    assert isinstance(next(events), EvidenceFound)
    events.close()  # type: ignore[attr-defined]
    assert written == ["quotes"]


def test_an_empty_index_refuses(tmp_path: Path, hash_embedder: HashEmbedder) -> None:
    ingest(tmp_path, hash_embedder, {}, allow_empty=True)
    answer = Assistant(library_settings(tmp_path), hash_embedder).ask("LoRA 是什么？")
    assert answer.refused
    assert answer.refusal is not None
    assert answer.refusal.suggestions == ()


def test_an_index_of_another_embedder_is_refused(library: Settings) -> None:
    class Other(HashEmbedder):
        identity = "other@1"

    with pytest.raises(IndexMismatchError):
        Assistant(library, Other())


def test_a_missing_index_is_said_before_a_model_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(IndexMissingError):
        Assistant.open(Settings(index=tmp_path, models=tmp_path, embedder="no-such-model"))

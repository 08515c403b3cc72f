"""The pipeline as its front ends run it: stages in order, a trace, clean ends, nothing that blocks an event loop."""

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage, HumanMessageChunk, SystemMessage

from rag.answer.assistant import Assistant
from rag.answer.chain import PassageRetriever, answer_runnable
from rag.answer.evidence import QuestionResults, run_search
from rag.answer.pipeline import Stage, prepare, run
from rag.answer.quoted.writer import QuoteWriter
from rag.answer.trace import Event, EvidenceFound, TextAdded, Trace, WrittenAnswer
from rag.question.follow_ups import Standalone, follow
from rag.question.question import UserQuestion
from rag.search.searcher import Searcher
from rag.types import Role, Turn

QUESTION = "LoRA 的秩怎么选？"


def test_the_stages_run_in_order_and_keep_their_time(assistant: Assistant) -> None:
    finished = assistant.finish(QUESTION)
    assert list(finished.trace.milliseconds) == ["resolve", "search", "decide", "rank", "select"]
    assert finished.answer.search_queries == finished.trace.question.queries
    assert finished.trace.selection.paragraphs


def test_what_is_prepared_is_what_is_answered(assistant: Assistant) -> None:
    prepared, finished = assistant.prepare(QUESTION), assistant.finish(QUESTION)
    assert prepared.selection == finished.trace.selection
    assert prepared.decision == finished.trace.decision


def test_text_counts_from_the_first_text(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not from the loading of a model that comes before it."""
    write = QuoteWriter.write

    def slowly(self: QuoteWriter, trace: Trace) -> Iterator[Event | WrittenAnswer]:
        from rag.answer.trace import ModelLoading

        yield ModelLoading()
        time.sleep(0.2)
        yield from write(self, trace)

    monkeypatch.setattr(QuoteWriter, "write", slowly)
    assert assistant.ask(QUESTION).seconds.first_text >= 0.2


def test_closing_the_stream_closes_the_writer(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[bool] = []

    def endless(self: QuoteWriter, trace: Trace) -> Iterator[Event | WrittenAnswer]:
        try:
            while True:
                yield TextAdded("…")
        finally:
            closed.append(True)

    monkeypatch.setattr(QuoteWriter, "write", endless)
    events = assistant.stream(QUESTION)
    assert isinstance(next(events), EvidenceFound)
    assert isinstance(next(events), TextAdded)
    events.close()  # type: ignore[attr-defined]
    assert closed == [True]


class Held:
    """A step that lasts until the event loop lets it go, which one that waits for the step cannot do."""

    def __init__(self) -> None:
        self.has_begun, self.may_go_on = threading.Event(), threading.Event()
        self.was_let_go = False

    def hold(self) -> None:
        self.has_begun.set()
        self.was_let_go = self.may_go_on.wait(60)

    async def let_go(self) -> None:
        while not self.has_begun.is_set():
            await asyncio.sleep(0.01)
        self.may_go_on.set()


@pytest.mark.parametrize("how", ["ainvoke", "astream"])
def test_the_event_loop_never_waits(how: str, assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither for retrieval nor for writing."""
    search, write = run_search, QuoteWriter.write
    searching, writing = Held(), Held()

    def slow_search(*arguments: Any) -> Any:
        searching.hold()
        return search(*arguments)

    def slow_write(self: QuoteWriter, trace: Trace) -> Iterator[Event | WrittenAnswer]:
        writing.hold()
        yield from write(self, trace)

    monkeypatch.setattr("rag.answer.pipeline.run_search", slow_search)
    monkeypatch.setattr(QuoteWriter, "write", slow_write)
    runnable = answer_runnable(assistant)

    async def run() -> str:
        if how == "ainvoke":
            return await runnable.ainvoke({"question": QUESTION})
        return "".join([text async for text in runnable.astream({"question": QUESTION})])

    async def main() -> str:
        answered, *_ = await asyncio.gather(run(), searching.let_go(), writing.let_go())
        return answered

    answered = asyncio.run(main())
    assert searching.was_let_go
    assert writing.was_let_go
    assert answered.strip() == assistant.ask(QUESTION).text


def test_the_history_may_hold_chunks_and_content_blocks(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    history = [
        SystemMessage("Be brief."),
        HumanMessageChunk(content=[{"type": "text", "text": "LoRA 为什么能省显存？"}]),
        AIMessageChunk(content="LoRA 只训练两个低秩矩阵。"),
    ]
    plain = [HumanMessage("LoRA 为什么能省显存？"), AIMessageChunk(content="LoRA 只训练两个低秩矩阵。")]
    runnable = answer_runnable(assistant)
    with_chunks = runnable.invoke({"question": "那它的秩怎么选？", "history": history})
    assert with_chunks == runnable.invoke({"question": "那它的秩怎么选？", "history": plain})
    assert with_chunks
    queries: list[str] = []

    def remember(searcher: Searcher, question: UserQuestion) -> QuestionResults:
        queries.extend(question.queries)
        return run_search(searcher, question)

    monkeypatch.setattr("rag.answer.pipeline.run_search", remember)
    runnable.invoke({"question": "那它的秩怎么选？", "history": history})
    assert queries == ["LoRA 为什么能省显存 那它的秩怎么选？"]


def test_the_retriever_returns_as_many_as_the_settings_say(assistant: Assistant) -> None:
    few = Assistant(assistant.settings.model_copy(update={"top_k": 2}), assistant.embedder)
    assert len(PassageRetriever(assistant=few).invoke(QUESTION)) == 2
    assert len(PassageRetriever(assistant=few, k=3).invoke(QUESTION)) == 3


def test_the_chain_is_the_programs_own_path(assistant: Assistant) -> None:
    finished = assistant.finish(QUESTION)
    assert answer_runnable(assistant).invoke({"question": QUESTION}).strip() == finished.answer.text
    assert prepare(assistant.begin(QUESTION)).result == finished.trace.result


def test_an_answer_goes_on_with_the_generation_it_began_with(assistant: Assistant) -> None:
    trace = assistant.begin(QUESTION)
    assert trace.resources.index is assistant.index
    assert replace(trace, message="x").resources.index is assistant.index


def test_a_reading_that_is_searched_to_be_chosen_is_not_searched_again(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The follow-up names something, so that both readings are tried until one is not refused."""
    searched: list[UserQuestion] = []

    def counted(searcher: Searcher, question: UserQuestion) -> QuestionResults:
        searched.append(question)
        return run_search(searcher, question)

    monkeypatch.setattr("rag.answer.pipeline.run_search", counted)
    history = [Turn(Role.USER, "Terraform 是什么？"), Turn(Role.ASSISTANT, "资料里没有。", refused=True)]
    prepared = assistant.prepare("那 LoRA 的秩怎么选呢？", history)
    assert prepared.question in searched
    assert len(searched) == len(set(searched)) > 1
    assert list(prepared.milliseconds) == ["resolve", "search", "decide", "rank", "select"]


def test_a_message_is_read_once(assistant: Assistant, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both readings are searched and judged, and the message is still read as a follow-up only once, as is the one
    before it."""
    messages: list[str] = []

    def counted(question: str, talk: Sequence[Turn], before: Standalone | None) -> Standalone:
        messages.append(question)
        return follow(question, talk, before)

    monkeypatch.setattr("rag.question.follow_ups.follow", counted)
    history = [Turn(Role.USER, "Terraform 是什么？"), Turn(Role.ASSISTANT, "资料里没有。", refused=True)]
    assistant.ask("那 LoRA 的秩怎么选呢？", history)
    assert messages == ["Terraform 是什么？", "那 LoRA 的秩怎么选呢？"]


def test_time_spent_in_another_stage_is_counted_as_its_own(
    assistant: Assistant, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0

    def slow(trace: Trace) -> Trace:
        nonlocal now
        now += 1.0
        return trace

    monkeypatch.setattr("rag.answer.pipeline.perf_counter", lambda: now)
    inner = Stage("inner", slow)
    outer = Stage("outer", lambda trace: run([inner], trace))
    taken = run([outer, inner], assistant.begin(QUESTION)).milliseconds
    assert list(taken.items()) == [("outer", 0.0), ("inner", 1_000.0)]

"""The path of a question: resolve -> search -> decide -> rank -> select -> (explore) -> write.

Each stage is a function from explicit inputs to a value. As LangChain runnables they make `ANSWER`, which every front
end runs, and `PREPARE`, which stops before anything is written. The `Trace` keeps the result of each stage.
"""

from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from time import perf_counter
from typing import cast

from langchain_core.runnables import Runnable, RunnableGenerator, RunnableLambda

from rag.answer.agent.explore import explore
from rag.answer.choices import STYLES, StyleName
from rag.answer.quoted.opening import opens_with_a_sentence
from rag.answer.quoted.writer import QuoteWriter, select_quotes
from rag.answer.rank import in_words
from rag.answer.replies import calculated_text, courtesy_text, nearest_text, refusal_text, silent_side_text
from rag.answer.running import Run
from rag.answer.suggestions import suggest
from rag.answer.trace import (
    AnswerResources,
    AnswerWriter,
    Event,
    EvidenceFound,
    Finished,
    Selection,
    TextAdded,
    TextDiscarded,
    Trace,
    Written,
)
from rag.answer.understanding import decided, ranked, searched, understood
from rag.answer.written.writer import ChatModelWriter
from rag.index import Index
from rag.language.messages import courtesy
from rag.question.plan import SearchPlan
from rag.settings import AgentMode, ChatModelName
from rag.types import Answer, AnswerKind, Citation, ReadAs, Refusal, RefusalReason, Seconds


def wants_agent(trace: Trace) -> bool:
    """Whether an agent is allowed, there is a chat model for it, and the question is doubtful or needs several
    searches. A refusal stands: an agent that searches until something fits would answer near misses."""
    resources, decision = trace.resources, trace.decision
    if resources.settings.agent is AgentMode.OFF or resources.chat_model is None or trace.courtesy is not None:
        return False
    if decision.refusal is not None:
        return False
    return decision.in_doubt or bool(decision.result.compared or trace.plan.parts)


# The amount quoted if nothing may answer directly.
NEAREST_STYLE = replace(STYLES[StyleName.STANDARD], characters=700)


def writer_for(resources: AnswerResources) -> AnswerWriter:
    return QuoteWriter() if resources.chat_model is None else ChatModelWriter()


def write(trace: Trace) -> Iterator[Event]:
    """The answer as a stream; the last event holds all of it. Closing the iterator stops the work."""
    if trace.courtesy is not None:
        text = courtesy_text(trace.question, trace.courtesy, trace.resources.index, turn=len(trace.history))
        yield TextAdded(text)
        seconds = Seconds(0.0, trace.seconds, trace.seconds)
        quotes = str(ChatModelName.EXTRACTIVE)
        yield Finished(Answer(trace.question, (), text, quotes, seconds=seconds, courtesy=trace.courtesy), trace)
        return
    retrieved = sum(trace.milliseconds.get(stage, 0.0) for stage in ("resolve", "search")) / 1_000
    yield EvidenceFound(trace.result.evidence)
    trace = SELECT.invoke(trace)
    if wants_agent(trace):
        started = perf_counter()
        for item in explore(trace):
            if isinstance(item, Trace):
                trace = item
            else:
                yield item
        trace = replace(trace, milliseconds={**trace.milliseconds, "explore": _since(started)})
        if trace.exploration.asks:
            yield TextAdded(trace.exploration.asks)
            yield Finished(_asked_back(trace, retrieved), trace)
            return
    refusal = trace.decision.refusal
    result = trace.decision.result
    nearest = trace.selection.is_nearest
    lead = silent_side_text(trace.question, result.silent, result.known)
    if nearest:
        lead = nearest_text(trace.question, in_line=opens_with_a_sentence(trace.selection.paragraphs))
    written = Written(llm=trace.resources.llm)
    first_text = 0.0
    if refusal is None:
        if lead:
            first_text = trace.seconds
            yield TextAdded(lead)
        writer = QuoteWriter() if nearest else writer_for(trace.resources)
        for event in writer.write(trace):
            if isinstance(event, Written):
                written = event
                continue
            if isinstance(event, TextAdded):
                first_text = first_text or trace.seconds
            yield event
            if lead and isinstance(event, TextDiscarded):
                yield TextAdded(lead)
        if not written.is_supported:
            refusal = Refusal(RefusalReason.NO_SUPPORTED_CLAIM)
    computed = calculated_text(trace.question, trace.steps) if refusal is None else ""
    if computed:
        yield TextAdded(computed)
    seconds = Seconds(retrieved, first_text or trace.seconds, trace.seconds)
    answer = Answer(
        trace.question,
        _searched(trace),
        "",
        str(written.llm),
        seconds=seconds,
        fallback=written.fallback,
        steps=trace.steps,
        read_as=_read_as(trace.plan),
    )
    if refusal is not None:
        others = suggest(trace.resources.index, result.for_decision)
        refusal = replace(refusal, suggestions=others, only=trace.resources.choices.only)
        text = refusal_text(trace.question, refusal)
        answer = replace(answer, text=text, refusal=refusal, kind=AnswerKind.REFUSAL)
    else:
        answer = replace(
            answer,
            text=f"{lead}{written.text}{computed}",
            claims=written.claims,
            citations=with_pages(trace.resources.index, written.citations),
            left_out=written.left_out,
            kind=AnswerKind.NEAREST if nearest else AnswerKind.ANSWER,
            nearest=suggest(trace.resources.index, result.evidence) if nearest else (),
        )
    yield Finished(answer, trace)


def _asked_back(trace: Trace, retrieved: float) -> Answer:
    """The agent's question in place of an answer."""
    seconds = Seconds(retrieved, trace.seconds, trace.seconds)
    return Answer(
        trace.question,
        _searched(trace),
        trace.exploration.asks,
        str(trace.resources.llm),
        seconds=seconds,
        kind=AnswerKind.CLARIFICATION,
        steps=trace.steps,
        read_as=_read_as(trace.plan),
    )


def _read_as(plan: SearchPlan) -> ReadAs:
    return ReadAs(plan.standalone.question, plan.standalone.subject or None)


def _searched(trace: Trace) -> tuple[str, ...]:
    """All queries, the agent's too."""
    asked = (ask.query for ask in trace.plan.asks)
    return tuple(
        dict.fromkeys((*trace.plan.queries, *asked, *(evidence.query for evidence in trace.exploration.evidence)))
    )


def with_pages(index: Index, citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """The citations with the page on which each begins, if their document has pages."""
    borders = {name: index.storage.pages(name) for name in {citation.document for citation in citations}}
    return tuple(
        replace(citation, page=bisect_right(borders[citation.document], citation.start) or None)
        for citation in citations
    )


def _resolve(trace: Trace) -> Trace:
    kind = courtesy(trace.question)
    return understood(trace) if kind is None else replace(trace, courtesy=kind)


def _is_nearest(trace: Trace) -> bool:
    """Whether to quote only the nearest material for a doubtful question. A large chat model may decline, and an agent
    may find more; a question that leans on an answer is about that answer."""
    if trace.plan.standalone.leans or trace.result.compared or wants_agent(trace):
        return False
    return trace.decision.in_doubt and not trace.resources.may_decline


def _select(trace: Trace) -> Trace:
    if trace.decision.refusal is not None:
        return trace
    if _is_nearest(trace):
        trace = replace(trace, rankings=tuple(map(in_words, trace.rankings)))
        quotes = tuple(select_quotes(trace, NEAREST_STYLE))
        return replace(trace, selection=Selection(quotes, is_nearest=True))
    return replace(trace, selection=writer_for(trace.resources).select(trace))


def _observed(name: str, stage: Callable[[Trace], Trace]) -> Runnable[Trace, Trace]:
    """The stage as a runnable that records its time; a courtesy skips it."""

    def run(trace: Trace) -> Trace:
        if trace.courtesy is not None:
            return trace
        started = perf_counter()
        done = stage(trace)
        return replace(done, milliseconds={**trace.milliseconds, name: _since(started)})

    return RunnableLambda(run, name=name)


def _since(started: float) -> float:
    """Milliseconds."""
    return round((perf_counter() - started) * 1_000, 2)


def _write(traces: Iterator[Trace]) -> Iterator[Event]:
    for trace in traces:
        yield from write(trace)


async def _write_async(traces: AsyncIterator[Trace]) -> AsyncIterator[Event]:
    """The same in a thread, so that the event loop never waits for retrieval or a model."""
    async for trace in traces:
        run = Run(write(trace))
        try:
            async for event in run:
                yield event
        finally:
            run.stop()


DECIDE: Runnable[Trace, Trace] = (
    _observed("resolve", _resolve) | _observed("search", searched) | _observed("decide", decided)
)
SELECT: Runnable[Trace, Trace] = _observed("rank", ranked) | _observed("select", _select)
PREPARE: Runnable[Trace, Trace] = DECIDE | SELECT
# Writing begins with the evidence, which a reader sees while sections are ranked and paragraphs selected.
ANSWER: Runnable[Trace, Event] = DECIDE | cast("Runnable[Trace, Event]", RunnableGenerator(_write, _write_async))

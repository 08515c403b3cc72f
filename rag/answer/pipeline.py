"""The path of a message: resolve (read) -> search -> decide -> rank -> select -> write.

`STAGES` prepare an answer, `write` writes it. Each is a function from a `Trace` to one that holds its result.
"""

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

from rag.answer.choices import STYLES, StyleName
from rag.answer.decide import decide, reconsider
from rag.answer.evidence import run_search
from rag.answer.quoted.opening import opens_with_a_sentence
from rag.answer.quoted.writer import QuoteWriter, select_quotes
from rag.answer.rank import best_reading, in_words, rank_sections
from rag.answer.replies import calculated_text, courtesy_text, missing_text, nearest_text, refusal_text
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
    WrittenAnswer,
)
from rag.answer.verdict import refusal_of, verdict_on, wants_agent
from rag.answer.written.writer import ChatModelWriter
from rag.index import Index
from rag.question.question import UserQuestion
from rag.question.read import read
from rag.settings import ChatModelName
from rag.types import Answer, AnswerKind, Citation, ReadAs, Seconds

# The amount quoted if nothing may answer directly.
NEAREST_STYLE = replace(STYLES[StyleName.STANDARD], characters=700)


def writer_for(resources: AnswerResources) -> AnswerWriter:
    return QuoteWriter() if resources.chat_model is None else ChatModelWriter()


@dataclass(frozen=True, slots=True)
class Stage:
    """A step from a trace to one that holds its result; `name` is that of its time."""

    name: str
    work: Callable[[Trace], Trace]


def run(stages: Sequence[Stage], trace: Trace) -> Trace:
    """The trace after these stages. One that has run is not run again, and the time of those that another one has run
    is counted as theirs."""
    for stage in stages:
        before = trace.milliseconds
        if stage.name not in before:
            started = perf_counter()
            trace = stage.work(trace)
            others = sum(trace.milliseconds.values()) - sum(before.values())
            own = {stage.name: round(_since(started) - others, 2)}
            trace = replace(trace, milliseconds={**before, **own, **trace.milliseconds})
    return trace


def _since(started: float) -> float:
    """Milliseconds."""
    return round((perf_counter() - started) * 1_000, 2)


def _read(trace: Trace) -> Trace:
    """The question of a message. What was found for a reading that had to be judged before it was chosen is kept. It is
    judged without the model that reads sections, which finds sense in words that the material is silent about. Only a
    configured endpoint rewrites: other chat models are too slow for a waiting reader, or too small."""
    resources = trace.resources
    judged: dict[UserQuestion, Trace] = {}

    def is_refused(question: UserQuestion) -> bool:
        judged[question] = run(JUDGING[:2], replace(trace, question=question))
        return judged[question].decision.refusal is not None

    model = resources.chat_model
    question = read(
        resources.searcher,
        trace.message,
        trace.history,
        is_refused=is_refused,
        follows=resources.choices.follows,
        rewriter=model.model if model is not None and model.name is ChatModelName.ENDPOINT else None,
    )
    return judged.get(question) or replace(trace, question=question)


def _search(trace: Trace) -> Trace:
    return replace(trace, result=run_search(trace.resources.searcher, trace.question))


def _decide(trace: Trace) -> Trace:
    margin = trace.resources.choices.margin
    return replace(trace, decision=decide(trace.resources.index, trace.result, margin=margin))


def _rank(trace: Trace) -> Trace:
    """The sections in the order in which they answer, and the verdict. For a doubtful question the reader takes part in
    the decision."""
    decision, resources = trace.decision, trace.resources
    is_whole = not decision.result.sides and not trace.question.standalone.leans
    reader = resources.reader if decision.may_change and is_whole else None
    if decision.refusal is None or reader is not None:
        trace = replace(trace, rankings=rank_sections(resources, decision.result))
    if reader is not None:
        after = partial(reconsider, decision, points_to_nearest=not resources.may_decline)
        ranking = trace.rankings[0]
        reading = best_reading(reader, resources.embedder, ranking, lambda best: after(best).answers_surely)
        decision = decision if reading is None else after(reading)
    trace = replace(trace, decision=decision)
    return replace(trace, verdict=verdict_on(trace))


def _select(trace: Trace) -> Trace:
    if trace.verdict is AnswerKind.REFUSAL:
        return trace
    if trace.verdict is AnswerKind.NEAREST:
        trace = replace(trace, rankings=tuple(map(in_words, trace.rankings)))
        return replace(trace, selection=Selection(tuple(select_quotes(trace, NEAREST_STYLE))))
    return replace(trace, selection=writer_for(trace.resources).select(trace))


JUDGING = (Stage("search", _search), Stage("decide", _decide), Stage("rank", _rank))
STAGES = (Stage("resolve", _read), *JUDGING, Stage("select", _select))


def prepare(trace: Trace) -> Trace:
    """The trace after all stages, before anything is written. A courtesy needs none."""
    return trace if trace.courtesy is not None else run(STAGES, trace)


def find(trace: Trace) -> Trace:
    """The trace with the question and its passages."""
    return run(STAGES[:2], trace)


def stream(trace: Trace) -> Iterator[Event]:
    """The answer as a stream; the last event holds all of it. Closing the iterator stops the work."""
    if trace.courtesy is not None:
        yield from _return_courtesy(trace)
        return
    trace = find(trace)
    yield EvidenceFound(trace.result.evidence)
    trace = run(STAGES, trace)
    if wants_agent(trace):
        trace = yield from _explore(trace)
    yield from write(trace)


def _return_courtesy(trace: Trace) -> Iterator[Event]:
    assert trace.courtesy is not None
    text = courtesy_text(trace.language, trace.courtesy, trace.resources.index, turn=len(trace.history))
    yield TextAdded(text)
    seconds = Seconds(0.0, trace.seconds, trace.seconds)
    quotes = str(ChatModelName.EXTRACTIVE)
    yield Finished(Answer(trace.message, (), text, quotes, seconds=seconds, courtesy=trace.courtesy), trace)


def _explore(trace: Trace) -> Generator[Event, None, Trace]:
    """The agent's steps; returns the trace with what they found."""
    from rag.answer.agent.explore import explore  # loads LangChain's agents, which takes a second

    started = perf_counter()
    for item in explore(trace):
        if isinstance(item, Trace):
            trace = item
        else:
            yield item
    return replace(trace, milliseconds={**trace.milliseconds, "explore": _since(started)})


def write(trace: Trace) -> Iterator[Event]:
    """What was prepared as an answer, or the agent's question in place of one."""
    if trace.exploration.asks:
        yield TextAdded(trace.exploration.asks)
        yield Finished(_asked_back(trace), trace)
        return
    result, is_nearest = trace.decision.result, trace.verdict is AnswerKind.NEAREST
    unknown = trace.decision.unknown
    lead = missing_text(trace.language, result.silent, result.known, unknown)
    if is_nearest:
        lead = nearest_text(trace.language, unknown, in_line=opens_with_a_sentence(trace.selection.paragraphs))
    written = WrittenAnswer(llm=trace.resources.llm)
    first_text = 0.0
    if trace.verdict is not AnswerKind.REFUSAL:
        if lead:
            first_text = trace.seconds
            yield TextAdded(lead)
        writer = QuoteWriter() if is_nearest else writer_for(trace.resources)
        for event in writer.write(trace):
            if isinstance(event, WrittenAnswer):
                written = event
                continue
            if isinstance(event, TextAdded):
                first_text = first_text or trace.seconds
            yield event
            if lead and isinstance(event, TextDiscarded):
                yield TextAdded(lead)
    refusal = refusal_of(trace, written)
    computed = calculated_text(trace.language, trace.steps) if refusal is None else ""
    if computed:
        yield TextAdded(computed)
    answer = Answer(
        trace.message,
        _searched(trace),
        "",
        str(written.llm),
        seconds=Seconds(_retrieval_seconds(trace), first_text or trace.seconds, trace.seconds),
        fallback=written.fallback,
        steps=trace.steps,
        read_as=_read_as(trace.question),
    )
    if refusal is not None:
        others = suggest(trace.resources.index, result.for_decision)
        refusal = replace(refusal, suggestions=others, only=trace.resources.choices.only)
        text = refusal_text(trace.language, refusal)
        answer = replace(answer, text=text, refusal=refusal, kind=AnswerKind.REFUSAL)
    else:
        answer = replace(
            answer,
            text=f"{lead}{written.text}{computed}",
            claims=written.claims,
            citations=with_pages(trace.resources.index, written.citations),
            left_out=written.left_out,
            kind=trace.verdict,
            nearest=suggest(trace.resources.index, result.evidence) if is_nearest else (),
        )
    yield Finished(answer, trace)


def _asked_back(trace: Trace) -> Answer:
    """The agent's question in place of an answer."""
    return Answer(
        trace.message,
        _searched(trace),
        trace.exploration.asks,
        str(trace.resources.llm),
        seconds=Seconds(_retrieval_seconds(trace), trace.seconds, trace.seconds),
        kind=AnswerKind.CLARIFICATION,
        steps=trace.steps,
        read_as=_read_as(trace.question),
    )


def _retrieval_seconds(trace: Trace) -> float:
    return sum(trace.milliseconds.get(stage, 0.0) for stage in ("resolve", "search")) / 1_000


def _read_as(question: UserQuestion) -> ReadAs:
    return ReadAs(question.standalone.question, question.standalone.subject or None)


def _searched(trace: Trace) -> tuple[str, ...]:
    """All queries, the agent's too."""
    asked = (ask.query for ask in trace.question.asks)
    return tuple(
        dict.fromkeys((*trace.question.queries, *asked, *(evidence.query for evidence in trace.exploration.evidence)))
    )


def with_pages(index: Index, citations: Sequence[Citation]) -> tuple[Citation, ...]:
    """The citations with the page on which each begins, if their document has pages."""
    borders = {name: index.storage.pages(name) for name in {citation.document for citation in citations}}
    return tuple(
        replace(citation, page=bisect_right(borders[citation.document], citation.start) or None)
        for citation in citations
    )

"""A chat model that calls tools on its way to an answer, within limits.

It begins with the results of the first search. Everything that it was given to read can be cited, and its reply is
checked like any other. If it reaches no reply, or cannot call tools, one is written from all that was found.
"""

import logging
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rag.answer.agent.findings import Findings
from rag.answer.agent.middleware import AgentLimits, limits_for
from rag.answer.agent.tools import tools_for
from rag.answer.rank import rank_sections
from rag.answer.trace import Exploration, ModelLoading, Selection, StepTaken, Trace
from rag.answer.written.context import as_context
from rag.answer.written.prompts import AGENT_SYSTEM, HUMAN, LANGUAGES
from rag.answer.written.reply_guard import Watch
from rag.answer.written.writer import ChatModelWriter
from rag.chat_models.stopping import CURRENT, Stopped, within
from rag.language.language import has_chinese
from rag.search.retrieval import merge
from rag.types import StepKind

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

logger = logging.getLogger(__name__)

# Why the agent has no reply, as its last step says.
NO_TOOLS = "the chat model cannot call tools"
TOO_LONG = "time ran out"
TOO_MANY = "too many calls"
NO_REPLY = "no usable reply"


def explore(trace: Trace) -> Iterator[ModelLoading | StepTaken | Trace]:
    """The steps as they are taken; last, the trace with all that was found and the reply. Raises Stopped if its
    reader has left."""
    model = trace.resources.chat_model
    assert model is not None
    if not model.is_ready():
        yield ModelLoading()
    limits = limits_for(model)
    findings = Findings(trace.resources, limits.step_tokens, list(trace.selection.paragraphs))
    messages, deadline = _messages(trace, findings, limits), time.monotonic() + limits.seconds
    reply: str | None = None
    calls = 0
    try:
        while not findings.asks and (message := _next(messages, deadline)) is not None:
            if message.type == "ai":
                calls += 1
                reply = str(message.text)
            yield from map(StepTaken, findings.untold(message))
        if not findings.asks:
            _check(trace, reply or "")
    except Exception as error:  # as in `stream_reply`: three libraries fail in undocumented ways
        outer = CURRENT.get()
        if outer is not None and outer.asked:
            raise Stopped from None
        logger.warning("the agent ended: %s", error)
        reply = None
        findings.note(StepKind.FALLBACK, "", _problem(error, calls), began=time.perf_counter(), failed=True)
    yield from map(StepTaken, findings.untold())
    yield explored(trace, findings.exploration(reply, calls))


def _next(messages: Iterator["BaseMessage"], deadline: float) -> "BaseMessage | None":
    """The next message; None if there is none. Raises TimeoutError after the deadline."""
    # One block per message: the consumer of the steps in between must not see the variable that it sets.
    with within(max(0.0, deadline - time.monotonic())) as stop:
        try:
            message = next(messages, None)
        except Exception as error:
            if stop.asked:
                raise TimeoutError from error
            raise
    if stop.asked:
        raise TimeoutError
    return message


def explored(trace: Trace, exploration: Exploration) -> Trace:
    """The trace with all that was found, so that the usual writers treat it as the result of one search."""
    result = trace.decision.result
    if exploration.evidence:
        k = trace.resources.settings.top_k
        result = replace(
            result,
            evidence=merge((result.evidence, *exploration.evidence), k),
            sides=(*result.sides, *exploration.evidence),
        )
    trace = replace(trace, decision=replace(trace.decision, result=result), exploration=exploration)
    if exploration.reply is None and exploration.evidence:
        trace = replace(trace, rankings=rank_sections(trace.resources, result))
        return replace(trace, selection=ChatModelWriter().select(trace))
    return replace(trace, selection=Selection(exploration.paragraphs, trace.selection.prompt))


def _messages(trace: Trace, findings: Findings, limits: AgentLimits) -> Iterator["BaseMessage"]:
    """The messages of the model and of its tools, one by one."""
    from langchain.agents import create_agent

    from rag.answer.agent.middleware import middleware_for

    model = trace.resources.chat_model
    assert model is not None
    agent: Any = create_agent(
        model.model,
        # At most once per conversation: the reader's answer to the agent's question has a history.
        tools_for(findings, may_ask=not trace.history),
        system_prompt=AGENT_SYSTEM,
        middleware=middleware_for(limits),
    )
    question = trace.decision.result.evidence.query
    language = " ".join(
        filter(
            None, (LANGUAGES[has_chinese(question)], trace.resources.choices.answer_style.wish[has_chinese(question)])
        )
    )
    begin = HUMAN.format(material=as_context(trace.selection.paragraphs), question=question, language=language)
    # One tool after the other: their steps keep the order of the calls.
    config = {"max_concurrency": 1, "recursion_limit": 12 * limits.model_calls}
    for update in agent.stream({"messages": [("human", begin)]}, config, stream_mode="updates"):
        for change in update.values():
            yield from (change or {}).get("messages", ())


def _check(trace: Trace, reply: str) -> None:
    """Raise ChatModelError for a reply that is empty, repeats itself, or is in another language."""
    watch = Watch(trace.message)
    watch.see(reply)
    watch.end()


def _problem(error: Exception, calls: int) -> str:
    """Why there is no reply, after `calls` successful calls of the model."""
    import openai
    from langchain.agents.middleware.model_call_limit import ModelCallLimitExceededError

    match error:
        case TimeoutError():
            return TOO_LONG
        case ModelCallLimitExceededError():
            return TOO_MANY
        case openai.BadRequestError() | openai.NotFoundError() | openai.UnprocessableEntityError() if not calls:
            return NO_TOOLS
    return NO_REPLY

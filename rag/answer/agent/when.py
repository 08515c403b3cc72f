"""Which questions are worth an agent's time."""

from rag.answer.trace import Trace
from rag.settings import AgentMode


def wants_agent(trace: Trace) -> bool:
    """Whether an agent is allowed, there is a chat model for it, and the question is doubtful or needs several
    searches. A refusal stands: an agent that searches until something fits would answer near misses."""
    resources, decision = trace.resources, trace.decision
    if resources.settings.agent is AgentMode.OFF or resources.chat_model is None or trace.courtesy is not None:
        return False
    if decision.refusal is not None:
        return False
    return decision.in_doubt or bool(decision.result.compared or trace.plan.parts)

"""Which questions are worth an agent's time."""

import re

from rag.answer.trace import Trace
from rag.settings import AgentMode

CLAUSE_END = re.compile(
    r"[，,；;。？！?!\n]+\s*|(?:然后|同时|另外|以及|并且)|\b(?:and then|and also|as well as)\b", re.IGNORECASE
)
ASKS = re.compile(
    r"什么|为啥|啥|怎么|怎样|如何|多少|多大|多长|哪|几[个种步倍层]|谁|是否|能不能|会不会|要不要|吗|呢"
    r"|\b(?:how|what|why|which|who|when|where|do|does|is|are|can|should)\b",
    re.IGNORECASE,
)


def wants_agent(trace: Trace) -> bool:
    """Whether an agent is allowed, somebody can be one, and the question is doubtful or needs several searches. What is
    refused stays refused: an agent that searches until something fits would answer near misses."""
    resources = trace.resources
    if resources.settings.agent is AgentMode.OFF or resources.chat_model is None or trace.courtesy is not None:
        return False
    decision = trace.decision
    if decision.refusal is not None:
        return False
    return decision.in_doubt or bool(decision.result.compared) or asks_for_several(trace.question)


def asks_for_several(question: str) -> bool:
    """Whether a question asks for more than one thing.

    >>> asks_for_several("GRPO 的优势怎么算，KL 项加在哪里？"), asks_for_several("什么是 LoRA？")
    (True, False)
    """
    return sum(bool(ASKS.search(clause)) for clause in CLAUSE_END.split(question)) > 1

"""The verdict on a question: to answer it, to point to the nearest that the material has, or to refuse."""

from rag.answer.choices import MARGINS, Caution
from rag.answer.decide import judge
from rag.answer.trace import Trace, WrittenAnswer
from rag.settings import AgentMode
from rag.types import AnswerKind, Refusal, RefusalReason


def verdict_on(trace: Trace) -> AnswerKind:
    """ANSWER, NEAREST or REFUSAL, once a question is judged. The nearest is for a doubtful question, unless a large
    chat model may decline it or an agent may find more; a question that leans on an answer is about that answer."""
    decision = trace.decision
    if decision.refusal is not None:
        return AnswerKind.REFUSAL
    is_plain = not trace.question.standalone.leans and not trace.question.compared
    is_nearest = is_plain and decision.in_doubt and not trace.resources.may_decline and not wants_agent(trace)
    return AnswerKind.NEAREST if is_nearest else AnswerKind.ANSWER


def wants_agent(trace: Trace) -> bool:
    """Whether an agent is allowed, there is a chat model for it, and the question is doubtful or needs several
    searches. A refusal stands: an agent that searches until something fits would answer near misses."""
    resources, decision, question = trace.resources, trace.decision, trace.question
    if resources.settings.agent is AgentMode.OFF or resources.chat_model is None or decision.refusal is not None:
        return False
    return decision.in_doubt or bool(question.compared or question.parts)


def is_refused_unsupported(trace: Trace) -> bool:
    """Whether a question that passed is refused after all, because a chat model, which reads the material, wrote
    nothing that it supports. A small model does not count: it says less than it could."""
    resources = trace.resources
    margin = resources.choices.margin + MARGINS[Caution.CAUTIOUS]
    evidence = trace.decision.result.for_decision
    return not resources.is_small and judge(resources.index, evidence, margin=margin).refusal is not None


def refusal_of(trace: Trace, written: WrittenAnswer) -> Refusal | None:
    """The refusal of a question, or of what was written about it if nothing of that is supported."""
    if trace.decision.refusal is not None or written.is_supported:
        return trace.decision.refusal
    return Refusal(RefusalReason.NO_SUPPORTED_CLAIM)

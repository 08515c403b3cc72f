"""Finds passages for a plan and judges whether they answer: search -> decide -> rank, each at most once.

If a reading had to be searched before it was chosen, its trace brings the results along.
"""

from dataclasses import replace

from rag.answer.decide import decide, reconsider
from rag.answer.evidence import run_search
from rag.answer.rank import best_reading, rank_sections
from rag.answer.trace import NO_DECISION, NO_RESULT, Trace


def searched(trace: Trace) -> Trace:
    """The passages for the question and for each of its sides."""
    if trace.result is not NO_RESULT:
        return trace
    return replace(trace, result=run_search(trace.resources.searcher, trace.plan))


def decided(trace: Trace) -> Trace:
    """Whether the passages found can answer, with the chosen caution."""
    if trace.decision is not NO_DECISION:
        return trace
    margin = trace.resources.choices.margin
    return replace(trace, decision=decide(trace.resources.index, trace.result, margin=margin))


def ranked(trace: Trace) -> Trace:
    """The sections in the order in which they answer. For a doubtful question the reader takes part in the decision."""
    decision, result, reader = trace.decision, trace.decision.result, trace.resources.reader
    doubtful = reader is not None and decision.may_change and not result.sides and not trace.plan.standalone.leans
    if trace.rankings or decision.reading is not None or (decision.refusal is not None and not doubtful):
        return trace
    rankings = rank_sections(trace.resources, result)
    reading = best_reading(reader, trace.resources.embedder, rankings[0]) if reader is not None and doubtful else None
    if reading is not None:
        decision = reconsider(decision, reading, points_to_nearest=not trace.resources.may_decline)
    return replace(trace, rankings=rankings, decision=decision)


def judged(trace: Trace) -> Trace:
    """The trace after all three stages."""
    return ranked(decided(searched(trace)))

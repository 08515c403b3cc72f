"""Chooses how to read a question after a talk: the reading that the material can answer.

Each reading's passages are found and judged: search -> decide -> rank, each at most once. If a reading had to be
searched before it was chosen, its trace brings the results along.
"""

from collections.abc import Sequence
from dataclasses import replace

from rag.answer.decide import decide, reconsider
from rag.answer.evidence import run_search
from rag.answer.rank import best_reading, rank_sections
from rag.answer.trace import NO_DECISION, NO_RESULT, Trace
from rag.index import Index
from rag.question.follow_ups import Standalone, names_something, recent, stand_alone
from rag.question.plan import plan_search
from rag.question.rewriting import rewrite
from rag.question.wording import in_the_materials_words
from rag.settings import ChatModelName
from rag.types import Role, Turn


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


def understood(trace: Trace) -> Trace:
    """The trace with the plan of its question: in the material's words, made to stand alone by rules; if they are in
    doubt, a configured endpoint rewrites it (other chat models are too slow for a waiting reader, or too small). A
    reading that had to be searched for this choice keeps its results."""
    resources = trace.resources
    question = in_the_materials_words(resources.index, trace.question)
    history = _in_the_materials_words(resources.index, recent(trace.history))
    follows = resources.choices.follows
    asked = stand_alone(resources.searcher, question, history, follows=follows)
    if asked.in_doubt and resources.chat_model is not None and resources.llm is ChatModelName.ENDPOINT:
        whole = _in_the_materials_words(resources.index, trace.history)
        rewritten = rewrite(resources.chat_model.model, asked.question, whole)
        asked = Standalone(rewritten) if rewritten else asked
    in_talk = replace(trace, plan=plan_search(asked))
    if not asked.subject or follows is not None:
        return in_talk
    alone = replace(trace, plan=plan_search(Standalone(question)))
    if not asked.leans:
        # Words that need not lean on the talk are read alone if the material is silent about them.
        alone = judged(alone)
        return alone if _is_refused(alone) else in_talk
    # The material may lack the subject leant on, but have the question's names.
    if not names_something(question):
        return in_talk
    in_talk = judged(in_talk)
    if not _is_refused(in_talk):
        return in_talk
    alone = judged(alone)
    return in_talk if _is_refused(alone) else alone


def _in_the_materials_words(index: Index, turns: Sequence[Turn]) -> list[Turn]:
    """What the reader said; answers stay as they are."""
    return [
        replace(turn, text=in_the_materials_words(index, turn.text)) if turn.role is Role.USER else turn
        for turn in turns
    ]


def _is_refused(trace: Trace) -> bool:
    return trace.decision.refusal is not None

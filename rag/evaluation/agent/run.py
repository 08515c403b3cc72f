"""Compares what an agent finds, and its cost, with the single pass, on the questions of a gold file of some kinds.

The measures are over the text given to the writer: a gold quote is found if half of it is there. `larger` is the
control: more of the first search's results, to as many tokens as the agent read. `auto` is the agent if `wants_agent`
asks for it, else the single pass. Refused questions count as finding nothing.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rag.answer.agent.explore import explore
from rag.answer.assistant import Assistant
from rag.answer.quoted.paragraphs import Paragraph, quotable, without_orders
from rag.answer.trace import Trace
from rag.answer.verdict import wants_agent
from rag.answer.written.context import as_context
from rag.errors import UsageError
from rag.evaluation.answers.judging import Stretch, covered
from rag.evaluation.answers.run import check
from rag.evaluation.datasets import GoldRow, Split, choose, load_gold
from rag.evaluation.intervals import resampled_means, share, summary, two_sided_p
from rag.evaluation.progress import Track, bar
from rag.evaluation.provenance import provenance
from rag.settings import AgentMode
from rag.text.tokens import count_tokens
from rag.types import Step, StepKind

ARMS = ("single", "larger", "agent", "auto")


@dataclass(frozen=True, slots=True)
class ContextMeasures:
    """The text given to the writer for a question: the share of gold quotes in it, whether it has all of them (1 or
    0), its tokens, the model's calls before writing, and the seconds after the first search."""

    found: float
    whole: float
    tokens: int
    calls: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    row: GoldRow
    refused: bool
    wanted: bool
    steps: tuple[Step, ...]
    readings: dict[str, ContextMeasures]


def evaluate(
    gold: Path,
    assistant: Assistant,
    *,
    split: Split = Split.ALL,
    kinds: Sequence[str] = (),
    limit: int | None = None,
    track: Track = bar,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The figures by kind of question, and a row for each question. Raises UsageError."""
    rows = [row for row in load_gold(gold) if not kinds or row.kind in kinds]
    if not rows:
        raise UsageError(f"{gold} has no question of the kinds {', '.join(kinds)}", hint="choose other --kinds")
    rows = choose(rows, split, limit, gold)
    check(rows, assistant.index, gold)
    outcomes = [measure(assistant, row) for row in track(rows, assistant.model_name or "")]
    of_kinds = {str(kind): [o for o in outcomes if o.row.kind == kind] for kind in sorted({str(r.kind) for r in rows})}
    result = {
        "dataset": gold.resolve().stem,
        "split": str(split),
        "planner": assistant.model_name,
        "kinds": {kind: figures(part) for kind, part in of_kinds.items()},
        "embedder": assistant.embedder.identity,
        **provenance(),
    }
    return result, [_as_row(outcome) for outcome in outcomes]


def measure(assistant: Assistant, row: GoldRow) -> AgentOutcome:
    """Run one question in each way of ARMS."""
    trace = assistant.prepare(row.question, row.turns)
    allowed = trace.resources.settings.model_copy(update={"agent": AgentMode.AUTO})
    trace = replace(trace, resources=replace(trace.resources, settings=allowed))
    if trace.decision.refusal is not None:
        nothing = ContextMeasures(0.0, 0.0, 0)
        return AgentOutcome(row, True, False, (), dict.fromkeys(ARMS, nothing))
    single = _reading(trace, row, trace.selection.paragraphs)
    started = time.perf_counter()
    explored = next(item for item in explore(trace) if isinstance(item, Trace))
    seconds = time.perf_counter() - started
    paragraphs = explored.exploration.paragraphs or trace.selection.paragraphs
    agent = replace(_reading(trace, row, paragraphs), calls=explored.exploration.calls, seconds=seconds)
    larger = _reading(trace, row, _with_tokens(trace, agent.tokens))
    wanted = wants_agent(trace)
    readings = {"single": single, "larger": larger, "agent": agent, "auto": agent if wanted else single}
    return AgentOutcome(row, False, wanted, explored.steps, readings)


def figures(outcomes: Sequence[AgentOutcome]) -> dict[str, Any]:
    """What each way found and its cost; the `…_difference` of a measure is its gain over the single pass."""
    answerable = [outcome for outcome in outcomes if outcome.row.evidence]
    steps = [step for outcome in outcomes for step in outcome.steps]
    return {
        "questions": len(outcomes),
        "refused": share(sum(outcome.refused for outcome in outcomes), len(outcomes)),
        "agent_wanted": share(sum(outcome.wanted for outcome in outcomes), len(outcomes)),
        "ways": {way: _way(way, outcomes, answerable) for way in ARMS},
        "steps": {str(kind): sum(step.kind is kind for step in steps) for kind in StepKind},
    }


def _way(way: str, outcomes: Sequence[AgentOutcome], answerable: Sequence[AgentOutcome]) -> dict[str, Any]:
    def mean(name: str) -> float:
        return round(float(np.mean([getattr(outcome.readings[way], name) for outcome in outcomes])), 3)

    result: dict[str, Any] = {name: mean(name) for name in ("tokens", "calls", "seconds")}
    for name in ("found", "whole"):
        if answerable:
            values = np.asarray(
                [[getattr(o.readings[arm], name) for arm in (way, "single")] for o in answerable], np.float64
            )
            gains = values[:, :1] - values[:, 1:]
            result[name] = summary(float(values[:, 0].mean()), resampled_means(values[:, :1])[:, 0])
            resampled = resampled_means(gains)[:, 0]
            result[f"{name}_difference"] = summary(float(gains.mean()), resampled) | {"p": two_sided_p(resampled)}
    return result


def _with_tokens(trace: Trace, tokens: int) -> list[Paragraph]:
    """The paragraphs of the single pass, and more from the first search's results, best first, to at most `tokens`."""
    read = list(trace.selection.paragraphs)
    for hit in trace.decision.result.evidence.hits:
        for paragraph in without_orders(quotable(hit.passage)):
            if paragraph not in read and count_tokens(as_context([*read, paragraph])) <= tokens:
                read.append(paragraph)
    return read


def _reading(trace: Trace, row: GoldRow, paragraphs: Iterable[Paragraph]) -> ContextMeasures:
    paragraphs = list(paragraphs)
    stretches = [stretch for paragraph in paragraphs for stretch in _stretches(paragraph)]
    storage = trace.resources.index.storage
    found = [
        any(covered(quote, part.document, storage.source(part.document) or "", stretches) for quote in part.wordings)
        for part in row.evidence
    ]
    tokens = count_tokens(as_context(paragraphs))
    return ContextMeasures(sum(found) / len(found) if found else 0.0, float(bool(found) and all(found)), tokens)


def _stretches(paragraph: Paragraph) -> list[Stretch]:
    passage = paragraph.passage
    spans = [passage.content.source_range(unit.start, unit.end) for unit in paragraph.units]
    return [(passage.document, *span) for span in spans if span is not None]


def _as_row(outcome: AgentOutcome) -> dict[str, Any]:
    return {
        "id": outcome.row.id,
        "kind": outcome.row.kind,
        "question": outcome.row.question,
        "refused": outcome.refused,
        "agent_wanted": outcome.wanted,
        "searched": [step.request for step in outcome.steps if step.kind is StepKind.SEARCH],
        **{way: {"found": r.found, "tokens": r.tokens, "calls": r.calls} for way, r in outcome.readings.items()},
    }


def as_text(result: dict[str, Any]) -> str:
    """The result as text to read."""
    lines = [f"{result['dataset']}, {result['split']}, planned by {result['planner']}"]
    for kind, part in result["kinds"].items():
        refused = part["refused"]["value"]
        lines.append(f"{kind}: {part['questions']} questions, {refused:.1%} refused, steps {part['steps']}")
        for way, values in part["ways"].items():
            line = f"  {way:7} {values['tokens']:6.0f} tokens {values['calls']:4.1f} calls {values['seconds']:6.2f} s"
            for name in ("found", "whole"):
                if name in values:
                    gain = values[f"{name}_difference"]
                    line += f"  {name} {values[name]['value']:.3f} ({gain['value']:+.3f}"
                    line += f", {gain['low']:+.3f}…{gain['high']:+.3f})"
            lines.append(line)
    return "\n".join(lines) + "\n"

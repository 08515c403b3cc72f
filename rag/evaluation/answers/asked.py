"""Evaluates answers to questions typed as people type them, labelled by sections of the pages.

A row names the sections that an answer may open with, those that belong in it, and needles: strings from these sections
that an answer must contain. The measures are what a reader would notice:

- opening: the first quoted section is one to open with;
- needles: the share of needles that the quotes contain;
- focus: the share of quoted text in sections that belong;
- torn: the share of quoted sections that are quoted only in part;
- dangling: answers that refer to a table, formula, code or passage "above" or "below" that is not quoted;
- code: the share of questions that ask for code whose answer has a whole code block;
- refusals of questions that the pages do not answer, and of those that they do; and, for follow-ups,
  whether they are refused exactly if the same question is refused without its conversation.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from rag.answer.assistant import Assistant
from rag.evaluation.datasets import IdentifiedRow, Split, choose, first_row_has, json_rows
from rag.evaluation.intervals import ratio, share
from rag.evaluation.progress import bar
from rag.evaluation.provenance import provenance
from rag.language.pointing import ELSEWHERE
from rag.settings import Settings
from rag.text.blocks import Block, BlockKind
from rag.text.markdown import parse
from rag.types import Answer, AnswerKind, Citation, Role, Turn

Outcome = TypeVar("Outcome")
OFF_SUBJECT = "off-subject"
# From this share on, a section counts as quoted whole: quotes leave out headings and list marks.
WHOLE = 0.9


class Answerable(StrEnum):
    YES = "yes"
    PARTLY = "partly"
    NO = "no"


class LabelledRow(IdentifiedRow):
    """`after` is the preceding question in a conversation of two."""

    split: Split
    style: str
    after: str | None = None
    question: str
    standalone: str | None = None
    answerable: Answerable


Row = TypeVar("Row", bound=LabelledRow)


class AskedRow(LabelledRow):
    """`open` and `belong` are pairs of document and heading."""

    open: tuple[tuple[str, str], ...] = ()
    belong: tuple[tuple[str, str], ...] = ()
    needles: tuple[str | tuple[str, ...], ...] = ()
    code: bool = False
    missing: tuple[str, ...] = ()

    @property
    def worded_needles(self) -> list[tuple[str, ...]]:
        """The wordings of each needle, any of which will do."""
        return [(needle,) if isinstance(needle, str) else needle for needle in self.needles]


@dataclass(frozen=True, slots=True)
class SourceSection:
    """`source[start:end]` under one heading, without the heading itself."""

    document: str
    heading: str
    start: int
    end: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class AnswerMeasures:
    """The measures of one answer; `quoted` and `belonging` in characters of the source, `sections` and `torn` in quoted
    sections."""

    opening: bool
    needles: float
    quoted: int
    belonging: int
    sections: int
    torn: int
    dangling: bool
    whole_code: bool


@dataclass(frozen=True, slots=True)
class AskedOutcome:
    """An answer, its measures (None for a refusal), and the answer to the same question without its conversation (None
    if it has none)."""

    row: AskedRow
    answer: Answer
    reading: AnswerMeasures | None
    fresh: Answer | None


def is_asked(file: Path) -> bool:
    return first_row_has(file, "belong")


def load_asked(file: Path) -> list[AskedRow]:
    """The rows of a file. Raises UsageError."""
    return list(json_rows(file, AskedRow))


def evaluate_asked(
    file: Path, settings: Settings, *, split: Split = Split.ALL, limit: int | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The result as JSON, and a row for each question. Raises UsageError."""
    return evaluate_rows(file, choose(load_asked(file), split, limit, file), split, settings, ask, measures, as_row)


def evaluate_rows(
    file: Path,
    rows: Sequence[Row],
    split: Split,
    settings: Settings,
    ask: Callable[[Assistant, Row], Outcome],
    measures: Callable[[Sequence[Outcome]], Mapping[str, dict[str, Any]]],
    as_row: Callable[[Outcome], dict[str, Any]],
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Ask labelled questions. The result as JSON, with the measures of all and of each style, and a row for each."""
    assistant = Assistant.open(settings)
    outcomes = [ask(assistant, row) for row in bar(rows, assistant.llm)]
    styles: dict[str, list[Outcome]] = {}
    for row, outcome in zip(rows, outcomes, strict=True):
        styles.setdefault(row.style, []).append(outcome)
    result = {
        "dataset": file.stem,
        "split": str(split),
        "llm": str(assistant.llm),
        "questions": len(rows),
        "measures": measures(outcomes),
        "styles": {style: measures(of_style) for style, of_style in styles.items()},
        "embedder": assistant.embedder.identity,
        **provenance(),
    }
    return result, [as_row(outcome) for outcome in outcomes]


def answer_to(assistant: Assistant, row: LabelledRow) -> Answer:
    """The answer to a row's question in its conversation."""
    history: list[Turn] = []
    if row.after:
        first = assistant.ask(row.after)
        history = [Turn(Role.USER, row.after), Turn(Role.ASSISTANT, first.text, first.refused)]
    return assistant.ask(row.question, history)


def ask(assistant: Assistant, row: AskedRow) -> AskedOutcome:
    """Ask a row's question in its conversation and, if it has one, also without it."""
    answer = answer_to(assistant, row)
    fresh = assistant.ask(row.standalone or row.question) if row.after else None
    reading = None if answer.kind is AnswerKind.REFUSAL or not answer.citations else read(answer, row, assistant)
    return AskedOutcome(row, answer, reading, fresh)


def read(answer: Answer, row: AskedRow, assistant: Assistant) -> AnswerMeasures:
    """The measures of an answer, by the sections of the sources that it quotes."""
    cited: dict[SourceSection, list[Citation]] = {}
    for citation in answer.citations:
        section = section_of(citation, assistant.source(citation.document) or "")
        cited.setdefault(section, []).append(citation)
    belonging = {*row.open, *row.belong}
    first = next(iter(cited))
    text = "\n".join(citation.quote for citation in answer.citations)
    quoted = {section: sum(c.end - c.start for c in citations) for section, citations in cited.items()}
    return AnswerMeasures(
        opening=(first.document, first.heading) in row.open,
        needles=sum(any(w in text for w in wordings) for wordings in row.worded_needles) / max(len(row.needles), 1),
        quoted=sum(quoted.values()),
        belonging=sum(n for section, n in quoted.items() if (section.document, section.heading) in belonging),
        sections=len(cited),
        torn=sum(quoted[section] < WHOLE * body_length(section) for section in cited),
        dangling=any(_dangles(section, citations) for section, citations in cited.items()),
        whole_code=any(_has_whole_code(section, citations) for section, citations in cited.items()),
    )


def section_of(citation: Citation, source: str) -> SourceSection:
    """The section in which a citation begins."""
    found = sections(citation.document, source)
    return found[bisect_right([section.start for section in found], citation.start) - 1]


@lru_cache(512)
def sections(document: str, source: str) -> tuple[SourceSection, ...]:
    """The sections of a source, in order; text before the first heading has an empty heading."""
    found: list[SourceSection] = []
    heading, start, gathered = "", 0, list[Block]()
    for block in (*parse(source), None):
        if block is None or block.kind is BlockKind.HEADING:
            end = block.start if block else len(source)
            found.append(SourceSection(document, heading, start, end, tuple(gathered)))
            if block is not None:
                heading, start, gathered = source[block.body_start : block.body_end].strip(), block.end, []
        else:
            gathered.append(block)
    return tuple(found)


def body_length(section: SourceSection) -> int:
    return sum(block.body_end - block.body_start for block in section.blocks if block.kind is not BlockKind.RULE)


def _dangles(section: SourceSection, citations: Sequence[Citation]) -> bool:
    """Whether a quoted sentence refers to a part of its section that is not quoted."""
    whole = sum(c.end - c.start for c in citations) >= WHOLE * body_length(section)
    return not whole and any(ELSEWHERE.search(citation.quote) for citation in citations)


def _has_whole_code(section: SourceSection, citations: Sequence[Citation]) -> bool:
    code = [block for block in section.blocks if block.kind is BlockKind.CODE]
    return any(c.start <= block.body_start and block.body_end <= c.end for block in code for c in citations)


def measures(outcomes: Sequence[AskedOutcome]) -> Mapping[str, dict[str, Any]]:
    """Shares and means with 95% intervals; those over no questions are left out. A refusal counts as a wrong
    opening."""
    able = [o for o in outcomes if o.row.answerable is not Answerable.NO]
    silent = [o for o in outcomes if o.row.answerable is Answerable.NO]
    hard = [o for o in silent if o.row.style != OFF_SUBJECT]
    foreign = [o for o in silent if o.row.style == OFF_SUBJECT]
    read_ones = [o.reading for o in able if o.reading is not None]
    code = [o for o in able if o.row.code]
    talks = [o for o in outcomes if o.fresh is not None]
    needles = [o for o in able if o.row.needles]
    found = {
        "opening": share(sum(bool(o.reading and o.reading.opening) for o in able), len(able)),
        "needles": ratio([o.reading.needles if o.reading else 0.0 for o in needles], [1.0] * len(needles)),
        "focus": ratio([float(r.belonging) for r in read_ones], [float(r.quoted) for r in read_ones]),
        "torn": ratio([float(r.torn) for r in read_ones], [float(r.sections) for r in read_ones]),
        "dangling": share(sum(r.dangling for r in read_ones), len(read_ones)),
        "code": share(sum(bool(o.reading and o.reading.whole_code) for o in code), len(code)),
        "characters": ratio([float(r.quoted) for r in read_ones], [1.0] * len(read_ones)),
        "false_refusals": share(sum(o.answer.kind is AnswerKind.REFUSAL for o in able), len(able)),
        "nearest_of_answerable": share(sum(o.answer.kind is AnswerKind.NEAREST for o in able), len(able)),
        "near_misses_not_answered": share(sum(o.answer.kind is not AnswerKind.ANSWER for o in hard), len(hard)),
        "off_subject_not_answered": share(sum(o.answer.kind is not AnswerKind.ANSWER for o in foreign), len(foreign)),
        "off_subject_refused": share(sum(o.answer.refused for o in foreign), len(foreign)),
        "refused_as_fresh": share(sum(o.answer.refused == (o.fresh or o.answer).refused for o in talks), len(talks)),
    }
    return {name: value for name, value in found.items() if value}


def as_row(outcome: AskedOutcome) -> dict[str, Any]:
    """A row of `--per-query`."""
    row, answer, reading = outcome.row, outcome.answer, outcome.reading
    return {
        "id": row.id,
        "style": row.style,
        "after": row.after,
        "question": row.question,
        "answerable": str(row.answerable),
        "kind": str(answer.kind),
        "fresh": None if outcome.fresh is None else str(outcome.fresh.kind),
        "opening": None if reading is None else reading.opening,
        "needles": None if reading is None else round(reading.needles, 3),
        "focus": None if reading is None else round(reading.belonging / max(reading.quoted, 1), 3),
        "torn": None if reading is None else f"{reading.torn}/{reading.sections}",
        "dangling": None if reading is None else reading.dangling,
        "answer": answer.text,
    }


def as_text(result: Mapping[str, Any]) -> str:
    """The result as a table to read."""
    lines = [f"{result['dataset']} ({result['split']}), {result['questions']} questions, {result['llm']}"]
    for name, value in result["measures"].items():
        lines.append(
            f"  {name:<26} {value['value']:8.3f}  [{value['low']:.3f}, {value['high']:.3f}]  of {value['of']:g}"
        )
    return "\n".join(lines) + "\n"

"""Evaluates whether an answer opens with the text that answers the question: labels name the section, and the sentence
in it, to come first.

The labels were made from the pages, without seeing any answer. They grade sections: 3 for the ideal first one, 2 for a
good second, 1 for one that belongs; any other is beside the question. The measures follow what a reader sees, from the
top:

- first, in_two: the best section is quoted first, or among the first two;
- sentence_first: the sentence that answers is in the first quoted paragraph;
- on_screen: it begins within the first SCREEN characters;
- anywhere: it is quoted at all; beside it, what the search alone would give: found_first and found_in_four, that it
  is in the first passage found, or in one of the first four, as a plain chain quotes them;
- beside: the share of quoted text in sections beside the question;
- torn: the share of quoted sections that are shorter than LONG and quoted only in part;
- refusals, and pointers to the nearest section, for questions that the pages answer and for those that they do not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag.answer.assistant import Assistant
from rag.evaluation.answers.asked import (
    WHOLE,
    Answerable,
    LabelledRow,
    SourceSection,
    answer_to,
    body_length,
    evaluate_rows,
    section_of,
    sections,
)  # fmt: skip
from rag.evaluation.datasets import Split, choose, first_row_has, json_rows
from rag.evaluation.intervals import ratio, share
from rag.settings import Settings
from rag.types import Answer, AnswerKind, Citation

# Characters that a reader sees at first: half the screen of a phone.
SCREEN = 350
# Characters; quoting a part of a longer section does not count as torn.
LONG = 1_200
BEST = 3
# Passages that a plain chain gives to its chat model.
FOUR = 4


class PlacedRow(LabelledRow):
    """`grades` are (document, heading, grade above 0); `best` is the section with the highest grade, `sentence` its
    sentence that answers, word for word; `short` means that one sentence suffices."""

    best: tuple[str, str] | None = None
    sentence: str = ""
    grades: tuple[tuple[str, str, int], ...] = ()
    short: bool = False

    @property
    def graded(self) -> dict[tuple[str, str], int]:
        return {(document, heading): grade for document, heading, grade in self.grades}


@dataclass(frozen=True, slots=True)
class PlacedReading:
    """The measures of one answer; `quoted` and `beside` in characters of the source."""

    first: bool
    in_two: bool
    sentence_first: bool
    on_screen: bool
    anywhere: bool
    quoted: int
    beside: int
    sections: int
    torn: int


@dataclass(frozen=True, slots=True)
class PlacedOutcome:
    """An answer, its measures (None for a refusal), and the rank from 1 of the first passage found that holds the
    sentence (None if none does)."""

    row: PlacedRow
    answer: Answer
    reading: PlacedReading | None
    found: int | None


def is_placed(file: Path) -> bool:
    return first_row_has(file, "grades")


def load_placed(file: Path) -> list[PlacedRow]:
    """The rows of a file. Raises UsageError."""
    return list(json_rows(file, PlacedRow))


def evaluate_placed(
    file: Path, settings: Settings, *, split: Split = Split.ALL, limit: int | None = None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The result as JSON, and a row for each question. Raises UsageError."""
    return evaluate_rows(file, choose(load_placed(file), split, limit, file), split, settings, ask, measures, as_row)


def ask(assistant: Assistant, row: PlacedRow) -> PlacedOutcome:
    """Ask a row's question in its conversation, and search for its sentence."""
    answer = answer_to(assistant, row)
    reading = None if answer.kind is AnswerKind.REFUSAL or not answer.citations else read(answer, row, assistant)
    return PlacedOutcome(row, answer, reading, _found(row, assistant))


def _found(row: PlacedRow, assistant: Assistant) -> int | None:
    span = place_of(row, assistant)
    if span is None:
        return None
    document, start, end = span
    for hit in assistant.search(row.standalone or row.question).hits:
        shared = min(hit.passage.end, end) - max(hit.passage.start, start)
        if hit.passage.document == document and 2 * shared >= end - start:
            return hit.rank
    return None


def read(answer: Answer, row: PlacedRow, assistant: Assistant) -> PlacedReading:
    """The measures of an answer, by the sections of the sources that it quotes."""
    quoted: dict[SourceSection, int] = {}
    for citation in answer.citations:
        section = section_of(citation, assistant.source(citation.document) or "")
        quoted[section] = quoted.get(section, 0) + citation.end - citation.start
    named = [(section.document, section.heading) for section in quoted]
    graded = row.graded
    span = place_of(row, assistant)
    holding = [place for place, citation in enumerate(answer.citations) if span and _holds(citation, *span)]
    read_before = sum(c.end - c.start for c in answer.citations[: holding[0]]) if holding else 0
    first_paragraph = next((part for part in answer.text.split("\n\n") if "[1]" in part), "")
    return PlacedReading(
        first=named[0] == row.best,
        in_two=row.best in named[:2],
        sentence_first=any(f"[{answer.citations[place].marker}]" in first_paragraph for place in holding),
        on_screen=bool(holding) and read_before < SCREEN,
        anywhere=bool(holding),
        quoted=sum(quoted.values()),
        beside=sum(length for section, length in quoted.items() if (section.document, section.heading) not in graded),
        sections=len(quoted),
        torn=sum(
            length < WHOLE * body_length(section) for section, length in quoted.items() if body_length(section) < LONG
        ),
    )


def place_of(row: PlacedRow, assistant: Assistant) -> tuple[str, int, int] | None:
    """The document, start and end of a row's sentence; None if there is no such sentence."""
    if row.best is None or not row.sentence:
        return None
    document, heading = row.best
    source = assistant.source(document) or ""
    for section in sections(document, source):
        start = source.find(row.sentence, section.start, section.end) if section.heading == heading else -1
        if start >= 0:
            return document, start, start + len(row.sentence)
    return None


def _holds(citation: Citation, document: str, start: int, end: int) -> bool:
    """Whether a citation and a stretch overlap by at least half of the shorter one."""
    shared = min(citation.end, end) - max(citation.start, start)
    return citation.document == document and 2 * shared >= min(end - start, citation.end - citation.start)


def measures(outcomes: Sequence[PlacedOutcome]) -> Mapping[str, dict[str, Any]]:
    """Shares and means with 95% intervals; those over no questions are left out. A refusal counts as a wrong
    opening."""
    able = [o for o in outcomes if o.row.answerable is not Answerable.NO]
    silent = [o for o in outcomes if o.row.answerable is Answerable.NO]
    read_ones = [o.reading for o in able if o.reading is not None]
    met = [o.reading for o in able]
    told = [o for o in able if o.row.sentence]
    heard = [o.reading for o in told]
    found = {
        "first": share(sum(bool(r and r.first) for r in met), len(able)),
        "in_two": share(sum(bool(r and r.in_two) for r in met), len(able)),
        "sentence_first": share(sum(bool(r and r.sentence_first) for r in heard), len(told)),
        "on_screen": share(sum(bool(r and r.on_screen) for r in heard), len(told)),
        "anywhere": share(sum(bool(r and r.anywhere) for r in heard), len(told)),
        "found_first": share(sum(o.found == 1 for o in told), len(told)),
        "found_in_four": share(sum(o.found is not None and o.found <= FOUR for o in told), len(told)),
        "beside": ratio([float(r.beside) for r in read_ones], [float(r.quoted) for r in read_ones]),
        "torn": ratio([float(r.torn) for r in read_ones], [float(r.sections) for r in read_ones]),
        "characters": ratio([float(r.quoted) for r in read_ones], [1.0] * len(read_ones)),
        "false_refusals": share(sum(o.answer.kind is AnswerKind.REFUSAL for o in able), len(able)),
        "nearest_of_answerable": share(sum(o.answer.kind is AnswerKind.NEAREST for o in able), len(able)),
        "unanswerable_not_answered": share(sum(o.answer.kind is not AnswerKind.ANSWER for o in silent), len(silent)),
    }
    return {name: value for name, value in found.items() if value}


def as_row(outcome: PlacedOutcome) -> dict[str, Any]:
    """A row of `--per-query`."""
    row, answer, reading = outcome.row, outcome.answer, outcome.reading
    return {
        "id": row.id,
        "style": row.style,
        "after": row.after,
        "question": row.question,
        "answerable": str(row.answerable),
        "best": row.best,
        "sentence": row.sentence,
        "kind": str(answer.kind),
        "first": None if reading is None else reading.first,
        "in_two": None if reading is None else reading.in_two,
        "sentence_first": None if reading is None else reading.sentence_first,
        "on_screen": None if reading is None else reading.on_screen,
        "beside": None if reading is None else round(reading.beside / max(reading.quoted, 1), 3),
        "answer": answer.text,
    }

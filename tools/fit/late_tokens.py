"""python -m tools.fit.late_tokens PLACES [ASKED …]: what answers lose while tokens are still to be made, by how many
passages each comparison makes (`rag.index.late_tokens.MADE_AT_ONCE`).

Development questions are asked of a whole index, each as if none of its tokens existed; those that a comparison makes
are taken from the index. Of ASKED, questions as in asked.jsonl, those without an answer are asked.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from rag.answer.assistant import Assistant
from rag.answer.verdict import verdict_on
from rag.cli import Parser, add_common_options, run, settings_from
from rag.embedding import load_embedder
from rag.evaluation.answers.asked import Answerable, LabelledRow, load_asked
from rag.evaluation.answers.best_places import PlacedRow, load_placed
from rag.evaluation.datasets import Split
from rag.evaluation.extra import require_evaluation_extra
from rag.evaluation.intervals import share
from rag.evaluation.progress import bar
from rag.index import Index, open_index
from rag.index.late_tokens import LateTokens
from rag.index.tokens import PassageTokens, TokenIndex
from rag.settings import ChatModelName
from rag.types import AnswerKind

MADE = (1, 2, 4, 8, 16)


def without_tokens(index: Index, at_once: int) -> tuple[Index, LateTokens]:
    """The index as if none of its tokens existed."""
    whole = index.tokens
    assert isinstance(whole, TokenIndex)

    def make(numbers: Sequence[int]) -> list[PassageTokens]:
        return [whole.passage(number) for number in numbers]

    kept = {part.name: getattr(whole, part.name) for part in fields(TokenIndex)}
    kept["missing"] = np.arange(len(whole))
    late = LateTokens(**kept, of_passages=index.vectors, make=make, at_once=at_once)
    return replace(index, tokens=late), late


def measure(assistant: Assistant, rows: Sequence[LabelledRow], late: LateTokens | None) -> list[str]:
    """The cells of a row of the table."""
    first, verdicts, made = [], [], []
    for row in bar(rows, "questions"):
        if late is not None:
            late.made.clear()
        trace = assistant.prepare(row.standalone or row.question, [])
        if isinstance(row, PlacedRow) and row.best:
            sections = [section for ranking in trace.rankings[:1] for section in ranking.sections[:1]]
            first.append(row.best in [(section.document, section.heading) for section in sections])
        verdicts.append((row.answerable is Answerable.NO, verdict_on(trace)))
        made.append(len(late.made) if late is not None else 0)
    shares = [first] + [
        [verdict is wanted for no_answer, verdict in verdicts if no_answer is unanswerable]
        for unanswerable in (False, True)
        for wanted in (AnswerKind.REFUSAL, AnswerKind.NEAREST)
    ]
    return [*map(_share, shares), f"{np.mean(made):.0f}"]


def _share(found: Sequence[bool]) -> str:
    value = share(sum(found), len(found))
    return f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]" if found else "–"


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.fit.late_tokens", description="What answers lose while tokens are missing.")
    add_common_options(parser)
    parser.add_argument("places", type=Path, metavar="PLACES", help="questions with a best place; development half")
    parser.add_argument("asked", type=Path, nargs="*", metavar="ASKED", help="questions of which some have no answer")
    parser.add_argument("--made", type=int, nargs="*", default=MADE, help="so many made at once (default: %(default)s)")
    parser.add_argument("--every", type=int, default=1, help="ask each so many-th question (default: %(default)s)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_measure, build_parser(), None if arguments is None else list(arguments))


def _measure(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    placed = [row for row in load_placed(options.places) if row.split is Split.DEV and not row.after][:: options.every]
    asked_of = [row for file in options.asked for row in load_asked(file)]
    unanswerable = [row for row in asked_of if row.split is Split.DEV and row.answerable is Answerable.NO]
    rows = [*placed, *unanswerable[:: options.every]]
    settings = settings_from(options, llm=ChatModelName.EXTRACTIVE)
    embedder = load_embedder(settings)
    index = open_index(settings.index, embedder=embedder.identity)
    sys.stdout.write(
        "| made at once | best place first | refused | nearest | without an answer: refused | nearest | made in all |\n"
    )
    sys.stdout.write("|---|---:|---:|---:|---:|---:|---:|\n")
    for at_once in (None, *options.made):
        asked, late = (index, None) if at_once is None else without_tokens(index, at_once)
        cells = measure(Assistant(settings, embedder, index=asked), rows, late)
        sys.stdout.write(f"| {'all' if at_once is None else at_once} | {' | '.join(cells)} |\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())

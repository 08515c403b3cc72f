"""python -m tools.fit.asks SEVERAL: how often the right section comes first for each of several things that a question
asks, by what the score for the whole question counts (`rag.answer.quoted.ranking.OF_WHOLE`); and for how many questions
the sections that come first begin with the answer to each of them, with and without one of its own for each.

`rag/evaluation/data/several.jsonl` names the sections whose beginning answers each thing, and those that hold the
answer further down. Questions that the program cuts into another number of things are counted and left out.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from rag.answer.assistant import Assistant
from rag.answer.evidence import ask_evidence, selection_evidence
from rag.answer.quoted.choosing import each_its_own
from rag.answer.quoted.features import SectionFeatures, Wanted, section_features
from rag.answer.quoted.ranking import PAGES, SectionRanking, competing, weights_for
from rag.answer.quoted.sections import Section
from rag.answer.quoted.writer import wanted_of
from rag.cli import Parser, add_common_options, run, settings_from
from rag.evaluation.datasets import IdentifiedRow, Split, json_rows
from rag.evaluation.extra import require_evaluation_extra
from rag.evaluation.intervals import share
from rag.evaluation.progress import bar
from rag.index import Index
from rag.search.retrieval import Evidence
from rag.settings import ChatModelName

WEIGHTS_OF_WHOLE = (0.0, 0.25, 0.5, 0.75, 1.0)


class LabelledAsk(BaseModel):
    """One thing asked; sections are (document, heading)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    ask: str
    best: tuple[tuple[str, str], ...] = ()
    fine: tuple[tuple[str, str], ...] = ()


class SeveralRow(IdentifiedRow):
    split: Split
    question: str
    asks: tuple[LabelledAsk, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The sections that compete for one thing: scores for it and for the whole question, and grades (2 best, 1 fine),
    each of shape (n,)."""

    is_first: bool
    own: NDArray[np.float64]
    whole: NDArray[np.float64]
    grades: NDArray[np.int64]

    def grade(self, of_own: float, of_whole: float) -> int:
        """The grade of the section that comes first."""
        return int(self.grades[int((of_own * self.own + of_whole * self.whole).argmax())])


def load_several(file: Path) -> list[SeveralRow]:
    """The rows of a file. Raises UsageError."""
    return list(json_rows(file, SeveralRow))


def choices(assistant: Assistant, rows: Sequence[SeveralRow]) -> tuple[list[Choice], int]:
    """A choice for each thing that some section answers, and how many questions were cut otherwise."""
    found: list[Choice] = []
    otherwise = 0
    for row in bar(rows, "questions"):
        trace = assistant.prepare(row.question, [])
        asks = trace.question.asks
        if len(asks) != len(row.asks):
            otherwise += 1
            continue
        index, searcher, wanted = trace.resources.index, trace.resources.searcher, wanted_of(trace.result)
        whole = selection_evidence(searcher, trace.result)
        beside = competing(index, trace.resources.embedder, whole, wanted, pages=PAGES)
        for place, (ask, labelled) in enumerate(zip(asks, row.asks, strict=True)):
            if labelled.best:
                own = ask_evidence(searcher, ask)
                sections = competing(index, trace.resources.embedder, own, wanted, pages=PAGES, beside=beside)
                of_whole = {s.key: score for s, score in zip(beside, scored(index, whole, beside, wanted), strict=True)}
                least = min(of_whole.values())
                found.append(
                    Choice(
                        place == 0,
                        scored(index, own, sections, wanted),
                        np.asarray([of_whole.get(section.key, least) for section in sections]),
                        grades_of(labelled, sections),
                    )
                )
    return found, otherwise


def begun(assistant: Assistant, rows: Sequence[SeveralRow]) -> list[tuple[bool, bool]]:
    """Of each question whose rankings are made, whether each thing that some section answers is begun with its answer
    by one that comes first: as ranked, and with sections of their own."""
    found = []
    for row in bar([row for row in rows if any(ask.best for ask in row.asks)], "questions"):
        trace = assistant.prepare(row.question, [])
        asks = [ranking for ranking in trace.rankings[0].asks if ranking.sections] if trace.rankings else []
        found.append((begins_each(row, asks), begins_each(row, each_its_own(asks))))
    return found


def begins_each(row: SeveralRow, rankings: Sequence[SectionRanking]) -> bool:
    first = {(ranking.sections[0].document, ranking.sections[0].heading) for ranking in rankings}
    return all(first & {*ask.best} for ask in row.asks if ask.best)


def scored(index: Index, evidence: Evidence, sections: Sequence[Section], wanted: Wanted) -> NDArray[np.float64]:
    weights: SectionFeatures = weights_for(index)
    features = section_features(index, evidence, sections, wanted, weights)
    return np.asarray([of.row() for of in features]) @ weights.row()


def grades_of(labelled: LabelledAsk, sections: Sequence[Section]) -> NDArray[np.int64]:
    names = [(section.document, section.heading) for section in sections]
    return np.asarray([2 * (name in labelled.best) + (name in labelled.fine) for name in names], np.int64)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.fit.asks", description="What the whole question counts for each thing asked.")
    add_common_options(parser)
    parser.add_argument("several", type=Path, metavar="SEVERAL", help="questions that ask several things")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_tell, build_parser(), None if arguments is None else list(arguments))


def _tell(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    rows = load_several(options.several)
    assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
    found, otherwise = choices(assistant, rows)
    lines = [f"{len(rows)} questions, {otherwise} cut otherwise; {len(found)} things", *as_table(found)]
    each = np.asarray(begun(assistant, rows))
    lines.append("each begun: as ranked {:.3f}, each its own {:.3f}, of {}".format(*each.mean(axis=0), len(each)))
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def as_table(found: Sequence[Choice]) -> Iterator[str]:
    """For each weight, how often what comes first begins with the answer, holds it, and begins with it for the first
    thing and for those after it."""
    for of_own, of_whole in ((0.0, 1.0), *((1.0, weight) for weight in WEIGHTS_OF_WHOLE)):
        grades = np.asarray([choice.grade(of_own, of_whole) for choice in found])
        first = np.asarray([choice.is_first for choice in found])
        name = f"own + {of_whole} whole" if of_own else "the whole alone"
        begins = share(int((grades == 2).sum()), len(grades))
        yield (
            f"{name:18} begins {begins['value']:.3f} [{begins['low']:.3f}, {begins['high']:.3f}], "
            f"holds {(grades > 0).mean():.3f}; first {(grades[first] == 2).mean():.3f}, "
            f"later {(grades[~first] == 2).mean():.3f}"
        )


if __name__ == "__main__":
    sys.exit(main())

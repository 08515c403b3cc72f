"""python -m tools.fit.sections PLACES: fit which section opens an answer to the development half of
questions with a best place, and say how often that comes first on pages that it was not fitted to.

Listwise (Cao et al., ListNet, 2007): the cross entropy between a softmax over the scores of the sections of the five
best pages and their gains, by the grades that labellers gave. Folds are by page.
"""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.answer.assistant import Assistant
from rag.answer.evidence import selection_evidence
from rag.answer.quoted.features import SectionFeatures, section_features
from rag.answer.quoted.ranking import PAGES, WEIGHTS_FILE, competing, weights_for
from rag.answer.quoted.sections import Section
from rag.answer.quoted.writer import wanted_of
from rag.cli import Parser, add_common_options, run, settings_from
from rag.evaluation.answers.best_places import BEST, PlacedRow, load_placed
from rag.evaluation.datasets import Split
from rag.evaluation.extra import require_evaluation_extra
from rag.evaluation.intervals import share
from rag.evaluation.progress import bar
from rag.settings import ChatModelName

FOLDS = 10
RIDGE = 5.0
# What a section of each grade is worth as the first: beside, belonging, a good second, the best.
GAINS = np.asarray([0.0, 0.05, 0.25, 1.0])
# What is fitted; the others keep their weights.
FITTED = tuple(f.name for f in fields(SectionFeatures) if f.name not in ("relevance", "comparing_table", "said"))


@dataclass(frozen=True, slots=True)
class Choice:
    """The sections that compete for one question: features, shape (n, len(FITTED)), and grades, shape (n,)."""

    page: str
    features: NDArray[np.float64]
    grades: NDArray[np.int64]

    @property
    def has_best(self) -> bool:
        return bool((self.grades == BEST).any())


def choices(assistant: Assistant, rows: Sequence[PlacedRow]) -> list[Choice]:
    """The questions that have an answer, each with the sections of its best pages."""
    found = []
    for row in bar([row for row in rows if row.best], "questions"):
        trace = assistant.prepare(row.standalone or row.question, [])
        if trace.courtesy is not None or trace.question.standalone.intent is not None:
            continue
        index, embedder = trace.resources.index, trace.resources.embedder
        evidence = selection_evidence(trace.resources.searcher, trace.result)
        wanted = wanted_of(trace.result)
        sections = competing(index, embedder, evidence, wanted, pages=PAGES)
        if sections:
            features = section_features(index, evidence, sections, wanted)
            values = np.asarray([[getattr(one, name) for name in FITTED] for one in features])
            found.append(Choice(str(row.best and row.best[0]), values, grades_of(row, sections)))
    return found


def grades_of(row: PlacedRow, sections: Sequence[Section]) -> NDArray[np.int64]:
    """The grades of sections, shape (n,). Of the parts of a long one only that which holds the sentence is the best."""
    graded = row.graded
    grades = [graded.get((section.document, section.heading), 0) for section in sections]
    holding = [row.sentence in "".join(section.texts) for section in sections]
    if any(holds and grade == BEST for holds, grade in zip(holding, grades, strict=True)):
        grades = [min(g, BEST - 1) if not holds else g for g, holds in zip(grades, holding, strict=True)]
    return np.asarray(grades, np.int64)


def fit(chosen: Sequence[Choice]) -> NDArray[np.float64]:
    """The weights of FITTED that maximise the likelihood, less a ridge on standardised features."""
    from scipy.optimize import minimize

    spread = np.concatenate([choice.features for choice in chosen]).std(axis=0) + 1e-9
    usable = [(choice.features / spread, GAINS[choice.grades]) for choice in chosen if choice.has_best]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for features, gains in usable:
            scores = features @ weights
            log_odds = scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())
            wanted = gains / gains.sum()
            total -= float(wanted @ log_odds)
            slope = slope - features.T @ (wanted - np.exp(log_odds))
        return total, slope

    found = minimize(loss, np.zeros(len(FITTED)), jac=True, method="L-BFGS-B")
    return np.asarray(found.x / spread, np.float64)


def opened_right(weights: NDArray[np.float64], chosen: Sequence[Choice]) -> int:
    return sum(int(choice.grades[int((choice.features @ weights).argmax())] == BEST) for choice in chosen)


def cross_validated(chosen: Sequence[Choice]) -> int:
    """How many questions open right where their page was left out of the fit."""
    from sklearn.model_selection import GroupKFold

    right = 0
    folds = GroupKFold(FOLDS).split(chosen, groups=[choice.page for choice in chosen])
    for learnt, left_out in folds:
        right += opened_right(fit([chosen[place] for place in learnt]), [chosen[place] for place in left_out])
    return right


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.fit.sections", description="Fit which section opens an answer.")
    add_common_options(parser)
    parser.add_argument(
        "places", type=Path, metavar="PLACES", help="questions with a best place; their development half is used"
    )
    parser.add_argument("--write", action="store_true", help=f"write the default weights of {WEIGHTS_FILE.name}")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_fit, build_parser(), None if arguments is None else list(arguments))


def _fit(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    rows = [row for row in load_placed(options.places) if row.split is Split.DEV]
    assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
    chosen = choices(assistant, rows)
    weights = fit(chosen)
    program = weights_for(assistant.index)
    present = np.asarray([getattr(program, name) for name in FITTED])
    lines = [
        f"{len(chosen)} questions; the best section is a candidate of {sum(c.has_best for c in chosen)}",
        f"the best comes first with the weights of the program: {_told(opened_right(present, chosen), len(chosen))}",
        f"fitted anew, page left out: {_told(cross_validated(chosen), len(chosen))}",
        *(f"  {name}={value:.2f}" for name, value in zip(FITTED, weights, strict=True)),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    if options.write:
        written = WEIGHTS_FILE.read_text(encoding="utf-8")
        WEIGHTS_FILE.write_text(with_weights(written, dict(zip(FITTED, weights, strict=True))), encoding="utf-8")
    return 0


def with_weights(written: str, weights: Mapping[str, float]) -> str:
    """The text of a file of weights with these in its first table."""
    for name, weight in weights.items():
        written = re.sub(rf"^{name} = .*", f"{name} = {weight:.1f}", written, count=1, flags=re.MULTILINE)
    return written


def _told(count: int, total: int) -> str:
    found = share(count, total)
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


if __name__ == "__main__":
    sys.exit(main())

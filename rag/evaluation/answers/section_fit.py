"""python -m rag.evaluation.answers.section_fit ASKED: fit which section opens an answer to the development half of
asked questions, and say how often it is one to open with on pages that it was not fitted to.

A conditional logit (McFadden, 1974) over the sections of the five best pages: the likelihood of a question is the
probability that a softmax over the scores gives to the sections that labellers would open with. Folds are by page.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.answer.assistant import Assistant
from rag.answer.evidence import selection_evidence
from rag.answer.quoted.ranking import PAGES, SectionFeatures, section_features, weights_for
from rag.answer.quoted.sections import sections_of
from rag.answer.quoted.writer import wanted_of
from rag.commands.command_line import Parser, add_common_options, run, settings_from
from rag.evaluation.answers.asked import AskedRow, load_asked
from rag.evaluation.datasets import Split
from rag.evaluation.extra import require_evaluation_extra
from rag.evaluation.intervals import share
from rag.evaluation.progress import bar
from rag.settings import ChatModelName
from rag.types import Role, Turn

FOLDS = 10
RIDGE = 5.0
# What is fitted; the others keep their weights.
FITTED = tuple(f.name for f in fields(SectionFeatures) if f.name not in ("relevance", "comparing_table"))


@dataclass(frozen=True, slots=True)
class Choice:
    """The sections that compete for one question: features, shape (n, len(FITTED)), and which may open, shape (n,)."""

    page: str
    features: NDArray[np.float64]
    opens: NDArray[np.bool_]


def choices(assistant: Assistant, rows: Sequence[AskedRow]) -> list[Choice]:
    """The questions that have an answer, each with the sections of its best pages."""
    found = []
    for row in bar([row for row in rows if row.open], "questions"):
        history: list[Turn] = []
        if row.after:
            first = assistant.ask(row.after)
            history = [Turn(Role.USER, row.after), Turn(Role.ASSISTANT, first.text, first.refused)]
        trace = assistant.prepare(row.question, history)
        index, embedder = trace.resources.index, trace.resources.embedder
        evidence = selection_evidence(embedder, trace.result)
        sections = sections_of(index, evidence, pages=PAGES) if evidence.hits else []
        if sections and trace.plan.standalone.intent is None:
            features = section_features(index, embedder, evidence, sections, wanted_of(trace.result))
            values = np.asarray([[getattr(one, name) for name in FITTED] for one in features])
            opens = np.asarray([(section.document, section.heading) in row.open for section in sections])
            found.append(Choice(row.open[0][0], values, opens))
    return found


def fit(chosen: Sequence[Choice]) -> NDArray[np.float64]:
    """The weights of FITTED that maximise the likelihood, less a ridge on standardised features."""
    from scipy.optimize import minimize

    spread = np.concatenate([choice.features for choice in chosen]).std(axis=0) + 1e-9
    usable = [(choice.features / spread, choice.opens) for choice in chosen if choice.opens.any()]

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, slope = RIDGE * float(weights @ weights), 2 * RIDGE * weights
        for features, opens in usable:
            scores = features @ weights
            odds = np.exp(scores - scores.max())
            everywhere, right = odds / odds.sum(), odds * opens / (odds * opens).sum()
            total -= float(np.log(everywhere[opens].sum()))
            slope = slope - features.T @ (right - everywhere)
        return total, slope

    found = minimize(loss, np.zeros(len(FITTED)), jac=True, method="L-BFGS-B")
    return np.asarray(found.x / spread, np.float64)


def opened_right(weights: NDArray[np.float64], chosen: Sequence[Choice]) -> int:
    return sum(bool(choice.opens[int((choice.features @ weights).argmax())]) for choice in chosen)


def cross_validated(chosen: Sequence[Choice]) -> int:
    """How many questions open right where their page was left out of the fit."""
    from sklearn.model_selection import GroupKFold

    right = 0
    folds = GroupKFold(FOLDS).split(chosen, groups=[choice.page for choice in chosen])
    for learnt, left_out in folds:
        right += opened_right(fit([chosen[place] for place in learnt]), [chosen[place] for place in left_out])
    return right


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m rag.evaluation.answers.section_fit", description="Fit which section opens an answer."
    )
    add_common_options(parser)
    parser.add_argument(
        "asked", type=Path, metavar="ASKED", help="a file of asked questions; its development half is used"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_fit, build_parser(), None if arguments is None else list(arguments))


def _fit(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    rows = [row for row in load_asked(options.asked) if row.split is Split.DEV]
    assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
    chosen = choices(assistant, rows)
    weights = fit(chosen)
    program = weights_for(assistant.index)
    present = np.asarray([getattr(program, name) for name in FITTED])
    lines = [
        f"{len(chosen)} questions; the section to open with is a candidate of {sum(c.opens.any() for c in chosen)}",
        f"opened right with the weights of the program: {_told(opened_right(present, chosen), len(chosen))}",
        f"fitted anew, page left out: {_told(cross_validated(chosen), len(chosen))}",
        *(f"  {name}={value:.2f}" for name, value in zip(FITTED, weights, strict=True)),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _told(count: int, total: int) -> str:
    found = share(count, total)
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


if __name__ == "__main__":
    sys.exit(main())

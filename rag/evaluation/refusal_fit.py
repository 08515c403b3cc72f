"""python -m rag.evaluation.refusal_fit: fit what decides on refusals to the development questions of a gold file, and
say how well it does on those it was not fitted to.

Logistic regression with a ridge, both classes of equal weight, by Newton's method (Hastie, Tibshirani & Friedman, The
Elements of Statistical Learning, 4.4). Every figure is cross-validated. Neighbours in a gold file ask about one page or
one topic, so a fold is a run of neighbours, and what is learnt from some does not help with others.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.answering.names import find_names
from rag.answering.refusal import Calibration
from rag.answering.signs import Signs, read_signs
from rag.assistant import Assistant
from rag.command_line import Parser, add_common_options, print_json, run, settings_from
from rag.errors import UsageError
from rag.evaluation.datasets import Dataset, Split, load_dataset
from rag.finding import judged
from rag.settings import ChatModelName

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

FOLDS = 10
RIDGE = 3.0
STEPS = 50
# Share of the answerable questions that may be refused. At .045 one in ten of the test half was, at .02 one in fifty.
FALSE_REFUSALS = 0.02
# 95% of a normal distribution lie within so many deviations.
Z = 1.959964


@dataclass(frozen=True, slots=True)
class Fitted:
    """`false_refusals` and `recall` are (share, low, high) of the answerable questions and of the others, all judged by
    what was fitted without their fold."""

    calibration: Calibration
    answerable: int
    unanswerable: int
    false_refusals: tuple[float, float, float]
    recall: tuple[float, float, float]


def fit(rows: Values, unanswerable: Flags) -> Calibration:
    """The regression on the signs of questions, shape (n, signs), with the threshold at even odds."""
    centre, spread = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-9)
    scaled = np.column_stack([np.ones(len(rows)), (rows - centre) / spread])
    weights = np.where(unanswerable, 0.5 / unanswerable.mean(), 0.5 / (1 - unanswerable.mean()))
    ridge = np.diag([1e-6, *[RIDGE] * rows.shape[1]])
    factors = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        odds = 1 / (1 + np.exp(-scaled @ factors))
        curvature = (scaled * (weights * odds * (1 - odds))[:, np.newaxis]).T @ scaled + ridge
        step = np.linalg.solve(curvature, scaled.T @ (weights * (odds - unanswerable)) + ridge @ factors)
        factors -= step
        if np.abs(step).max() < 1e-9:
            break
    slopes = factors[1:] / spread
    return Calibration(float(factors[0] - slopes @ centre), Signs(*slopes.tolist()))


def scores(calibration: Calibration, rows: Values) -> Values:
    return np.asarray(calibration.offset + rows @ calibration.weights.row())


def folds(unanswerable: Flags) -> NDArray[np.int64]:
    """The fold of each question: runs of neighbours, as even as can be, in each class by itself."""
    result = np.zeros(len(unanswerable), np.int64)
    for kind in (False, True):
        for fold, part in enumerate(np.array_split(np.flatnonzero(unanswerable == kind), FOLDS)):
            result[part] = fold
    return result


def calibrate(rows: Values, unanswerable: Flags) -> Fitted:
    """Fit all; set the threshold, and measure, by the scores of each question when its fold was left out."""
    fold = folds(unanswerable)
    left_out = np.zeros(len(rows))
    for number in range(FOLDS):
        left_out[fold == number] = scores(fit(rows[fold != number], unanswerable[fold != number]), rows[fold == number])
    answerable = np.sort(left_out[~unanswerable])[::-1]
    threshold = float(answerable[int(FALSE_REFUSALS * len(answerable))])
    whole = fit(rows, unanswerable)
    return Fitted(
        Calibration(whole.offset - threshold, whole.weights),
        int((~unanswerable).sum()),
        int(unanswerable.sum()),
        wilson(int((answerable > threshold).sum()), len(answerable)),
        wilson(int((left_out[unanswerable] > threshold).sum()), int(unanswerable.sum())),
    )


def wilson(count: int, total: int) -> tuple[float, float, float]:
    """A share with its 95% interval (Wilson, Probable Inference, 1927), which holds for few and for extreme ones."""
    share = count / total
    middle = (share + Z * Z / (2 * total)) / (1 + Z * Z / total)
    half = Z * sqrt(share * (1 - share) / total + Z * Z / (4 * total * total)) / (1 + Z * Z / total)
    return share, max(0.0, middle - half), min(1.0, middle + half)


def read_all(assistant: Assistant, dataset: Dataset) -> tuple[Values, Flags]:
    """The signs of every question, shape (n, signs), and whether it has no answer. Raises UsageError where the index
    has no vectors of tokens."""
    index = assistant.index
    rows = []
    for query in dataset.queries:
        evidence = judged(assistant.find(index, query.text, query.history))
        signs = read_signs(index, evidence, find_names(index.keywords, evidence.query))
        if signs is None:
            raise UsageError(
                f"the index at {assistant.settings.index} has no vectors of tokens",
                hint="set late_interaction = true, and rebuild it: python -m ingest --rebuild",
            )
        rows.append(signs.row())
    return np.asarray(rows), np.asarray([query.id not in dataset.qrels for query in dataset.queries])


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m rag.evaluation.refusal_fit",
        description="Fit the refusal decision to a gold file's development half.",
    )
    add_common_options(parser)
    parser.add_argument(
        "gold", type=Path, metavar="GOLD", help="a gold file; questions without evidence have no answer"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_calibrate, build_parser(), None if arguments is None else list(arguments))


def _calibrate(options: argparse.Namespace) -> int:
    dataset = load_dataset(options.gold).part(Split.DEV)
    assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
    rows, unanswerable = read_all(assistant, dataset)
    for kind, flags in (("with", ~unanswerable), ("without", unanswerable)):
        if flags.sum() < FOLDS:
            raise UsageError(
                f"{options.gold} has {int(flags.sum())} development questions {kind} an answer",
                hint=f"at least {FOLDS} are needed of each kind",
            )
    fitted = calibrate(rows, unanswerable)
    if options.json:
        print_json(asdict(fitted))
    else:
        sys.stdout.write(as_text(fitted, assistant.index.manifest.embedder))
    return 0


def as_text(fitted: Fitted, embedder: str) -> str:
    """The calibration as it stands in `rag.answering.refusal`, under the figures."""
    names: list[str] = [field.name for field in fields(Signs)]
    weights: dict[str, Any] = asdict(fitted.calibration.weights)
    shown = ", ".join(f"{name}={weights[name]:.2f}" for name in names)
    lines = [
        "left out of {}: {:.3f} ({:.3f}-{:.3f}) of {} answerable questions refused".format(
            FOLDS, *fitted.false_refusals, fitted.answerable
        ),
        "{:.3f} ({:.3f}-{:.3f}) of {} without an answer refused".format(*fitted.recall, fitted.unanswerable),
        f"{embedder}: Calibration({fitted.calibration.offset:.2f}, Signs({shown}))",
    ]
    return "".join(line + "\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())

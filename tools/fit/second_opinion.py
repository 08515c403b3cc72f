"""python -m tools.fit.second_opinion: fit what decides after the calibration, on pages that questions are written for.

Two steps of `rag.answer.decide`: what the pages found do not speak of moves the log odds against an answer, and where
these are near, so does what the reader says. Both are logistic regressions over development questions, answerable ones
and others with the same weight in all; how much is refused, and how much is doubtful, is chosen by shares of the
answerable ones. Every figure is of questions that a fold left out.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.answer.answerability import log_odds as log_odds_of
from rag.answer.assistant import Assistant
from rag.answer.decide import (
    READ_WITHIN,
    SECOND_OPINION,
    SECOND_OPINION_ASKED,
    UNHEARD_OF,
    UNSPOKEN,
    USUALLY_UNSPOKEN,
    SecondOpinion,
)
from rag.answer.rank import best_reading, rank_sections
from rag.cli import Parser, add_common_options, run, settings_from
from rag.errors import UsageError
from rag.evaluation.answers.asked import Answerable, load_asked
from rag.evaluation.answers.best_places import load_placed
from rag.evaluation.datasets import Split
from rag.evaluation.extra import evaluation_extra, require_evaluation_extra
from rag.evaluation.intervals import share
from rag.settings import ChatModelName

Values = NDArray[np.float64]

FOLDS = 10
RIDGE = 1.0
# Shares of the answerable questions: refused, and refused or pointed to the nearest.
REFUSED, NOT_ANSWERED = 0.02, 0.10
ANSWERABLE = "answerable"
LIMIT = SECOND_OPINION_ASKED.limit


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a question before it is decided: the log odds of the calibration, whether nothing that it names
    stands in the material, the share of which the pages found do not speak, and what the reader says."""

    kind: str
    calibrated: float
    unheard: bool
    unspoken: float
    reading: float


@dataclass(frozen=True, slots=True)
class Constants:
    """Those of `rag.answer.decide`."""

    unspoken: float
    usually: float
    second: SecondOpinion

    def first(self, told: Told) -> float:
        return told.calibrated + self.unspoken * (told.unspoken - self.usually)

    def final(self, told: Told) -> float:
        return after_reading(self.first(told), told.reading, self.second)


NOW = Constants(UNSPOKEN, USUALLY_UNSPOKEN, SECOND_OPINION_ASKED)


def after_reading(first: float, reading: float, second: SecondOpinion) -> float:
    """The log odds against an answer in the end: only what is near is read, and only a reader that finds an answer
    lifts a refusal, as in `rag.answer.pipeline` and `reconsider`."""
    if abs(first) >= READ_WITHIN or (first > 0 and reading <= 0):
        return first
    return second.of(first, reading)


def without_share(told: Told) -> float:
    """The rule for pages without written questions."""
    return after_reading(told.calibrated + UNHEARD_OF * told.unheard, told.reading, SECOND_OPINION)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.fit.second_opinion", description=(__doc__ or "").split("\n\n")[1])
    parser.add_argument(
        "asked", nargs="+", type=Path, metavar="FILE", help="asked.jsonl, best_places.jsonl and others like them"
    )
    parser.add_argument(
        "--rows", type=Path, metavar="FILE", help="what is known of each question: written, or read if there"
    )
    add_common_options(parser)
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_fit, build_parser(), arguments)


def _fit(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    if options.rows is not None and options.rows.is_file():
        lines = options.rows.read_text(encoding="utf-8").splitlines()
        rows = [Told(**json.loads(line)) for line in lines]
    else:
        assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
        rows = list(tell(assistant, questions_of(options.asked)))
        if options.rows is not None:
            text = "".join(json.dumps(asdict(row), ensure_ascii=False) + "\n" for row in rows)
            options.rows.write_text(text, encoding="utf-8")
    able = sum(row.kind == ANSWERABLE for row in rows)
    if min(able, len(rows) - able) < FOLDS:
        raise UsageError(
            f"{able} of {len(rows)} development questions have an answer",
            hint=f"at least {FOLDS} are needed with an answer and without",
        )
    sys.stdout.write(as_text(rows))
    return 0


def questions_of(files: Iterable[Path]) -> Iterator[tuple[str, str]]:
    """The development questions that stand alone, each with its kind."""
    for file in files:
        if file.stem.startswith("best_places"):
            for placed in load_placed(file):
                if placed.split is Split.DEV and not placed.after:
                    yield placed.question, ANSWERABLE if placed.best else "not in the pages"
        else:
            for row in load_asked(file):
                if row.split is Split.DEV and row.answerable is Answerable.NO:
                    yield row.standalone or row.question, row.style


def tell(assistant: Assistant, questions: Iterable[tuple[str, str]]) -> Iterator[Told]:
    """Those on pages that questions are written for."""
    for question, kind in questions:
        trace = assistant.prepare(question)
        decision, reader = trace.decision, assistant.reader
        if decision.features is None or decision.unspoken is None or reader is None:
            continue
        # Not the decision's reading, which ends when the weights of now are sure.
        rankings = trace.rankings or rank_sections(trace.resources, decision.result)
        reading = best_reading(reader, assistant.embedder, rankings[0])
        if reading is not None:
            calibrated = log_odds_of(assistant.index, decision.features)
            assert calibrated is not None
            yield Told(kind, calibrated, decision.unheard, decision.unspoken, reading)


def fit(rows: Sequence[Told]) -> Constants:
    """The regressions, in units of the calibrated log odds, and the thresholds by shares of the answerable ones."""
    with evaluation_extra():
        from sklearn.linear_model import LogisticRegression
    silent = np.asarray([row.kind != ANSWERABLE for row in rows])

    def weights(columns: Values) -> Values:
        model = LogisticRegression(C=RIDGE, class_weight="balanced").fit(columns, silent)
        return np.asarray(model.coef_[0] / model.coef_[0, 0])

    unspoken = float(weights(np.asarray([[row.calibrated, row.unspoken] for row in rows]))[1])
    moved = np.asarray([row.calibrated + unspoken * row.unspoken for row in rows])
    usually = float(np.quantile(moved[~silent], 1 - REFUSED)) / unspoken
    reading = float(
        weights(np.asarray([[m, max(-LIMIT, min(LIMIT, r.reading))] for m, r in zip(moved, rows, strict=True)]))[1]
    )
    second = SecondOpinion(0.0, 1.0, reading, LIMIT, 0.0)

    def highest(second: SecondOpinion, most: float) -> float:
        """The log odds that so large a share of the answerable ones exceed."""
        found = [Constants(unspoken, usually, second).final(row) for row in rows if row.kind == ANSWERABLE]
        return float(np.quantile(found, 1 - most))

    second = replace(second, offset=min(0.0, -highest(second, REFUSED)))
    return Constants(unspoken, usually, replace(second, doubtful=-highest(second, NOT_ANSWERED)))


def as_text(rows: Sequence[Told]) -> str:
    left_out: dict[int, tuple[float, float]] = {}
    for fold in range(FOLDS):
        fitted = fit([row for place, row in enumerate(rows) if place % FOLDS != fold])
        left_out |= {
            place: (fitted.final(rows[place]), fitted.second.doubtful) for place in range(fold, len(rows), FOLDS)
        }
    ways: Mapping[str, Sequence[tuple[float, float]]] = {
        "without the share": [(without_share(row), SECOND_OPINION.doubtful) for row in rows],
        "as the program is": [(NOW.final(row), NOW.second.doubtful) for row in rows],
        "fitted, left out": [left_out[place] for place in range(len(rows))],
    }
    lines = ["refused; refused or pointed to the nearest"]
    for kind in dict.fromkeys(row.kind for row in rows):
        places = [place for place, row in enumerate(rows) if row.kind == kind]
        lines.append(f"{kind}, {len(places)}")
        for way, decided in ways.items():
            of_kind = [decided[place] for place in places]
            refused = share(sum(odds > 0 for odds, _ in of_kind), len(of_kind))
            silent = share(sum(odds > -doubtful for odds, doubtful in of_kind), len(of_kind))
            lines.append(f"  {way:20} {as_share(refused)}; {as_share(silent)}")
    return "\n".join([*lines, f"{fit(rows)}", ""])


def as_share(found: Mapping[str, Any]) -> str:
    return "{value:.3f} [{low:.3f}, {high:.3f}]".format(**found)


if __name__ == "__main__":
    sys.exit(main())

"""python -m rag.evaluation.answers.reader_fit ASKED: what the reader adds to the development half of asked questions,
and the weights with which it does.

Two uses, each without and with it on the same questions: which section opens, where several score alike, and whether a
doubtful question is answered. The weight of a reading and the second opinion are fitted here; figures are of pages (for
refusals: questions) that were left out of the fit. A use stays out of the program where the interval of its gain holds
0.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.answer.assistant import Assistant
from rag.answer.decide import DOUBTFUL, READ_WITHIN, SECOND_OPINION
from rag.answer.quoted.ranking import Ranking
from rag.answer.quoted.writer import wanted_of
from rag.answer.rank import READ_FIRST, rank_sections, text_of
from rag.cli import Parser, add_common_options, run, settings_from
from rag.errors import UsageError
from rag.evaluation.answers.asked import Answerable, AskedRow, load_asked
from rag.evaluation.datasets import Split
from rag.evaluation.extra import require_evaluation_extra
from rag.evaluation.intervals import interval, resampled_means
from rag.evaluation.progress import bar
from rag.reader.reading import open_reader
from rag.settings import ChatModelName, ReaderUse
from rag.types import Role, Turn

FOLDS = 10
# Sections that are read here, and how near to the first a section is a tie.
MOST_READ, NEAR_TIE = 4, 1.0
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 1.0, 1.25, 1.5)

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Read:
    """A question, its first sections by score with what the reader says of them, and which may open."""

    page: str
    answerable: bool
    log_odds: float | None
    scores: Values
    readings: Values
    opens: Flags
    seconds: float

    def opened(self, weight: float) -> bool:
        """Whether the right section opens where near ties are ordered by score and reading together."""
        near = self.scores >= self.scores[0] - NEAR_TIE
        return bool(self.opens[int((self.scores + weight * self.readings)[near].argmax())])


def read_questions(assistant: Assistant, rows: Sequence[AskedRow]) -> list[Read]:
    """The questions that search for something. Raises UsageError where no reader is to be had."""
    reader = open_reader(assistant.settings.model_copy(update={"reader": ReaderUse.AUTO}), assistant.embedder)
    if reader is None:
        raise UsageError("there is no reader for this embedder", hint="train one: make reader")
    found = []
    for row in bar(rows, "questions"):
        history: list[Turn] = []
        if row.after:
            first = assistant.ask(row.after)
            history = [Turn(Role.USER, row.after), Turn(Role.ASSISTANT, first.text, first.refused)]
        trace = assistant.prepare(row.question, history)
        result, wanted = trace.decision.result, wanted_of(trace.decision.result)
        if trace.courtesy is not None or wanted.intent is not None:
            continue
        ranking = rank_sections(trace.resources, result)[0]
        if ranking.sections:
            started = time.perf_counter()
            readings = reader.read(ranking.query, [text_of(section) for section in ranking.sections[:MOST_READ]])
            seconds = time.perf_counter() - started
            judged = not result.sides and not trace.plan.standalone.leans
            log_odds = trace.decision.log_odds if judged else None
            found.append(_read(row, ranking, [reading.answers for reading in readings], log_odds, seconds))
    return found


def _read(row: AskedRow, ranking: Ranking, answers: Sequence[float], log_odds: float | None, seconds: float) -> Read:
    opens = [(section.document, section.heading) in row.open for section in ranking.sections[: len(answers)]]
    return Read(
        page=row.open[0][0] if row.open else "",
        answerable=row.answerable is not Answerable.NO,
        log_odds=log_odds,
        scores=np.asarray(ranking.scores[: len(answers)]),
        readings=np.clip(np.asarray(answers, np.float64), -SECOND_OPINION.limit, SECOND_OPINION.limit),
        opens=np.asarray(opens),
        seconds=seconds,
    )


def opened_with_weight_of_others(read: Sequence[Read]) -> Flags:
    """Whether each question opens right with the weight that is best for the other pages."""
    from sklearn.model_selection import GroupKFold

    table = np.asarray([[one.opened(weight) for weight in WEIGHTS] for one in read])
    found = np.zeros(len(read), np.bool_)
    for learnt, left_out in GroupKFold(FOLDS).split(table, groups=[one.page for one in read]):
        found[left_out] = table[left_out, int(table[learnt].mean(axis=0).argmax())]
    return found


def _best_weight(read: Sequence[Read]) -> float:
    means = [np.mean([one.opened(weight) for one in read]) for weight in WEIGHTS]
    return WEIGHTS[int(np.argmax(means))]


def second_opinion(read: Sequence[Read]) -> tuple[Values, Values]:
    """The coefficients over (1, log odds, best reading) of "has no answer", and each question's log odds by those that
    were fitted without it; of all that the first opinion finds doubtful."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import KFold, cross_val_predict

    features = np.asarray([[one.log_odds, one.readings[:READ_FIRST].max()] for one in read])
    silent = np.asarray([not one.answerable for one in read])
    model = LogisticRegression(C=1.0)
    held_out = cross_val_predict(
        model, features, silent, cv=KFold(FOLDS, shuffle=True, random_state=0), method="decision_function"
    )
    model.fit(features, silent)
    return np.asarray([model.intercept_[0], *model.coef_[0]]), np.asarray(held_out)


def threshold(log_odds: Values, answerable: Flags, refused: int) -> float:
    """Above which so many of the answerable are refused."""
    return float(np.sort(log_odds[answerable])[::-1][refused])


def gain(before: NDArray[np.generic], after: NDArray[np.generic]) -> str:
    low, high = interval(resampled_means((after.astype(float) - before.astype(float))[:, np.newaxis])[:, 0])
    difference = float(after.mean() - before.mean())
    return f"{float(before.mean()):.3f} -> {float(after.mean()):.3f}, {difference:+.3f} [{low:+.3f}, {high:+.3f}]"


def report_order(read: Sequence[Read]) -> list[str]:
    asked = [one for one in read if one.page]
    before = np.asarray([one.opened(0.0) for one in asked])
    near = np.asarray([bool((one.scores >= one.scores[0] - NEAR_TIE).sum() > 1) for one in asked])
    return [
        f"opens right, {len(asked)} questions, {near.mean():.2f} with a near tie:",
        f"  {gain(before, opened_with_weight_of_others(asked))} (weight {_best_weight(asked)})",
        f"  best possible among those read: {np.mean([one.opens.any() for one in asked]):.3f}",
    ]


def report_refusals(read: Sequence[Read]) -> list[str]:
    judged = [one for one in read if one.log_odds is not None]
    first = np.asarray([one.log_odds for one in judged], np.float64)
    answerable = np.asarray([one.answerable for one in judged])
    near = np.abs(first) < READ_WITHIN
    coefficients, opinions = second_opinion([one for one, is_near in zip(judged, near, strict=True) if is_near])
    together = first.copy()
    together[near] = opinions
    # Clear cases keep their side, whatever the scale of the second opinion.
    together[~near] = np.sign(first[~near]) * (np.abs(first[~near]) + np.abs(opinions).max())
    lines = [
        f"refusals, {int(answerable.sum())} questions with an answer and {int((~answerable).sum())} near misses, "
        f"{near.mean():.2f} doubtful; 1, log odds, reading: {', '.join(f'{value:.3f}' for value in coefficients)}"
    ]
    for share in (0.01, 0.02, 0.03, 0.05, 0.10):
        refused = round(share * answerable.sum())
        sides = [values > threshold(values, answerable, refused) for values in (first, together)]
        limits = [threshold(values, answerable, refused) for values in (first, together)]
        lines.append(
            f"  near misses refused at {share:.0%} of the answerable: {gain(*(side[~answerable] for side in sides))}"
            f" (thresholds {limits[0]:.2f}, {limits[1]:.2f})"
        )
    doubted = round(float(((first > -DOUBTFUL) & answerable).sum() / answerable.sum()) * answerable.sum())
    sides = [values > threshold(values, answerable, doubted) for values in (first, together)]
    lines.append(
        f"  near misses refused or doubted at the {doubted} answerable that are now: "
        f"{gain(*(side[~answerable] for side in sides))} (threshold {threshold(together, answerable, doubted):.2f})"
    )
    return lines


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m rag.evaluation.answers.reader_fit", description="What the reader adds, and with what weights."
    )
    add_common_options(parser)
    parser.add_argument("asked", type=Path, metavar="ASKED", help="a file of asked questions")
    parser.add_argument("--split", type=Split, choices=list(Split), default=Split.DEV, help="half to report on")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_fit, build_parser(), None if arguments is None else list(arguments))


def _fit(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    rows = [row for row in load_asked(options.asked) if row.split is options.split]
    settings = settings_from(options, llm=ChatModelName.EXTRACTIVE)
    assistant = Assistant.open(settings.model_copy(update={"reader": ReaderUse.OFF}))
    read = read_questions(assistant, rows)
    milliseconds = np.asarray([one.seconds * 1_000 for one in read])
    p50, p95 = np.quantile(milliseconds, [0.5, 0.95])
    lines = [f"reading {MOST_READ} sections takes {p50:.0f} ms (p50), {p95:.0f} ms (p95)"]
    sys.stdout.write("\n".join([*lines, *report_order(read), *report_refusals(read)]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

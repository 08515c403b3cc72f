"""python -m tools.fit.grading ATTEMPTS …: fit the regressions that judge points to the development halves of labelled
attempts, write them where the program reads them, and say how well they judge pages that they were not fitted to.

What the judge reads depends on the weights without it, so after a change of features run this twice.

The pages' own spoken answers, of the development half, are right: the odds of a contradiction are fitted to them, too.

Logistic regression with a ridge on standardised features, as for refusals. Folds are by page. The borders between
verdicts are those of the cross-validated odds.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.answer.assistant import Assistant
from rag.cli import Parser, add_common_options, run, settings_from
from rag.errors import UsageError
from rag.evaluation.datasets import Split, split_of
from rag.evaluation.extra import evaluation_extra, require_evaluation_extra
from rag.evaluation.practice.attempts import AttemptRow, labelled, load_attempts, rubrics_of
from rag.evaluation.progress import bar
from rag.practice.attempt import read_attempt
from rag.practice.bank import QuestionKind, below, read_bank
from rag.practice.clashes import ClashFeatures
from rag.practice.grading import EmbedderGrader
from rag.practice.judge import Judge, open_judge
from rag.practice.likeness import Comparer, PointFeatures
from rag.practice.regressions import FILE, Regression, Regressions
from rag.practice.rubric import ESSENTIAL, Rubric, rubric_of
from rag.settings import ChatModelName
from rag.text.roles import SectionRole

FOLDS = 10
RIDGE = 3.0
# Of the points that an attempt makes, and of those of spoken answers, so many may be called contradicted.
FALSE_ALARMS = 0.02
# The verdict on a point of a spoken answer: not contradicted, whether it makes the point or not.
RIGHT = "right"
# What the judge adds is the last of the features.
WITHOUT_JUDGE = len(PointFeatures.columns()) + len(ClashFeatures.columns())

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Examples:
    """Points of attempts, n in all: features, shape (n, features), the verdict of the label, the page, and whether the
    attempt is in English."""

    rows: Values
    verdicts: NDArray[np.str_]
    pages: NDArray[np.str_]
    in_english: Flags


def examples(assistant: Assistant, attempts: Sequence[AttemptRow], judge: Judge | None) -> Examples:
    """What the grader would see of each labelled point, but not of attempts that only repeat another; those without
    claims are judged without it."""
    grader = EmbedderGrader(Comparer(assistant.index, assistant.embedder), judge)
    rubrics = rubrics_of(read_bank(assistant.index), attempts)
    rows, verdicts, pages, in_english = [], [], [], []
    for row in bar(attempts, "attempts"):
        rubric = rubrics[row.question_id]
        attempt = read_attempt(row.attempt, rubric.text)
        if attempt.is_empty or attempt.is_foreign or not attempt.claims or row.flipped is not None:
            continue
        seen = grader.features(attempt, grader.comparer.encode(attempt), rubric)
        features = {point.text: found[0] for point, found in zip(rubric.points, seen, strict=True) if found}
        for point, verdict in labelled(row, rubric):
            if point.text in features:
                rows.append(features[point.text])
                verdicts.append(verdict)
                pages.append(row.document)
                in_english.append(attempt.is_english)
    return Examples(np.asarray(rows), np.asarray(verdicts), np.asarray(pages), np.asarray(in_english))


def by_heart(assistant: Assistant, judge: Judge) -> Examples:
    """What the grader would see of each point if a candidate said the spoken answer of its page."""
    grader = EmbedderGrader(Comparer(assistant.index, assistant.embedder), judge)
    bank = read_bank(assistant.index)
    rows, pages = [], []
    titles = [q for q in bank.questions.values() if q.kind is QuestionKind.PAGE and split_of(q.document) is Split.DEV]
    for question in bar(titles, "spoken answers"):
        spoken = [s for s in below(bank.pages[question.document], SectionRole.SPOKEN) if s.section.language is None]
        said = "\n".join(unit.citation.quote for section in spoken for unit in section.units)
        rubric = rubric_of(bank, question)
        attempt = read_attempt(said, rubric.text)
        seen = grader.features(attempt, grader.comparer.encode(attempt), rubric)
        rows += [found[0] for found in seen if found]
        pages += [question.document for found in seen if found]
    count = len(rows)
    return Examples(np.asarray(rows), np.full(count, RIGHT), np.asarray(pages), np.zeros(count, bool))


def fit(rows: Values, flags: Flags) -> Regression:
    """The regression that tells the flagged rows from the others."""
    with evaluation_extra():
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler
    scaler = StandardScaler().fit(rows)
    model = LogisticRegression(C=1 / RIDGE, solver="newton-cholesky", tol=1e-9).fit(scaler.transform(rows), flags)
    slopes = model.coef_[0] / scaler.scale_
    return Regression(float(model.intercept_[0] - slopes @ scaler.mean_), tuple(slopes.tolist()))


def left_out(examples: Examples, flags: Flags, considered: Flags) -> Values:
    """The odds of each row by what was fitted to the considered rows of other pages."""
    with evaluation_extra():
        from sklearn.model_selection import GroupKFold
    odds = np.zeros(len(flags))
    folds = min(FOLDS, len(set(examples.pages)))
    for learnt, other in GroupKFold(folds).split(examples.rows, groups=examples.pages):
        part = learnt[considered[learnt]]
        fitted = fit(examples.rows[part], flags[part])
        odds[other] = fitted.offset + examples.rows[other] @ np.asarray(fitted.weights)
    return odds


def fitted(found: Examples, directed: Flags) -> tuple[Regressions, str]:
    """The regressions, and how well they do with pages left out. What is contradicted is learnt from, and told of, the
    `directed` examples."""
    labelled = found.verdicts != RIGHT
    made, full = np.isin(found.verdicts, ("found", "partly")), found.verdicts == "found"
    wrong, missing = found.verdicts == "contradicted", found.verdicts == "missing"
    right = made | ~labelled
    made_odds = left_out(found, made, labelled)
    full_odds = left_out(found, full, made)
    touched_odds = left_out(found, ~missing, labelled)
    wrong_odds = left_out(found, wrong, (right | wrong) & directed)
    alarm = float(np.quantile(wrong_odds[right & directed], 1 - FALSE_ALARMS))
    caught = directed & (touched_odds > 0) & (wrong_odds >= alarm)
    called = (made_odds > 0) & ~caught & labelled
    regressions = Regressions(
        touched=fit(found.rows[labelled], ~missing[labelled]),
        made=fit(found.rows[labelled], made[labelled]),
        full=fit(found.rows[made], full[made]),
        wrong=fit(found.rows[(right | wrong) & directed], wrong[(right | wrong) & directed]),
        wrong_from=alarm,
    )
    return regressions, (
        f"{made.sum()} made, {wrong.sum()} contradicted, {missing.sum()} missing; made: precision "
        f"{made[called].mean():.3f}, recall {called[made].mean():.3f}; contradicted: caught "
        f"{caught[wrong & directed].mean():.3f}, of points made called wrong {caught[made & directed].mean():.3f}, of "
        f"missing ones {caught[missing & directed].mean():.3f}, of spoken answers {caught[~labelled].mean():.3f}; "
        f"contradicted from made: AUC {_auc(wrong_odds, wrong & directed, made & directed):.3f}; spoken of: right "
        f"{((touched_odds >= 0) == ~missing)[labelled].mean():.3f}; found rather than partly: right "
        f"{((full_odds >= 0) == full)[made].mean():.3f}"
    )


def as_toml(named: Mapping[str, Regressions]) -> str:
    """What `rag.practice.regressions` reads."""
    blocks = []
    for name, one in named.items():
        parts = {"touched": one.touched, "made": one.made, "full": one.full, "wrong": one.wrong}
        lines = [
            f"{part} = [{', '.join(f'{number:.2f}' for number in (of.offset, *of.weights))}]"
            for part, of in parts.items()
        ]
        blocks.append("\n".join([f"[{name}]", *lines, f"wrong_from = {one.wrong_from:.2f}\n"]))
    return "\n".join(blocks)


def credits(attempts: Sequence[AttemptRow], rubrics: Mapping[str, Rubric]) -> list[str]:
    """What each verdict on essential points counts of the coverage and the score that a teacher gave: least squares."""
    verdicts = ("found", "partly", "mentioned", "contradicted")
    rated = [row for row in attempts if row.coverage is not None]
    shares = np.zeros((len(rated), len(verdicts)))
    for number, row in enumerate(rated):
        essential = [v for point, v in labelled(row, rubrics[row.question_id]) if point.weight >= ESSENTIAL]
        shares[number] = [essential.count(verdict) / max(1, len(essential)) for verdict in verdicts]
    lines = []
    for name, given in (("coverage", [row.coverage for row in rated]), ("score", [row.score for row in rated])):
        counts = np.linalg.lstsq(shares, np.asarray(given, float), rcond=None)[0]
        told = ", ".join(f"{verdict} {count:.2f}" for verdict, count in zip(verdicts, counts, strict=True))
        lines.append(f"{name} of {len(rated)} attempts: {told}")
    return lines


def _together(one: Examples, other: Examples) -> Examples:
    return Examples(*(np.concatenate([getattr(part, name.name) for part in (one, other)]) for name in fields(Examples)))


def _auc(odds: Values, wrong: Flags, made: Flags) -> float:
    with evaluation_extra():
        from sklearn.metrics import roc_auc_score
    return float(roc_auc_score(wrong[wrong | made], odds[wrong | made]))


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.fit.grading", description="Fit how attempts are graded.")
    add_common_options(parser)
    parser.add_argument(
        "attempts", nargs="+", type=Path, metavar="ATTEMPTS", help="labelled attempts; development halves are used"
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_fit, build_parser(), None if arguments is None else list(arguments))


def _fit(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    attempts = [row for file in options.attempts for row in load_attempts(file, Split.DEV)]
    assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
    rubrics = rubrics_of(read_bank(assistant.index), attempts)
    judge = open_judge(assistant.embedder)
    if judge is None:
        raise UsageError(f"there is no judge over {assistant.embedder.identity}", hint="use the default embedder")
    seen = _together(examples(assistant, attempts, judge), by_heart(assistant, judge))
    by_likeness = replace(seen, rows=seen.rows[:, :WITHOUT_JUDGE])
    fits = {
        "without_judge": fitted(by_likeness, np.ones(len(seen.rows), bool)),
        "with_judge": fitted(seen, ~seen.in_english),
    }
    FILE.write_text(as_toml({name: regressions for name, (regressions, _) in fits.items()}), encoding="utf-8")
    lines = [*(f"{name}: {told}" for name, (_, told) in fits.items()), *credits(attempts, rubrics)]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Evaluates the grading of attempts against labels, with the methods side by side on the same rows.

A point counts as made if it is found or partly found. A contradiction is caught if a point with that label gets that
verdict; a false alarm is a point that was made and is called contradicted. A flipped row repeats another with one fact
made wrong: it is caught if one of its points is called contradicted that is not in the row it repeats.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rag.answer.assistant import Assistant
from rag.evaluation.datasets import Split
from rag.evaluation.extra import evaluation_extra
from rag.evaluation.intervals import share
from rag.evaluation.practice.attempts import AttemptRow, labelled, load_attempts, rubrics_of
from rag.evaluation.progress import bar
from rag.evaluation.provenance import provenance
from rag.practice.bank import read_bank
from rag.practice.graders import open_grader
from rag.practice.grading import EmbedderGrader, Grade, Grader, Method, Verdict
from rag.practice.rubric import Rubric

MADE = ("found", "partly")
# The labels between very bad and very good, which are hard to tell apart.
MIDDLE = (0.2, 0.8)
# From this label on, an attempt is complete.
COMPLETE = 0.9
# Kinds that should score nothing, unless the label says that the attempt contains an answer.
WORTHLESS, NOTHING = ("keyword-soup", "injection"), 0.1
# Scores are rounded to tenths, as labels are.
GRADES = 10


@dataclass(frozen=True, slots=True)
class GradingEvaluation:
    """`result` is the JSON of the command; `rows` has a row for each attempt and method."""

    result: dict[str, Any]
    rows: list[dict[str, Any]]


def evaluate(file: Path, assistant: Assistant, *, split: Split, methods: Sequence[Method] = ()) -> GradingEvaluation:
    """Grade the attempts of a split by each method: by default overlap and embedder, and the chat model if one is
    open."""
    attempts = load_attempts(file, split)
    rubrics = rubrics_of(read_bank(assistant.index), attempts)
    chosen = methods or (
        Method.OVERLAP, Method.EMBEDDER, *([Method.CHAT_MODEL] if assistant.model_name else []),
    )  # fmt: skip
    results, rows = {}, []
    for method in chosen:
        grades, seconds = _grade(open_grader(assistant, method), attempts, rubrics, str(method))
        results[str(method)] = figures(attempts, rubrics, grades) | {
            "seconds_p95": round(float(np.quantile(seconds, 0.95)), 3)
        }
        rows += [
            {"id": row.id, "kind": row.kind, "method": method, "label": row.score, "score": grade.score}
            for row, grade in zip(attempts, grades, strict=True)
        ]
    result = {
        "dataset": file.name, "split": split, "attempts": len(attempts), "questions": len(rubrics), "methods": results,
        "model": assistant.model_name, **provenance(),
    }  # fmt: skip
    return GradingEvaluation(result, rows)


def _grade(
    grader: Grader, attempts: Sequence[AttemptRow], rubrics: dict[str, Rubric], name: str
) -> tuple[list[Grade], list[float]]:
    grades, seconds = [], []
    for row in bar(attempts, name):
        if isinstance(grader, EmbedderGrader):  # as the page does while an answer is typed
            grader.read_ahead(rubrics[row.question_id])
        begun = time.perf_counter()
        grades.append(grader.grade(row.attempt, rubrics[row.question_id]))
        seconds.append(time.perf_counter() - begun)
    return grades, seconds


def figures(attempts: Sequence[AttemptRow], rubrics: dict[str, Rubric], grades: Sequence[Grade]) -> dict[str, Any]:
    """The measures of one method. Points without a label are ignored; flipped rows, which repeat others, count only in
    `flipped_caught`."""
    flipped_caught = _flipped(attempts, grades)
    graded = [(row, grade) for row, grade in zip(attempts, grades, strict=True) if row.flipped is None]
    attempts, grades = [row for row, _ in graded], [grade for _, grade in graded]
    pairs = [
        (verdict, {graded.point.text: graded.verdict for graded in grade.points}[point.text])
        for row, grade in zip(attempts, grades, strict=True)
        for point, verdict in labelled(row, rubrics[row.question_id])
    ]
    made = [label in MADE for label, _ in pairs]
    called = [verdict in MADE for _, verdict in pairs]
    wrong = [label == "contradicted" for label, _ in pairs]
    accused = [verdict is Verdict.CONTRADICTED for _, verdict in pairs]
    labels, scores = np.asarray([row.score for row in attempts]), np.asarray([grade.score for grade in grades])
    middle = (labels >= MIDDLE[0]) & (labels <= MIDDLE[1])
    worthless = [
        grade.score
        for row, grade in zip(attempts, grades, strict=True)
        if row.kind in WORTHLESS and row.score <= NOTHING
    ]
    return {
        "point_precision": _part(made, called),
        "point_recall": _part(called, made),
        "contradictions_caught": _part(accused, wrong),
        "points_made_called_wrong": _part(accused, made),
        "flipped_caught": flipped_caught,
        "qwk": agreement(labels, scores, quadratic_weighted_kappa),
        "qwk_middle": agreement(labels[middle], scores[middle], quadratic_weighted_kappa),
        "spearman": agreement(labels, scores, spearman),
        "complete_score": _mean(scores[labels >= COMPLETE]),
        "reversed_score": _mean(scores[np.asarray([row.kind == "reversed" for row in attempts])]),
        "worthless_score_max": max(worthless, default=None),
        "worthless_above_0.2": _part([score > 0.2 for score in worthless], [True] * len(worthless)),
        "points": len(pairs),
    }


def _mean(scores: NDArray[np.float64]) -> float | None:
    return round(float(scores.mean()), 3) if len(scores) else None


def _part(counted: Sequence[bool], among: Sequence[bool]) -> dict[str, Any] | None:
    total = sum(among)
    return share(sum(a and b for a, b in zip(counted, among, strict=True)), total) if total else None


def _flipped(attempts: Sequence[AttemptRow], grades: Sequence[Grade]) -> dict[str, Any] | None:
    accused = {
        row.id: {graded.point.text for graded in grade.points if graded.verdict is Verdict.CONTRADICTED}
        for row, grade in zip(attempts, grades, strict=True)
    }
    flipped = [row for row in attempts if row.flipped is not None]
    caught = [bool(accused[row.id] - accused.get(str(row.flipped), set())) for row in flipped]
    return share(sum(caught), len(caught)) if caught else None


def as_text(result: dict[str, Any]) -> str:
    """The result as a table: a line for each measure and a column for each method."""
    methods = result["methods"]
    lines = [f"{result['attempts']} attempts at {result['questions']} questions ({result['split']})", ""]
    lines.append(f"{'':26}" + "".join(f"{name:>24}" for name in methods))
    lines += [
        f"{measure:26}" + "".join(f"{_shown(found[measure]):>24}" for found in methods.values())
        for measure in next(iter(methods.values()))
    ]
    return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['value']:.3f} [{value['low']:.3f}, {value['high']:.3f}]"
    return "–" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def quadratic_weighted_kappa(labels: Any, scores: Any) -> float:
    """Cohen's kappa with squared weights (Cohen, 1968) over tenths."""
    with evaluation_extra():
        from sklearn.metrics import cohen_kappa_score
    grades = [np.rint(np.asarray(values) * GRADES).astype(int) for values in (labels, scores)]
    return float(cohen_kappa_score(*grades, weights="quadratic", labels=list(range(GRADES + 1))))


def spearman(labels: Any, scores: Any) -> float:
    with evaluation_extra():
        from scipy.stats import spearmanr
    return float(spearmanr(labels, scores).statistic)


def agreement(labels: Any, scores: Any, measure: Callable[[Any, Any], float]) -> float | None:
    """The measure, rounded; None if all labels or all scores are equal, for which agreement is undefined."""
    if len(set(map(float, labels))) < 2 or len(set(map(float, scores))) < 2:
        return None
    return round(measure(labels, scores), 3)

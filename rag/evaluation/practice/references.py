"""Evaluates the grading of answers against the scores that teachers gave, by reference answers: for questions that no
page of ours asks.

Each sentence of a reference is a point. If a question has several references, an answer gets the best of its scores.
"""

from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, StringConstraints, model_validator

from rag.answer.assistant import Assistant
from rag.evaluation.datasets import IdentifiedRow, first_row_has, json_rows
from rag.evaluation.practice.run import agreement, quadratic_weighted_kappa, spearman
from rag.evaluation.progress import bar
from rag.evaluation.provenance import provenance
from rag.practice.attempt import read_attempt
from rag.practice.graders import open_grader
from rag.practice.grading import Method
from rag.practice.rubric import ESSENTIAL, Point, Rubric
from rag.types import Citation


class ScoredAnswer(IdentifiedRow):
    """An answer to a question, and its `score` out of `full`."""

    question: str
    references: Annotated[
        tuple[Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)], ...], Field(min_length=1)
    ]
    answer: str
    score: Annotated[float, Field(ge=0)]
    full: Annotated[float, Field(gt=0)]

    @model_validator(mode="after")
    def _is_a_share(self) -> "ScoredAnswer":
        if self.score > self.full:
            raise ValueError(f"the score {self.score:g} is above the full one, {self.full:g}")
        return self


def has_references(file: Path) -> bool:
    """Whether the file holds scored answers, not attempts at questions of the library."""
    return first_row_has(file, "references")


def rubric_from(reference: str, question: str) -> Rubric:
    """A rubric whose points are the sentences of a reference answer."""
    points = (
        Point(Citation(0, "reference", question, sentence.start, sentence.end, sentence.text), ESSENTIAL)
        for sentence in read_attempt(reference).sentences
        if sentence.text.strip()
    )
    return Rubric(f"reference#{question}", question, tuple(points), ())


def evaluate_references(
    file: Path, assistant: Assistant, methods: tuple[Method, ...] = (Method.OVERLAP, Method.EMBEDDER)
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The JSON of the command, and a row for each answer and method. Raises UsageError."""
    answers = list(json_rows(file, ScoredAnswer))
    rubric = cache(rubric_from)
    labels = np.asarray([answer.score / answer.full for answer in answers])
    results, rows = {}, []
    for method in methods:
        grader = open_grader(assistant, method)
        scores = np.asarray(
            [
                max(grader.grade(answer.answer, rubric(text, answer.question)).score for text in answer.references)
                for answer in bar(answers, str(method))
            ]
        )
        results[str(method)] = {
            "qwk": agreement(labels, scores, quadratic_weighted_kappa),
            "spearman": agreement(labels, scores, spearman),
            "mean_score": round(float(scores.mean()), 3),
        }
        rows += [
            {"id": answer.id, "method": method, "label": label, "score": score}
            for answer, label, score in zip(answers, labels.tolist(), scores.tolist(), strict=True)
        ]
    return {
        "dataset": file.name, "answers": len(answers), "questions": len({answer.question for answer in answers}),
        "mean_label": round(float(labels.mean()), 3), "methods": results,
        **provenance(),
    }, rows  # fmt: skip


def as_text(result: dict[str, Any]) -> str:
    lines = [f"{result['answers']} answers to {result['questions']} questions, mean label {result['mean_label']}", ""]
    lines += [
        f"{method:12}" + "  ".join(f"{name} {'–' if value is None else value}" for name, value in found.items())
        for method, found in result["methods"].items()
    ]
    return "\n".join(lines) + "\n"

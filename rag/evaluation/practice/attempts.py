"""Labelled attempts: what candidates answered, and which points of a question each answer makes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from rag.errors import UsageError
from rag.evaluation.datasets import IdentifiedRow, Split, json_rows, split_of
from rag.practice.bank import Bank
from rag.practice.rubric import Point, Rubric, rubric_of

Kind = Literal[
    "good", "partial", "wrong-one", "vague", "wordy", "off-topic", "keyword-soup", "injection", "empty", "english",
    "half", "reversed", "wrong", "spoken", "elsewhere", "terse", "negated", "bluff",
]  # fmt: skip


class LabelledPoint(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    text: str
    verdict: Literal["found", "partly", "mentioned", "missing", "contradicted"]


class AttemptRow(IdentifiedRow):
    """An attempt at a question (`document#heading`). A row without a split has that of its document, so that no page is
    in both halves. `coverage` is the teacher's label beside the score; `second` are the verdicts of a second teacher,
    in the order of the points. `flipped` names the row whose attempt this one repeats with one fact made wrong."""

    question_id: str
    kind: Kind
    split: Literal["dev", "test"] | None = None
    attempt: str
    points: tuple[LabelledPoint, ...]
    score: Annotated[float, Field(ge=0, le=1)]
    coverage: Annotated[float, Field(ge=0, le=1)] | None = None
    second: tuple[str, ...] = ()
    flipped: str | None = None

    @property
    def document(self) -> str:
        return self.question_id.split("#", 1)[0]

    @property
    def half(self) -> Split:
        return Split(self.split) if self.split else split_of(self.document)


def load_attempts(file: Path, split: Split = Split.ALL) -> list[AttemptRow]:
    """The rows of a split. Raises UsageError."""
    rows = [row for row in json_rows(file, AttemptRow) if split in (Split.ALL, row.half)]
    if not rows:
        raise UsageError(f"{file} has no attempt in its split {split}", hint="choose another --split")
    return rows


def rubrics_of(bank: Bank, rows: Sequence[AttemptRow]) -> dict[str, Rubric]:
    """The rubric of every attempted question, by id. Raises UsageError for an unknown question."""
    return {name: rubric_of(bank, bank.find(name)) for name in dict.fromkeys(row.question_id for row in rows)}


def labelled(row: AttemptRow, rubric: Rubric) -> list[tuple[Point, str]]:
    """The labelled points of a rubric, each with the verdict of its label."""
    verdicts = {" ".join(point.text.split()): point.verdict for point in row.points}
    pairs = ((point, verdicts.get(" ".join(point.text.split()))) for point in rubric.points)
    return [(point, verdict) for point, verdict in pairs if verdict is not None]

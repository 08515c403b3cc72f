"""python -m tools.fit.follow_ups TALKS: fit whether a message leans on the talk before it to the development half of
labelled talks, say how often that is right for those left out of the fit, and how often the program is on both halves.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag.answer.assistant import Assistant
from rag.cli import Parser, add_common_options, run, settings_from
from rag.evaluation.datasets import IdentifiedRow, Split, json_rows
from rag.evaluation.extra import require_evaluation_extra
from rag.evaluation.progress import bar
from rag.question.follow_ups import Standalone, follow, last_read, recent, stand_alone, tells_by_itself, weighed
from rag.question.leaning import LeaningFeatures
from rag.question.wording import in_the_materials_words
from rag.settings import ChatModelName
from rag.types import Role, Turn

FOLDS = 10
RIDGE = 2.0
BY_SEARCH = tuple(field.name for field in fields(LeaningFeatures))
BY_WORDS = tuple(name for name in BY_SEARCH if name not in ("lead", "alone", "in_talk", "alike"))


class TalkRow(IdentifiedRow):
    """`leans` says whether the message means nothing, or something else, without the talk before it."""

    split: Split
    source: str
    history: tuple[tuple[Role, str], ...]
    message: str
    leans: bool


@dataclass(frozen=True, slots=True)
class Talk:
    """A row, how the program reads it, and its features; None where the message says itself how it is to be read."""

    row: TalkRow
    read: Standalone
    features: LeaningFeatures | None


def talks_of(assistant: Assistant, rows: Sequence[TalkRow]) -> list[Talk]:
    found = []
    for row in bar(rows, "talks"):
        searcher = assistant.resources.searcher
        index = searcher.index
        message = in_the_materials_words(index, row.message)
        history = [
            Turn(role, in_the_materials_words(index, text) if role is Role.USER else text) for role, text in row.history
        ]
        talk = recent(history)
        read, followed = stand_alone(searcher, message, talk), follow(message, talk, last_read(searcher, talk))
        told = tells_by_itself(message, followed)
        found.append(Talk(row, read, None if told is not None else weighed(searcher, message, followed)))
    return found


def values(talks: Sequence[Talk], names: Sequence[str]) -> NDArray[np.float64]:
    places = [BY_SEARCH.index(name) for name in names]
    return np.asarray([np.asarray(astuple(talk.features))[places] for talk in talks if talk.features])


def fit(features: NDArray[np.float64], leans: NDArray[np.bool_]) -> tuple[float, NDArray[np.float64]]:
    """Offset and weights of a logistic regression with a ridge on standardised features; both kinds weigh the same."""
    from sklearn.linear_model import LogisticRegression

    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    found = LogisticRegression(C=1 / RIDGE, max_iter=2_000, class_weight="balanced").fit(
        (features - mean) / spread, leans
    )
    weights = found.coef_[0] / spread
    return float(found.intercept_[0] - weights @ mean), np.asarray(weights, np.float64)


def cross_validated(
    features: NDArray[np.float64], leans: NDArray[np.bool_], messages: Sequence[str]
) -> NDArray[np.bool_]:
    """Of each talk whether it is taken to lean by a fit that saw no talk with its message."""
    from sklearn.model_selection import GroupKFold

    told = np.zeros(len(leans), bool)
    for learnt, left_out in GroupKFold(FOLDS).split(features, leans, groups=messages):
        offset, weights = fit(features[learnt], leans[learnt])
        told[left_out] = features[left_out] @ weights + offset > 0
    return told


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.fit.follow_ups", description="Fit whether a message leans on the talk.")
    add_common_options(parser)
    parser.add_argument("talks", type=Path, metavar="TALKS", help="talks whose last message is labelled")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_fit, build_parser(), None if arguments is None else list(arguments))


def _fit(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    rows = list(json_rows(options.talks, TalkRow))
    assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
    talks = talks_of(assistant, rows)
    lines = [
        f"the program, {split} half: {_told([talk for talk in talks if talk.row.split is split])}"
        for split in (Split.DEV, Split.TEST)
    ]
    learnt = [talk for talk in talks if talk.row.split is Split.DEV and talk.features]
    leans = np.asarray([talk.row.leans for talk in learnt])
    for names in (BY_SEARCH, BY_WORDS):
        features = values(learnt, names)
        told = cross_validated(features, leans, [talk.row.message for talk in learnt])
        found, wrong = (f"{int((told & are).sum())} of {int(are.sum())}" for are in (leans, ~leans))
        offset, weights = fit(features, leans)
        shown = " ".join(f"{name}={weight:.2f}" for name, weight in zip(names, weights, strict=True))
        lines += [
            f"left out of the fit: {found} follow-ups found, {wrong} others taken for one",
            f"  offset={offset:.2f} {shown}",
        ]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _told(talks: Sequence[Talk]) -> str:
    """Shares of talks taken for follow-ups, by source."""
    kinds = sorted({(not talk.row.leans, talk.row.source) for talk in talks})
    parts = []
    for is_new, source in kinds:
        of_kind = [talk for talk in talks if (not talk.row.leans, talk.row.source) == (is_new, source)]
        taken = sum(bool(talk.read.subject) for talk in of_kind)
        parts.append(f"{source} {'new' if is_new else 'leaning'} {taken}/{len(of_kind)}")
    return ", ".join(parts)


if __name__ == "__main__":
    sys.exit(main())

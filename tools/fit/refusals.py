"""python -m tools.fit.refusals: fit what decides on refusals to the development questions of a gold
file, and say how well it does on those it was not fitted to.

Logistic regression with a ridge, both classes of equal weight. Every figure is cross-validated. Neighbours in a gold
file ask about one page or one topic, so a fold is a run of neighbours: what is learnt from some must not help with
others.

The questions are asked of the whole index and of parts of it. A part is another corpus, smaller and with other names,
and a question whose pages it lacks is a near miss that nobody had to write. Pages overlap, so of the questions whose
pages were removed only the half counts whose evidence is least similar to the remaining pages.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rag.answer.answerability import AnswerabilityFeatures, Calibration, read_features
from rag.answer.assistant import Assistant
from rag.answer.pipeline import find
from rag.answer.trace import Trace
from rag.cli import Parser, add_common_options, print_json, run, settings_from
from rag.errors import UsageError
from rag.evaluation.datasets import Dataset, Split, load_dataset
from rag.evaluation.extra import evaluation_extra, require_evaluation_extra
from rag.evaluation.intervals import share
from rag.index import DiskIndex, Index
from rag.index.manifest import Anchors
from rag.question.names import find_names
from rag.search.retrieval import CANDIDATES, search_dense
from rag.settings import ChatModelName
from tools.fit.part_of_index import part_of

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

Values = NDArray[np.float64]
Flags = NDArray[np.bool_]
Share = dict[str, Any]

FOLDS = 10
# The documents are dealt into so many heaps; each in turn is what a part of the index lacks.
HEAPS = (4, 2)
RIDGE = 3.0
# Features of which more makes an answer more likely. More of the others makes it less so; `chinese` may go either way.
ASSURING = ("match", "lead")
# Share of the answerable questions of the whole index that may be refused. No more than 5% should be, of any questions:
# with 2% of 219 that is the upper end of the 95% interval. Of the test half 2.5% are, with 3% here 5.9%.
FALSE_REFUSALS = 0.02


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions as they were asked, n in all. `rows` are their features, shape (n, features); `unanswerable` says which
    have no answer where they were asked, `question` which one it is, by its place in the dataset, and `whole` whether
    it was asked of the whole index. `kinds` has the kind of each question of the dataset."""

    rows: Values
    unanswerable: Flags
    question: NDArray[np.int64]
    whole: Flags
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """How it went with questions that were judged by what was fitted without their fold: the share refused
    with its interval, as of `intervals.share`.

    `false_refusals` is of the answerable questions, `recall` of the others, and `by_kind` of those of each kind, all
    asked of the whole index; `false_refusals_in_parts` of the answerable ones asked of parts of it, empty without any.
    """

    calibration: Calibration
    answerable: int
    unanswerable: int
    false_refusals: Share
    recall: Share
    false_refusals_in_parts: Share
    by_kind: dict[str, Share]


def regression() -> "Pipeline":
    """The model; its decision function grows with the odds that a question has no answer."""
    with evaluation_extra():
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
    ridge = LogisticRegression(C=1 / RIDGE, class_weight="balanced", solver="newton-cholesky", tol=1e-9)
    return make_pipeline(StandardScaler(), ridge)


def fit(rows: Values, unanswerable: Flags) -> Calibration:
    """The regression on the features of questions, shape (n, features), with the threshold at even odds."""
    scaler, model = (step for _, step in regression().fit(rows, unanswerable).steps)
    slopes = model.coef_[0] / scaler.scale_
    return Calibration(float(model.intercept_[0] - slopes @ scaler.mean_), AnswerabilityFeatures(*slopes.tolist()))


def without_contrary(rows: Values, unanswerable: Flags) -> Values:
    """The features with a 0 for each that would count against what it means: beside `match`, `lead` does with
    EmbeddingGemma, and what it gains on one corpus is not to be relied on."""
    weights = fit(rows, unanswerable).weights
    found = dict(zip((field.name for field in fields(weights)), weights.row(), strict=True))
    contrary = [found[name] > 0 if name in ASSURING else found[name] < 0 and name != "chinese" for name in found]
    return np.where(contrary, 0.0, rows)


def scores(calibration: Calibration, rows: Values) -> Values:
    return np.asarray(calibration.offset + rows @ calibration.weights.row())


def folds(unanswerable: Flags) -> NDArray[np.int64]:
    """The fold of each question: runs of neighbours, as even as can be, in each class by itself."""
    result = np.zeros(len(unanswerable), np.int64)
    for kind in (False, True):
        for fold, part in enumerate(np.array_split(np.flatnonzero(unanswerable == kind), FOLDS)):
            result[part] = fold
    return result


def calibrate(asked: Asked) -> Fitted:
    """Fit all; set the threshold, and measure, by the scores of each question when its fold was left out."""
    with evaluation_extra():
        from sklearn.model_selection import GroupKFold, cross_val_predict
    rows, unanswerable, whole = without_contrary(asked.rows, asked.unanswerable), asked.unanswerable, asked.whole
    by_question = np.zeros(len(asked.kinds), np.int64)
    by_question[asked.question[whole]] = folds(unanswerable[whole])
    left_out = cross_val_predict(
        regression(), rows, unanswerable, groups=by_question[asked.question], cv=GroupKFold(FOLDS),
        method="decision_function",
    )  # fmt: skip
    answerable = np.sort(left_out[whole & ~unanswerable])[::-1]
    threshold = float(answerable[int(FALSE_REFUSALS * len(answerable))])
    fitted = fit(rows, unanswerable)
    refused = left_out > threshold
    kinds = np.asarray(asked.kinds)[asked.question]

    def refused_of(flags: Flags) -> Share:
        return share(int(refused[flags].sum()), int(flags.sum()))

    return Fitted(
        Calibration(fitted.offset - threshold, fitted.weights),
        int((whole & ~unanswerable).sum()),
        int((whole & unanswerable).sum()),
        refused_of(whole & ~unanswerable),
        refused_of(whole & unanswerable),
        refused_of(~whole & ~unanswerable),
        {kind: refused_of(whole & (kinds == kind)) for kind in dict.fromkeys(asked.kinds)},
    )


def ask_all(assistant: Assistant, dataset: Dataset) -> Asked:
    """Ask the questions of the whole index, then of its parts. Raises UsageError where the index has no vectors of
    tokens, or not the documents of the gold file."""
    index = assistant.index
    names = sorted(document.name for document in index.storage.documents())
    absent = sorted({name for grades in dataset.qrels.values() for name in grades} - set(names))
    if absent:
        raise UsageError(
            f"{dataset.name} has evidence in {absent[0]}, which is not in the index",
            hint="make an index of the folder that the gold file was written for",
        )
    rows: list[Values] = []
    unanswerable: list[bool] = []
    question: list[int] = []
    whole: list[bool] = []
    for place, query in enumerate(dataset.queries):
        rows.append(features_of(assistant, index, dataset, place))
        unanswerable.append(query.id not in dataset.qrels)
        question.append(place)
        whole.append(True)
    said_elsewhere: list[tuple[float, int]] = []
    for dropped in heaps(names):
        with TemporaryDirectory() as folder:
            assert isinstance(index, DiskIndex)  # what is left out of it is written to files
            part = part_of(index, dropped, Path(folder))
            for place, query in enumerate(dataset.queries):
                pages = set(dataset.qrels.get(query.id, ()))
                lost = pages & dropped
                # Where half of the evidence is left, who can say whether that is an answer?
                if lost and lost != pages:
                    continue
                if lost:
                    quotes = dataset.evidence[query.id]
                    said_elsewhere.append((max(nearness(assistant, part, quote) for quote, *_ in quotes), len(rows)))
                rows.append(features_of(assistant, part, dataset, place))
                unanswerable.append(not pages or bool(lost))
                question.append(place)
                whole.append(False)
            part.close()
    kept = np.ones(len(rows), bool)
    kept[[row for _, row in sorted(said_elsewhere)[len(said_elsewhere) // 2 :]]] = False
    return Asked(
        np.asarray(rows)[kept],
        np.asarray(unanswerable)[kept],
        np.asarray(question)[kept],
        np.asarray(whole)[kept],
        tuple(query.kind or "" for query in dataset.queries),
    )


def heaps(names: Sequence[str]) -> Iterator[set[str]]:
    """The documents that each part of the index lacks."""
    random = np.random.default_rng(0)
    for count in HEAPS:
        dealt = random.permutation(len(names))
        for heap in range(count):
            yield {names[place] for place in dealt[heap::count]}


def features_of(assistant: Assistant, index: Index, dataset: Dataset, place: int) -> Values:
    query = dataset.queries[place]
    resources = assistant.resources_over(index)
    evidence = find(Trace(resources, query.text, tuple(query.history))).result.for_decision
    features = read_features(index, evidence, find_names(index.keywords, evidence.query))
    if features is None:
        raise UsageError(
            f"the index at {assistant.settings.index} has no vectors of tokens",
            hint="set late_interaction = true, and rebuild it: python -m ingest --rebuild",
        )
    return features.row()


def nearness(assistant: Assistant, index: Index, quote: str) -> float:
    """How alike a passage of the index is to a quote, by late interaction."""
    (encoded,) = assistant.embedder.encode_queries([quote])
    near = search_dense(index, encoded.vector, CANDIDATES).numbers
    return float(index.tokens.scores(encoded, near).max()) if index.tokens is not None and len(near) else -1.0


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m tools.fit.refusals",
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
    require_evaluation_extra()
    dataset = load_dataset(options.gold).part(Split.DEV)
    assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
    with_answer = np.asarray([query.id in dataset.qrels for query in dataset.queries])
    for kind, flags in (("with", with_answer), ("without", ~with_answer)):
        if flags.sum() < FOLDS:
            raise UsageError(
                f"{options.gold} has {int(flags.sum())} development questions {kind} an answer",
                hint=f"at least {FOLDS} are needed of each kind",
            )
    fitted = calibrate(ask_all(assistant, dataset))
    if options.json:
        print_json(asdict(fitted))
    else:
        sys.stdout.write(as_text(fitted, assistant.index.manifest.embedder, assistant.index.manifest.anchors))
    return 0


def as_text(fitted: Fitted, embedder: str, anchors: Anchors | None) -> str:
    """The calibration as it stands in `rag.answer.answerability`, under the figures."""
    names: list[str] = [field.name for field in fields(AnswerabilityFeatures)]
    weights: dict[str, Any] = asdict(fitted.calibration.weights)
    shown = ", ".join(f"{name}={weights[name]:.2f}" for name in names)
    lines = [
        f"left out of {FOLDS}: {as_share(fitted.false_refusals)} of {fitted.answerable} answerable questions refused",
        f"{as_share(fitted.recall)} of {fitted.unanswerable} without an answer refused",
        *(f"  {kind}: {as_share(found)}" for kind, found in fitted.by_kind.items()),
    ]
    if fitted.false_refusals_in_parts:
        lines.append(f"{as_share(fitted.false_refusals_in_parts)} of the answerable ones refused by a part")
    lines.append(f"anchors of the index: {anchors}")
    lines.append(f"{embedder}: Calibration({fitted.calibration.offset:.2f}, AnswerabilityFeatures({shown}))")
    return "".join(line + "\n" for line in lines)


def as_share(share: Share) -> str:
    return "{value:.3f} ({low:.3f}-{high:.3f})".format(**share)


if __name__ == "__main__":
    sys.exit(main())

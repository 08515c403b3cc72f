"""python -m rag.evaluation.answers.refusal_transfer DATASET…: what is refused on materials that the refusal decision
was not fitted to, before an index is calibrated (as a small one is not) and after.

Each DATASET is a BEIR folder, of which one half is ingested; documents whose ids differ in their last part only
(`zh-3-1`, `zh-3-2`) are of one source, and stay together. Three kinds of questions are asked of it:

* present: those that its documents answer;
* absent: present questions of the other datasets, about other things altogether;
* held out: those that the other half answers, on topics that the ingested half lacks.

Known words are the absent and held-out questions of which every word stands in the material, and yet no answer: the
hard case. `--articles FOLDER QUESTIONS` adds a folder of documents with questions of its own, JSON lines {"question",
"answerable"}; those that are not answerable count as held out.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rag.answer.assistant import Assistant
from rag.answer.decide import Decision, Judgement, judge
from rag.answer.pipeline import PREPARE, resolve, search
from rag.answer.trace import Trace
from rag.cli import Parser, add_common_options, print_json, run, settings_from
from rag.embedding import embedder_identity, load_embedder
from rag.errors import UsageError
from rag.evaluation.datasets import Dataset, Query, evenly_spread, load_dataset
from rag.evaluation.extra import evaluation_extra, require_evaluation_extra
from rag.evaluation.intervals import share
from rag.evaluation.progress import bar
from rag.evaluation.retrieval.indexing import index_documents, ingest_folder, program_text, shaping
from rag.evaluation.table import aligned
from rag.index import Index, open_index
from rag.settings import ChatModelName, Settings
from rag.text.terms import terms

# Questions of each kind; absent ones are dealt over the other datasets.
ASKED = 150
DOCUMENTS = 500


@dataclass(frozen=True, slots=True)
class Material:
    """An index, and what is asked of it."""

    name: str
    settings: Settings
    present: Sequence[str]
    held_out: Sequence[str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one question: whether it was refused and the log odds against an answer, by `before` and `after`.
    `known` says that all its words stand in the material."""

    question: str
    kind: str
    known: bool
    refused: Mapping[str, bool]
    log_odds: Mapping[str, float | None]


def materials(options: argparse.Namespace, settings: Settings, work: Path) -> Iterator[Material]:
    for folder in options.datasets:
        dataset = load_dataset(folder)
        ingested = half_of(dataset, options.documents, other=options.other_half)
        documents = tuple(document for document in dataset.documents or () if document.id in ingested)
        sources = {source_of(id) for id in ingested}
        relevant = {query: set(dataset.qrels[query.id]) for query in dataset.scored}
        yield Material(
            dataset.name,
            index_documents(documents, settings, work).settings,
            _sample(query for query, ids in relevant.items() if ids <= ingested),
            _sample(query for query, ids in relevant.items() if not sources & {source_of(id) for id in ids}),
        )
    if options.articles:
        folder, file = options.articles
        made_by = json.dumps([embedder_identity(settings), shaping(settings), program_text()])
        digest = hashlib.sha256(made_by.encode()).hexdigest()[:16]
        own = settings.model_copy(update={"index": work / f"{folder.name}-{digest}"})
        ingest_folder(folder, own)
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        present, missing = ([row["question"] for row in rows if row["answerable"] is flag] for flag in (True, False))
        yield Material(folder.name, own, present, missing)


def half_of(dataset: Dataset, most: int, *, other: bool) -> set[str]:
    """The ids of at most about `most` documents, of every second source."""
    ids = [document.id for document in dataset.documents or ()]
    sources = list(dict.fromkeys(map(source_of, ids)))
    if len(sources) < 4:
        raise UsageError(
            f"the ids of {dataset.name} are of {len(sources)} sources", hint="name them SOURCE-NUMBER, of four at least"
        )
    dealt = np.random.default_rng(0).permutation(len(sources))[int(other) :: 2]
    counts: dict[str, list[str]] = {}
    for id in ids:
        counts.setdefault(source_of(id), []).append(id)
    half: set[str] = set()
    for place in dealt:
        if len(half) < most:
            half.update(counts[sources[place]])
    return half


def source_of(id: str) -> str:
    return id.rpartition("-")[0] or id


def _sample(queries: Iterator[Query]) -> list[str]:
    return evenly_spread([query.text for query in queries], ASKED)


def ask(assistant: Assistant, index: Index, question: str, kind: str) -> Verdict:
    """What is decided with the anchors of the index, and without, and what a reader makes of it."""
    resources = assistant.resources_over(index)
    found = search(resources, resolve(resources, question, ())).for_decision
    plain = replace(index, manifest=index.manifest.model_copy(update={"anchors": None}))
    judged: dict[str, Judgement | Decision] = {"before": judge(plain, found), "after": judge(index, found)}
    if resources.reader is not None:
        judged["read"] = PREPARE.invoke(Trace(resources, question)).decision
    known = all(index.keywords.frequency(term) for term in terms(question))
    return Verdict(
        question,
        kind,
        known,
        {name: judgement.refusal is not None for name, judgement in judged.items()},
        {name: judgement.log_odds for name, judgement in judged.items()},
    )


def figures(verdicts: Sequence[Verdict], name: str) -> dict[str, Any]:
    """Shares refused of each kind, and how well the log odds tell present from other questions, as an AUC."""

    def refused(some: Sequence[Verdict]) -> dict[str, Any]:
        return share(sum(verdict.refused[name] for verdict in some), len(some))

    present, absent, held_out = (
        [verdict for verdict in verdicts if verdict.kind == kind] for kind in ("present", "absent", "held out")
    )
    with evaluation_extra():
        from sklearn.metrics import roc_auc_score
    calibrated = all(verdict.log_odds[name] is not None for verdict in verdicts)
    without = [verdict.kind != "present" for verdict in verdicts]
    auc = roc_auc_score(without, [verdict.log_odds[name] for verdict in verdicts]) if calibrated else None
    return {
        "false_refusals": refused(present),
        "absent": refused(absent),
        "held_out": refused(held_out),
        "known_words": refused([verdict for verdict in (*absent, *held_out) if verdict.known]),
        "auc": None if auc is None else round(float(auc), 4),
    }


def measure(materials: Sequence[Material], assistant: Assistant) -> tuple[dict[str, Any], dict[str, list[Verdict]]]:
    """The figures of each material, and its questions."""
    results: dict[str, Any] = {}
    rows: dict[str, list[Verdict]] = {}
    for material in materials:
        index = open_index(material.settings.index)
        others = [other for other in materials if other is not material]
        absent = [question for other in others for question in evenly_spread(other.present, ASKED // len(others))]
        asked = [
            *((question, "present") for question in material.present),
            *((question, "absent") for question in absent),
            *((question, "held out") for question in material.held_out),
        ]
        verdicts = [ask(assistant, index, question, kind) for question, kind in bar(asked, material.name)]
        anchors = index.manifest.anchors
        results[material.name] = {
            "passages": index.manifest.passages,
            "anchors": anchors and anchors.model_dump(),
            **{name: figures(verdicts, name) for name in verdicts[0].refused},
        }
        rows[material.name] = verdicts
        index.close()
    return results, rows


def as_text(results: Mapping[str, Any]) -> str:
    """Shares before and after, with the number of questions."""
    names = ("false_refusals", "absent", "held_out", "known_words")
    rows = [["", "passages", *(name.replace("_", " ") for name in names), "AUC"]]
    for material, result in results.items():
        steps = [result[step] for step in ("before", "after", "read") if step in result]
        shares = [_in_steps(steps, name) for name in names]
        aucs = " -> ".join("-" if step["auc"] is None else f"{step['auc']:.3f}" for step in steps)
        rows.append([material, f"{result['passages']:,}", *shares, aucs])
    return "".join(f"{line}\n" for line in aligned(rows))


def _in_steps(steps: Sequence[Mapping[str, Any]], name: str) -> str:
    if not steps[0][name]:
        return "-"
    values = [f"{step[name]['value']:.3f}" for step in steps]
    return f"{' -> '.join(values)} of {steps[0][name]['of']}"


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m rag.evaluation.answers.refusal_transfer",
        description="Measure refusals on materials that the decision was not fitted to.",
    )
    add_common_options(parser)
    parser.add_argument("datasets", nargs="+", type=Path, metavar="DATASET", help="a BEIR folder")
    parser.add_argument("--articles", nargs=2, type=Path, metavar=("FOLDER", "QUESTIONS"), help="documents, questions")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help=f"most of each dataset (default: {DOCUMENTS})")
    parser.add_argument("--other-half", action="store_true", help="ingest the half that is otherwise held out")
    parser.add_argument("--work", type=Path, metavar="DIR", help="keep indexes there between runs")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write each question with its verdicts, as JSON lines")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_measure, build_parser(), None if arguments is None else list(arguments))


def _measure(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    if len(options.datasets) + bool(options.articles) < 2:
        raise UsageError("one material has no others", hint="name two datasets at least, or --articles")
    settings = settings_from(options, llm=ChatModelName.EXTRACTIVE)
    with ExitStack() as stack:
        work = options.work or Path(stack.enter_context(TemporaryDirectory()))
        found = list(materials(options, settings, work))
        results, rows = measure(found, Assistant(found[0].settings, load_embedder(settings)))
    if options.out:
        lines = [{"material": name} | asdict(verdict) for name, some in rows.items() for verdict in some]
        options.out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    if options.json:
        print_json(results)
    else:
        sys.stdout.write(as_text(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""python -m rag eval …: measure the program's quality on questions with known answers."""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.cli import add_common_options, add_llm, print_json, settings_from, write_file
from rag.errors import UsageError
from rag.evaluation.extra import require_evaluation_extra
from rag.settings import ChatModelName

if TYPE_CHECKING:
    # argparse has no public name for the type of add_subparsers().
    from rag.cli import Commands


def add_eval(commands: "Commands") -> None:
    """The command `eval`, with a sub-command for each measurement."""
    kinds = commands.add_parser("eval", help="measure quality").add_subparsers(dest="kind", required=True)
    _add_retrieval(kinds)
    _add_answers(kinds)
    _add_practice(kinds)
    _add_agent(kinds)


def _add_retrieval(kinds: "Commands") -> None:
    retrieval = kinds.add_parser("retrieval", help="how well passages are found, beside baselines")
    add_common_options(retrieval)
    retrieval.add_argument("dataset", type=Path, metavar="DATASET", help="a BEIR folder, or a gold file")
    retrieval.add_argument(
        "--systems", metavar="NAMES", help="systems to compare, with commas; all is every one (default: our own)"
    )
    retrieval.add_argument("--work", type=Path, metavar="DIR", help="keep indexes and vectors there between runs")
    _add_rows_and_files(retrieval, "queries", "query")
    retrieval.set_defaults(main=_retrieval)


def _retrieval(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    from rag.evaluation.datasets import Split, load_dataset
    from rag.evaluation.retrieval.run import evaluate
    from rag.evaluation.retrieval.systems import choose
    from rag.evaluation.table import as_text

    systems = choose(options.systems)
    dataset = load_dataset(options.dataset)
    if dataset.documents is not None and options.index is not None:
        raise UsageError(
            "--index is for gold files; the documents of a BEIR folder are indexed apart",
            hint="--work DIR keeps that index",
        )
    if options.work is not None:
        _make_folder(options.work)
    _require_writable(options.out, options.per_query)
    evaluation = evaluate(
        dataset,
        settings_from(options, llm=ChatModelName.EXTRACTIVE),
        systems,
        split=Split(options.split),
        limit=options.limit,
        work=options.work,
    )
    _give(options, evaluation.result, evaluation.rows, as_text)
    return 0


def _add_answers(kinds: "Commands") -> None:
    answers = kinds.add_parser("answers", help="how well questions are answered and refused")
    add_common_options(answers)
    answers.add_argument("gold", type=Path, metavar="GOLD", help="gold, asked, or placed questions (JSON lines)")
    add_llm(answers)
    _add_rows_and_files(answers, "questions", "question")
    answers.add_argument("--gate", action="store_true", help="exit with 1 where a target is missed")
    answers.set_defaults(main=_answers)


def _answers(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    from rag.evaluation.answers.asked import as_text as as_measures
    from rag.evaluation.answers.asked import evaluate_asked, is_asked
    from rag.evaluation.answers.best_places import evaluate_placed, is_placed
    from rag.evaluation.answers.run import evaluate
    from rag.evaluation.answers.table import as_text
    from rag.evaluation.datasets import Split

    _require_writable(options.out, options.per_query)
    for is_kind, measure in ((is_asked, evaluate_asked), (is_placed, evaluate_placed)):
        if is_kind(options.gold):
            settings = settings_from(options, llm=options.llm)
            result, rows = measure(options.gold, settings, split=Split(options.split), limit=options.limit)
            _give(options, result, rows, as_measures)
            return 0
    evaluation = evaluate(
        options.gold, settings_from(options, llm=options.llm), split=Split(options.split), limit=options.limit
    )
    _give(options, evaluation.result, evaluation.rows, as_text)
    return int(options.gate and not all(gate["met"] for gate in evaluation.result["gates"].values()))


def _add_practice(kinds: "Commands") -> None:
    practice = kinds.add_parser("practice", help="how well answers to practice questions are graded")
    add_common_options(practice)
    practice.add_argument(
        "attempts",
        type=Path,
        metavar="ATTEMPTS",
        help="attempts that people labelled, or answers beside references (JSON lines)",
    )
    practice.add_argument(
        "--llm",
        choices=[str(name) for name in ChatModelName],
        default=str(ChatModelName.EXTRACTIVE),
        help="a chat model that grades beside the other methods (default: none)",
    )
    _add_rows_and_files(practice, "attempts", "attempt and method", limited=False)
    practice.set_defaults(main=_practice)


def _practice(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    from rag.answer.assistant import Assistant
    from rag.evaluation.datasets import Split
    from rag.evaluation.practice import references
    from rag.evaluation.practice.run import as_text, evaluate

    _require_writable(options.out, options.per_query)
    assistant = Assistant.open(settings_from(options, llm=options.llm))
    if references.has_references(options.attempts):
        if options.split != "all" or options.llm != ChatModelName.EXTRACTIVE:
            raise UsageError(
                f"{options.attempts} has answers beside references: no split, and no chat model that grades",
                hint="leave out --split and --llm",
            )
        _give(options, *references.evaluate_references(options.attempts, assistant), references.as_text)
        return 0
    evaluation = evaluate(options.attempts, assistant, split=Split(options.split))
    _give(options, evaluation.result, evaluation.rows, as_text)
    return 0


def _add_agent(kinds: "Commands") -> None:
    agent = kinds.add_parser("agent", help="what an agent finds beside a single pass, and what it costs")
    add_common_options(agent)
    agent.add_argument("gold", type=Path, metavar="GOLD", help="a gold file (JSON lines)")
    agent.add_argument("--kinds", metavar="NAMES", help="kinds of questions to ask, with commas (default: all)")
    agent.add_argument(
        "--llm",
        choices=[str(name) for name in ChatModelName if name not in (ChatModelName.AUTO, ChatModelName.EXTRACTIVE)],
        help="who plans (default: a script that searches each part of a question)",
    )
    _add_rows_and_files(agent, "questions", "question")
    agent.set_defaults(main=_agent)


def _agent(options: argparse.Namespace) -> int:
    require_evaluation_extra()
    from rag.evaluation.agent.planner import open_planned
    from rag.evaluation.agent.run import as_text, evaluate
    from rag.evaluation.datasets import Split

    _require_writable(options.out, options.per_query)
    assistant = open_planned(settings_from(options, llm=options.llm or ChatModelName.EXTRACTIVE))
    kinds = tuple(filter(None, (options.kinds or "").split(",")))
    result, rows = evaluate(options.gold, assistant, split=Split(options.split), kinds=kinds, limit=options.limit)
    _give(options, result, rows, as_text)
    return 0


def _add_rows_and_files(parser: argparse.ArgumentParser, rows: str, row: str, *, limited: bool = True) -> None:
    """Options of every measurement: which `rows` are used, and where the result goes, with a line for each
    `row`."""
    parser.add_argument("--split", choices=["dev", "test", "all"], default="all", help=f"{rows} to use (default: all)")
    if limited:
        parser.add_argument("--limit", type=int, metavar="N", help=f"only so many {rows}, spread over the split")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the JSON there as well")
    parser.add_argument("--per-query", type=Path, metavar="FILE", help=f"write a JSON line for each {row}")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {folder}: {error.strerror}", hint="choose another place") from error


def _require_writable(*files: Path | None) -> None:
    """Raise UsageError, before the work starts, if its result cannot be written."""
    for file in files:
        if file is not None and (file.is_dir() or not file.resolve().parent.is_dir()):
            raise UsageError(
                f"cannot write {file}: its folder is not there", hint="make the folder, and name a file in it"
            )


def _give(
    options: argparse.Namespace,
    result: dict[str, Any],
    rows: Iterable[Mapping[str, Any]],
    as_text: Callable[[dict[str, Any]], str],
) -> None:
    """Write the requested files, and print the measurements."""
    if options.out:
        write_file(options.out, json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    if options.per_query:
        write_file(options.per_query, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    if options.json:
        print_json(result)
    else:
        sys.stdout.write(as_text(result))

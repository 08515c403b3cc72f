"""python -m rag practice ask | grade | due | export: asks, grades and schedules the material's questions."""

import argparse
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.cli import add_common_options, add_llm, add_paths, print_json, read_text, settings_from, write_file
from rag.errors import UsageError, as_called
from rag.settings import ChatModelName
from rag.wire import grade_as_dict, question_as_dict

if TYPE_CHECKING:
    from rag.cli import Commands
    from rag.practice.bank import Bank, Question
    from rag.practice.grading import Grade
    from rag.practice.schedule import Card

# Values of rag.practice.grading.Method, which `--help` must not load.
METHODS = ("overlap", "embedder", "chat_model")
FILE_TYPES = ("anki", "csv", "markdown")


def add_practice(commands: "Commands") -> None:
    """The command `practice`."""
    actions = commands.add_parser("practice", help="be asked, graded, and asked again").add_subparsers(
        dest="action", required=True
    )
    ask = actions.add_parser("ask", help="the question to answer now: what is due, else a new one")
    _common(ask)
    ask.add_argument("--topic", metavar="T", help="of this topic, a folder of the documents")
    ask.set_defaults(main=_ask)
    grade = actions.add_parser("grade", help="grade an answer point by point")
    _common(grade)
    grade.add_argument("--question", metavar="ID", help="the id that `ask` gave")
    grade.add_argument("--answer", metavar="FILE", help="the answer; - is stdin")
    grade.add_argument("--attempts", metavar="FILE", help='many: JSON lines {"id", "question", "answer"}; - is stdin')
    grade.add_argument("--method", choices=METHODS, help="who grades (default: embedder)")
    add_llm(grade, "the chat model of --method chat_model")
    grade.set_defaults(main=_grade)
    due = actions.add_parser("due", help="what is due, and when the rest is")
    _common(due)
    due.set_defaults(main=_due)
    export = actions.add_parser("export", help="questions and answers for another program")
    _common(export)
    export.add_argument("--as", dest="file_type", choices=FILE_TYPES, required=True, help="kind of file")
    export.add_argument("--topic", metavar="T", help="of this topic only")
    export.add_argument("--out", type=Path, metavar="FILE", help="write to this file (default: stdout)")
    export.set_defaults(main=_export)


def _common(parser: argparse.ArgumentParser) -> None:
    add_common_options(parser)
    add_paths(parser, "--data")


def _bank(options: argparse.Namespace) -> "Bank":
    from rag.index.stores import open_store
    from rag.practice.bank import read_bank

    bank = read_bank(open_store(settings_from(options)).open())
    if not bank.questions:
        raise UsageError("the material has no questions", hint="ingest pages whose headings are questions")
    return bank


def _cards(options: argparse.Namespace) -> "dict[str, Card]":
    from rag.practice.store import PracticeStore

    with closing(PracticeStore(settings_from(options, data=options.data).data)) as store:
        return store.cards("")


def _ask(options: argparse.Namespace) -> int:
    import random

    from rag.practice.schedule import due_cards

    bank, cards = _bank(options), _cards(options)
    asked = bank.select(topic=options.topic)
    ids = {question.id for question in asked}
    due = [card.question_id for card in due_cards(bank, cards, datetime.now(UTC)) if card.question_id in ids]
    new = [question.id for question in asked if question.id not in cards]
    name = due[0] if due else random.choice(new or sorted(ids, key=lambda one: cards[one].due)[:1])
    question = bank.find(name)
    if options.json:
        print_json({**question_as_dict(question), "due": bool(due)})
    else:
        grade = as_called("python -m rag practice grade")
        sys.stdout.write(f"{question.text}\n\n{grade} --question '{question.id}' --answer -\n")
    return 0


def _grade(options: argparse.Namespace) -> int:
    from rag.answer.assistant import Assistant
    from rag.commands.questions import run_batch
    from rag.practice.bank import read_bank
    from rag.practice.graders import open_grader
    from rag.practice.grading import Method
    from rag.practice.rubric import rubric_of

    if (options.attempts is None) == (options.question is None or options.answer is None):
        raise UsageError("give either --question and --answer, or --attempts", hint="see --help")
    method = Method(options.method) if options.method else None
    llm = options.llm if method is Method.CHAT_MODEL else ChatModelName.EXTRACTIVE
    answer = None if options.attempts else read_text(options.answer)
    assistant = Assistant.open(settings_from(options, llm=llm))
    bank, grader = read_bank(assistant.index), open_grader(assistant, method)

    def graded(question_id: str, text: str) -> "tuple[Question, Grade]":
        question = bank.find(question_id)
        return question, grader.grade(text, rubric_of(bank, question))

    def row(given: dict[str, Any]) -> dict[str, Any]:
        name, text = given.get("question"), given.get("answer")
        if not isinstance(name, str) or not isinstance(text, str):
            raise UsageError(
                "the row has no text under 'question' or 'answer'",
                hint='a row looks like {"id": "a1", "question": "rope.md#…", "answer": "…"}',
            )
        return {"id": given.get("id"), **grade_as_dict(graded(name, text)[1])}

    if options.attempts:
        return run_batch(options.attempts, row)
    assert answer is not None
    question, grade = graded(options.question, answer)
    card = _keep(options, question, grade)
    if options.json:
        print_json({"id": None, **grade_as_dict(grade)})
    else:
        sys.stdout.write(_grade_as_text(grade, card))
    return 0


def _keep(options: argparse.Namespace, question: "Question", grade: "Grade") -> "Card | None":
    """Log the attempt and schedule the next one; an empty answer does neither."""
    from rag.practice.schedule import review_of
    from rag.practice.store import PracticeStore

    review = review_of(question, grade, datetime.now(UTC))
    if review is None:
        return None
    with closing(PracticeStore(settings_from(options, data=options.data).data)) as store:
        return store.review("", review)


def _due(options: argparse.Namespace) -> int:
    from rag.practice.schedule import due_cards, forecast, is_reworded

    bank, cards, now = _bank(options), _cards(options), datetime.now(UTC)
    due = due_cards(bank, cards, now)
    zone = now.astimezone().tzinfo or UTC
    ahead = forecast((card for card in cards.values() if card.question_id in bank.questions), now, zone)
    if options.json:
        print_json(
            {
                "due": [
                    {
                        **question_as_dict(bank.find(card.question_id)), "due": card.due.isoformat(),
                        "reworded": is_reworded(card, bank.find(card.question_id)),
                    }
                    for card in due
                ],
                "forecast": [{"day": day.isoformat(), "cards": count} for day, count in ahead],
            }
        )  # fmt: skip
    else:
        lines = [f"{card.due:%Y-%m-%d %H:%M} UTC  {card.question_id}" for card in due] or ["nothing is due"]
        sys.stdout.write("\n".join([*lines, "", *(f"{day}  {count}" for day, count in ahead if count)]) + "\n")
    return 0


def _export(options: argparse.Namespace) -> int:
    from rag.practice.exports import ExportAs, export
    from rag.practice.store import PracticeStore

    bank = _bank(options)
    questions = bank.select(topic=options.topic)
    with closing(PracticeStore(settings_from(options, data=options.data).data)) as store:
        data = export(bank, questions, store.jottings(""), ExportAs(options.file_type))
    if options.out is None:
        if options.file_type == ExportAs.ANKI and sys.stdout.isatty():
            raise UsageError("an Anki package is no text for a terminal", hint="name a file with --out")
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return 0
    write_file(options.out, data)
    sys.stderr.write(f"{len(questions)} questions written to {options.out}\n")
    return 0


def _grade_as_text(grade: "Grade", card: "Card | None") -> str:
    again = f"asked again {card.due:%Y-%m-%d %H:%M} UTC" if card else "nothing was written, so nothing is kept"
    lines = [f"{grade.score:.0%}, graded by {grade.graded_by}; {again}", ""]
    for graded in grade.points:
        lines.append(f"{graded.verdict:13}{' '.join(graded.point.text.split())}")
        if graded.attempt:
            lines.append(f"{'':13}> {' '.join(grade.attempt[slice(*graded.attempt)].split())}")
        lines.append(
            f"{'':13}{graded.point.citation.document} {graded.point.citation.start}–{graded.point.citation.end}"
        )
    for made in grade.mistakes:
        lines.append(f"{'mistake':13}{' '.join(grade.attempt[slice(*made.attempt)].split())}")
        lines.append(f"{'':13}{' '.join(made.mistake.right.quote.split())}")
    return "\n".join([*lines, *(f"note: {note}" for note in grade.notes)]) + "\n"

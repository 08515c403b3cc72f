"""python -m rag search | ask | inspect: one question, or many in a batch that loads the model once."""

import argparse
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag.answer.choices import Choices, StyleName
from rag.cli import add_common_options, add_llm, json_lines, print_json, settings_from
from rag.errors import RagError, UsageError
from rag.settings import AgentMode, ChatModelName
from rag.wire import answer_as_dict, search_as_dict

if TYPE_CHECKING:
    from rag.cli import Commands
    from rag.types import Turn

logger = logging.getLogger(__name__)


def add_search(commands: "Commands") -> None:
    search = commands.add_parser("search", help="find passages")
    add_common_options(search)
    search.add_argument("question", nargs="?", help="what to search for")
    search.add_argument("--queries", metavar="FILE", help='many: JSON lines {"id", "text"}; - is stdin')
    _add_only(search)
    search.add_argument("-k", dest="top_k", type=int, help="passages to return (default 10)")
    search.set_defaults(main=_search)


def add_ask(commands: "Commands") -> None:
    ask = commands.add_parser("ask", help="get an answer with citations")
    add_common_options(ask)
    ask.add_argument("question", nargs="?", help="the question")
    ask.add_argument("--questions", metavar="FILE", help='many: JSON lines {"id", "question", "history"}; - is stdin')
    ask.add_argument(
        "--history", type=Path, metavar="FILE", help='the conversation so far: [["user", "…"], ["assistant", "…"]]'
    )
    add_llm(ask)
    ask.add_argument("--style", choices=[str(name) for name in StyleName], default="standard", help="how much is said")
    ask.add_argument(
        "--agent",
        action="store_true",
        help="a chat model that can call tools may search again, read pages and calculate (setting `agent`)",
    )
    _add_only(ask)
    ask.set_defaults(main=_ask)


def _add_only(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only", action="append", metavar="NAME", default=[],
        help="search this document, or folder with a slash at its end, and nothing else; may be given several times",
    )  # fmt: skip


def add_inspect(commands: "Commands") -> None:
    inspect = commands.add_parser("inspect", help="show how a question is answered, step by step")
    add_common_options(inspect)
    inspect.add_argument("question", help="the question")
    inspect.add_argument("--history", type=Path, metavar="FILE", help="as for `ask`")
    add_llm(inspect, "who would write the answer (default: auto)")
    inspect.set_defaults(main=_inspect)


def _one_of(question: str | None, batch: str | None, name: str) -> None:
    if (question is None) == (batch is None):
        raise UsageError(f"give either a question or {name}", hint="see --help")


def run_batch(name: str, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> int:
    """Answer each row on its own line. A failure affects only its row: it gives an error row, and exit code 1 at the
    end."""
    failed = False
    for row in json_lines(name):
        try:
            if isinstance(row, RagError):
                raise row
            print_json(answer(row))
        except Exception as error:
            failed = True
            if not isinstance(error, RagError):
                logger.exception("a row failed")
                error = RagError(f"unexpected {type(error).__name__}: {error}", hint="the log has the details")
            print_json({"id": row.get("id") if isinstance(row, dict) else None, **error.as_dict()})
    return int(failed)


def _search(options: argparse.Namespace) -> int:
    from rag.answer.assistant import Assistant
    from rag.commands.output import search_as_text
    from rag.index.part import check_names

    _one_of(options.question, options.queries, "--queries")
    assistant = Assistant.open(settings_from(options, top_k=options.top_k, llm=ChatModelName.EXTRACTIVE))
    check_names(assistant.index, options.only)
    assistant = assistant.choosing(Choices(only=tuple(options.only)))
    if options.queries:
        return run_batch(
            options.queries, lambda row: {"id": row.get("id"), **search_as_dict(assistant.search(_text(row, "text")))}
        )
    evidence = assistant.search(options.question)
    if options.json:
        print_json({"id": None, **search_as_dict(evidence)})
    else:
        sys.stdout.write(search_as_text(evidence))
    return 0


def _ask(options: argparse.Namespace) -> int:
    from rag.commands.output import answer_as_text
    from rag.commands.writer import open_assistant
    from rag.index.part import check_names

    _one_of(options.question, options.questions, "--questions")
    history = _history_file(options.history)
    mode = AgentMode.AUTO if options.agent else None
    assistant = open_assistant(settings_from(options, llm=options.llm, agent=mode))
    check_names(assistant.index, options.only)
    assistant = assistant.choosing(Choices(style=StyleName(options.style), only=tuple(options.only)))

    def answer(row: dict[str, Any]) -> dict[str, Any]:
        turns = _turns(row.get("history") or []) or history
        return {"id": row.get("id"), **answer_as_dict(assistant.ask(_text(row, "question"), turns))}

    if options.questions:
        return run_batch(options.questions, answer)
    reply = assistant.ask(options.question, history)
    if options.json:
        print_json({"id": None, **answer_as_dict(reply)})
    else:
        sys.stdout.write(answer_as_text(reply))
    return 0


def _inspect(options: argparse.Namespace) -> int:
    from rag.answer.inspection import as_text, inspection_of
    from rag.commands.writer import open_assistant

    history = _history_file(options.history)
    assistant = open_assistant(settings_from(options, llm=options.llm))
    inspection = inspection_of(assistant.prepare(options.question, history))
    if options.json:
        print_json(inspection.as_dict())
    else:
        sys.stdout.write(as_text(inspection))
    return 0


def _text(row: dict[str, Any], key: str) -> str:
    if not isinstance(row.get(key), str):
        raise UsageError(f"the row has no text under {key!r}", hint=f'a row looks like {{"id": "q1", "{key}": "…"}}')
    return str(row[key])


def _history_file(file: Path | None) -> "list[Turn]":
    import json

    if file is None:
        return []
    try:
        return _turns(json.loads(file.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError) as error:
        raise UsageError(
            f"cannot read the history {file}: {error}", hint='it holds [["user", "…"], ["assistant", "…"]] in UTF-8'
        ) from error


def _turns(history: object) -> "list[Turn]":
    from rag.types import Role, Turn

    if isinstance(history, list):
        turns = [
            Turn(Role(turn[0]), turn[1])
            for turn in history
            if isinstance(turn, list) and len(turn) == 2 and turn[0] in list(Role) and isinstance(turn[1], str)
        ]
        if len(turns) == len(history):
            return turns
    raise UsageError(
        "the history is not a list of [role, text] pairs", hint='it looks like [["user", "…"], ["assistant", "…"]]'
    )

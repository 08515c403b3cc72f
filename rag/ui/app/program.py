"""interview-rag …: the installed command, which does all of `python app.py`, `python -m ingest` and `python -m rag`."""

import argparse
import sys
from pathlib import Path

import ingest.__main__ as ingest
from rag.__main__ import COMMANDS
from rag.cli import Parser, run
from rag.ui.app import open_page

NAME = "interview-rag"
SHELLS = ("bash", "zsh")


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog=NAME, description="Ask questions about interview material; every sentence has its source.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chat = commands.add_parser("chat", help="open the chat in the browser", description=open_page.DESCRIPTION)
    open_page.add_options(chat)
    chat.set_defaults(main=open_page.open_page)
    bring = commands.add_parser("ingest", help="bring the index in line", description=ingest.DESCRIPTION)
    ingest.add_options(bring)
    bring.set_defaults(main=ingest.ingest)
    for add in COMMANDS:
        add(commands)
    completion = commands.add_parser("completion", help="print what makes a shell complete this command")
    completion.add_argument("shell", choices=SHELLS)
    completion.set_defaults(main=_complete)
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(lambda options: int(options.main(options)), build_parser(), arguments)


def _complete(options: argparse.Namespace) -> int:
    import shtab

    parser = build_parser()
    _complete_paths(parser, shtab.FILE, shtab.DIRECTORY)
    sys.stdout.write(shtab.complete(parser, shell=options.shell) + "\n")
    return 0


def _complete_paths(parser: argparse.ArgumentParser, file: object, folder: object) -> None:
    """Complete options that take a path with paths."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                _complete_paths(sub, file, folder)
        elif action.type is Path or action.metavar == "FILE":
            action.complete = folder if action.metavar == "DIR" else file  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())

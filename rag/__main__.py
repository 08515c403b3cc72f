"""python -m rag search | ask | inspect | review | eval | practice | serve | mcp | feedback | models"""

import argparse
import sys

from rag.cli import Parser, run
from rag.commands.evaluate import add_eval
from rag.commands.feedback import add_feedback
from rag.commands.mcp import add_mcp
from rag.commands.models import add_models
from rag.commands.practice import add_practice
from rag.commands.questions import add_ask, add_inspect, add_search
from rag.commands.review import add_review
from rag.commands.serve import add_serve

COMMANDS = (
    add_search, add_ask, add_inspect, add_review, add_eval, add_practice, add_serve, add_mcp, add_feedback,
    add_models,
)  # fmt: skip


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m rag",
        description="Ask the index, search it, review it, measure it, practise, serve it, export feedback.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for add in COMMANDS:
        add(commands)
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(lambda options: int(options.main(options)), build_parser(), arguments)


if __name__ == "__main__":
    sys.exit(main())

"""The process that runs an evaluation for the page: python -m rag.ui.quality.child KIND GOLD LIMIT

It writes JSON lines to stdout: {"done", "total"} before each question, and finally {"result"} or {"error"}.
"""

import argparse
import os
import sys
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, TypeVar

from rag.cli import print_json
from rag.errors import RagError
from rag.settings import ChatModelName, Settings, load_settings
from rag.ui.quality.runner import SYSTEMS, EvaluationKind

# Niceness added to the process, so that chats take precedence.
NICENESS = 10
T = TypeVar("T")


class Steps:
    """Reports the number of questions done, and the total over all rounds."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._done = 0

    def __call__(self, items: Collection[T], name: str) -> Iterable[T]:
        for item in items:
            print_json({"done": self._done, "total": self._rounds * len(items)})
            yield item
            self._done += 1


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m rag.ui.quality.child")
    parser.add_argument("kind", type=EvaluationKind)
    parser.add_argument("gold", type=Path)
    parser.add_argument("limit", type=int)
    options = parser.parse_args(arguments)
    os.nice(NICENESS)
    try:
        result = _evaluate(options.kind, options.gold, options.limit, load_settings())
    except RagError as error:
        print_json(error.as_dict())
        return error.exit_code
    print_json({"result": result})
    return 0


def _evaluate(kind: EvaluationKind, gold: Path, limit: int, settings: Settings) -> dict[str, Any]:
    settings = settings.model_copy(update={"llm": ChatModelName.EXTRACTIVE})
    if kind is EvaluationKind.ANSWERS:
        from rag.evaluation.answers import run as answers

        return answers.evaluate(gold, settings, limit=limit, track=Steps(1)).result
    from rag.evaluation.datasets import load_dataset
    from rag.evaluation.retrieval import run as retrieval

    dataset = load_dataset(gold)
    return retrieval.evaluate(dataset, settings, SYSTEMS, limit=limit, track=Steps(len(SYSTEMS))).result


if __name__ == "__main__":
    sys.exit(main())

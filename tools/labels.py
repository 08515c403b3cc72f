"""python -m tools.labels: titles and other ways to ask (`asked_as`) of pages that a search answers from another one.

A page is found by its labels. So one for which another page comes first all the same belongs to that page, or draws a
question to a page whose sections do not answer it. Each is to be judged by reading.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rag.answer.assistant import Assistant
from rag.cli import Parser, add_common_options, run, settings_from
from rag.evaluation.progress import bar
from rag.index import Index
from rag.settings import ChatModelName


@dataclass(frozen=True, slots=True)
class Drawn:
    """`label` is one of `document`; `found` is the page whose passage comes first for it."""

    document: str
    label: str
    found: str


def labels_of(index: Index) -> list[tuple[str, str]]:
    """Every page with each of its labels."""
    return [
        (document.name, label)
        for document in index.storage.documents()
        for label in dict.fromkeys((document.title, *document.asked_as))
    ]


def drawn_elsewhere(assistant: Assistant, labels: Sequence[tuple[str, str]]) -> Iterator[Drawn]:
    """The labels for which another page comes first."""
    for document, label in bar(labels, "labels"):
        hits = assistant.search(label).hits
        if hits and hits[0].passage.document != document:
            yield Drawn(document, label, hits[0].passage.document)


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="python -m tools.labels", description=__doc__)
    add_common_options(parser)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    return run(_list, build_parser(), None if arguments is None else list(arguments))


def _list(options: argparse.Namespace) -> int:
    assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
    labels = labels_of(assistant.index)
    found = list(drawn_elsewhere(assistant, labels))
    for one in found:
        sys.stdout.write(f"{one.document}\t{one.label}\t{one.found}\n")
    sys.stdout.write(f"{len(found)} of {len(labels)} labels are answered from another page first\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

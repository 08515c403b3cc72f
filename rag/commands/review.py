"""python -m rag review"""

import argparse
import sys
from typing import TYPE_CHECKING

from rag.cli import add_common_options, print_json, settings_from
from rag.errors import UsageError
from rag.settings import ChatModelName

if TYPE_CHECKING:
    from tqdm import tqdm

    from rag.cli import Commands
    from rag.review.report import Review
    from rag.review.statements import Statement

# Of each list, where no limit is given and people read it.
SHOWN = 20


def add_review(commands: "Commands") -> None:
    review = commands.add_parser("review", help="what in the documents is old, grows old, or contradicts itself")
    add_common_options(review)
    review.add_argument("--topic", metavar="T", help="only documents in a folder of this name, or with this tag")
    review.add_argument("--limit", type=int, metavar="N", help=f"of each list (default: {SHOWN}, with --json all)")
    review.set_defaults(main=_review)


def _review(options: argparse.Namespace) -> int:
    from rag.answer.assistant import Assistant
    from rag.review.report import review, topic_of

    if options.limit is not None and options.limit < 1:
        raise UsageError(f"--limit is {options.limit}", hint="give a number from 1 on, or leave it out")
    assistant = Assistant.open(settings_from(options, llm=ChatModelName.EXTRACTIVE))
    index = assistant.index
    with Bars() as bars:
        found = review(index, assistant.embedder, bars.update)
    if options.topic:
        found = found.about(topic_of(index.storage.documents(), options.topic))
    if options.json:
        print_json((found if options.limit is None else found.first(options.limit)).as_dict())
    else:
        sys.stdout.write(_as_text(found, options.limit or SHOWN))
    return 0


class Bars:
    """A bar on stderr for each stage, made when the stage begins."""

    def __init__(self) -> None:
        self._stage = ""
        self._bar: tqdm | None = None

    def __enter__(self) -> "Bars":
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def _close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, stage: str, done: int, total: int) -> None:
        from tqdm import tqdm

        if stage != self._stage or self._bar is None:
            self._close()
            self._stage, self._bar = stage, tqdm(total=total, desc=stage, file=sys.stderr, dynamic_ncols=True)
        self._bar.update(done - self._bar.n)


def _as_text(found: "Review", limit: int) -> str:
    shown = found.first(limit)
    lines = [f"Contradictions: {len(found.contradictions)}"]
    for each in shown.contradictions:
        lines += [
            f"  {each.score:.2f} {each.kind}: {each.differing[0]} | {each.differing[1]}  ({', '.join(each.shared)})",
            *(f"    {_line(place)}" for place in (each.one, each.other)),
        ]
    lines.append(f"Sentences that grow old: {len(found.time_bound)}")
    lines += [f"  {', '.join(each.words)}: {_line(each.statement)}" for each in shown.time_bound]
    undated = sum(each.dated is None for each in found.ages)
    lines.append(f"Documents, oldest first: {len(found.ages)}, {undated} of them without a date")
    lines += [f"  {each.dated or 'no date'!s:10} {each.field or ''!s:8} {each.document}" for each in shown.ages]
    return "\n".join(lines) + "\n"


def _line(place: "Statement") -> str:
    return f"{' > '.join((place.document, *place.section))} {place.start}–{place.end}: {' '.join(place.quote.split())}"

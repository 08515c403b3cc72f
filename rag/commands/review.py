"""python -m rag review"""

import argparse
import sys
from typing import TYPE_CHECKING

from rag.cli import add_common_options, print_json, settings_from
from rag.errors import UsageError

if TYPE_CHECKING:
    from rag.cli import Commands
    from rag.review.report import Review
    from rag.review.statements import Statement

# Entries per list, without a limit, in text for people.
SHOWN = 20


def add_review(commands: "Commands") -> None:
    review = commands.add_parser("review", help="what in the documents is old, or grows old")
    add_common_options(review)
    review.add_argument("--topic", metavar="T", help="only documents in a folder of this name, or with this tag")
    review.add_argument("--limit", type=int, metavar="N", help=f"of each list (default: {SHOWN}, with --json all)")
    review.set_defaults(main=_review)


def _review(options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from rag.index.stores import open_store
    from rag.review.report import review, topic_of

    if options.limit is not None and options.limit < 1:
        raise UsageError(f"--limit is {options.limit}", hint="give a number from 1 on, or leave it out")
    index = open_store(settings_from(options)).open()
    with tqdm(desc="documents", file=sys.stderr, dynamic_ncols=True, delay=0.5) as bar:

        def progress(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        found = review(index, progress)
    if options.topic:
        found = found.about(topic_of(index.storage.documents(), options.topic))
    if options.json:
        print_json((found if options.limit is None else found.first(options.limit)).as_dict())
    else:
        sys.stdout.write(_as_text(found, options.limit or SHOWN))
    return 0


def _as_text(found: "Review", limit: int) -> str:
    shown = found.first(limit)
    lines = [f"Sentences that grow old: {len(found.time_bound)}"]
    lines += [f"  {', '.join(each.words)}: {_line(each.statement)}" for each in shown.time_bound]
    undated = sum(each.dated is None for each in found.ages)
    lines.append(f"Documents, oldest first: {len(found.ages)}, {undated} of them without a date")
    lines += [f"  {each.dated or 'no date'!s:10} {each.field or ''!s:8} {each.document}" for each in shown.ages]
    return "\n".join(lines) + "\n"


def _line(place: "Statement") -> str:
    return f"{' > '.join((place.document, *place.section))} {place.start}–{place.end}: {' '.join(place.quote.split())}"

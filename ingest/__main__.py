"""python -m ingest [PATH ...]: bring the index in line with its documents, once or whenever they change."""

import argparse
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rag.cli import Parser, add_common_options, json_lines, print_json, run, settings_from
from rag.errors import RagError, UsageError

if TYPE_CHECKING:
    from ingest.report import Report


DESCRIPTION = (
    "Bring the index in line with its roots: read what is new or changed, keep the rest, remove what has gone."
)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="files or folders to sync (default: all the index knows, at first corpus/)",
    )
    add_common_options(parser)
    parser.add_argument("--remove-root", type=Path, metavar="PATH", help="forget a root and its documents")
    parser.add_argument("--allow-empty", action="store_true", help="a root without documents is meant to be so")
    parser.add_argument("--rebuild", action="store_true", help="read and embed everything anew, from all roots")
    parser.add_argument(
        "--wait", type=float, default=0.0, metavar="SECONDS", help="how long to wait for another writer (default: 0)"
    )
    parser.add_argument(
        "--probe",
        metavar="FILE",
        help='tell which questions find something else than before: JSON lines {"id", "text"}, may hold "evidence"; '
        "- is stdin",
    )
    parser.add_argument("--watch", action="store_true", help="go on: sync whenever documents change, until Ctrl-C")
    parser.add_argument(
        "--poll", action="store_true", help="with --watch: look for changes every moment, for network drives"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = Parser(prog="python -m ingest", description=DESCRIPTION)
    add_options(parser)
    return run(ingest, parser, arguments)


def ingest(options: argparse.Namespace) -> int:
    if options.wait < 0:
        raise UsageError(f"--wait {options.wait:g} is negative", hint="give seconds, such as --wait 60")
    if options.watch and (options.remove_root or options.rebuild or options.probe):
        raise UsageError(
            "--watch goes with neither --remove-root nor --rebuild nor --probe", hint="run those first, on their own"
        )
    if options.poll and not options.watch:
        raise UsageError("--poll is for --watch", hint="add --watch, or leave --poll out")
    from ingest.probe import read_questions
    from ingest.progress import Bars
    from ingest.sync import sync
    from rag.embedding import embedder_identity, load_embedder

    settings = settings_from(options)
    questions = read_questions(json_lines(options.probe)) if options.probe else []
    embedder = cache(lambda: load_embedder(settings))
    identity = embedder_identity(settings)

    def tell(report: "Report") -> None:
        for document in report.cleaned:
            sys.stderr.write(document.as_line() + "\n")
        if options.json:
            print_json(report.as_dict())
            for warning in report.warnings:
                sys.stderr.write(f"warning: {warning}\n")
        else:
            sys.stdout.write(report.as_text())
            sys.stdout.flush()

    def tell_error(error: RagError) -> None:
        if options.json:
            print_json(error.as_dict())
        else:
            sys.stderr.write(f"error: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else ""))

    if options.watch:
        from ingest.updates.watch_folder import watch

        watch(
            settings,
            embedder,
            options.paths,
            identity=identity,
            allow_empty=options.allow_empty,
            wait=options.wait,
            poll=options.poll,
            progress=Bars,
            on_report=tell,
            on_error=tell_error,
        )
        return 0
    with Bars() as bars:
        report = sync(
            settings,
            embedder,
            options.paths,
            identity=identity,
            remove_root=options.remove_root,
            allow_empty=options.allow_empty,
            rebuild=options.rebuild,
            wait=options.wait,
            questions=questions,
            progress=bars.update,
        )
    tell(report)
    return int(bool(report.documents.failed))


if __name__ == "__main__":
    sys.exit(main())

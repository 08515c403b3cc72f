"""python -m ingest [PATH ...]: bring the index in line with its documents."""

import argparse
import sys
from pathlib import Path

from rag.command_line import Parser, add_common_options, print_json, run, settings_from


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m ingest",
        description="Bring the index in line with its roots: read what is new or changed, keep the rest, "
        "remove what has gone.",
    )
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
    return parser


def main(arguments: list[str] | None = None) -> int:
    return run(_ingest, build_parser(), arguments)


def _ingest(options: argparse.Namespace) -> int:
    from ingest.progress import Bars
    from ingest.sync import sync
    from rag.embedding import embedder_identity, load_embedder

    settings = settings_from(options)
    with Bars() as bars:
        report = sync(
            settings,
            lambda: load_embedder(settings),
            options.paths,
            identity=embedder_identity(settings),
            remove_root=options.remove_root,
            allow_empty=options.allow_empty,
            rebuild=options.rebuild,
            progress=bars.update,
        )
    if options.json:
        print_json(report.as_dict())
        for warning in report.warnings:
            sys.stderr.write(f"warning: {warning}\n")
    else:
        sys.stdout.write(report.as_text())
    return int(bool(report.documents.failed))


if __name__ == "__main__":
    sys.exit(main())

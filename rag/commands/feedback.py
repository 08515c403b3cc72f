"""python -m rag feedback export"""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rag.cli import add_paths, settings_from, write_file

if TYPE_CHECKING:
    from rag.cli import Commands


def add_feedback(commands: "Commands") -> None:
    """The command `feedback`."""
    actions = commands.add_parser("feedback", help="what readers thought of answers").add_subparsers(
        dest="action", required=True
    )
    export = actions.add_parser("export", help="write it as rows, such as to train a chat model on")
    add_paths(export, "--config", "--data")
    export.add_argument(
        "--format",
        choices=["sft", "preferences", "opinions"],
        default="sft",
        help="sft: id, system, prompt, completion of liked answers (default); preferences: prompt, chosen, rejected; "
        "opinions: all that was judged, with reasons and notes",
    )
    export.add_argument(
        "--as",
        dest="file_type",
        choices=["jsonl", "csv"],
        default="jsonl",
        help="kind of file (default: jsonl)",
    )
    export.add_argument("--out", type=Path, metavar="FILE", help="write to this file (default: stdout)")
    export.set_defaults(main=_export)


def _export(options: argparse.Namespace) -> int:
    from rag.feedback.rows import FileType, Format, rows, write_rows
    from rag.feedback.store import read_feedback

    found = rows(read_feedback(settings_from(options, data=options.data).data), Format(options.format))
    text = write_rows(found, Format(options.format), FileType(options.file_type))
    if options.out is None:
        sys.stdout.write(text)
        return 0
    write_file(options.out, text)
    sys.stderr.write(f"{len(found)} rows written to {options.out}\n")
    return 0

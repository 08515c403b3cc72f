"""Shared by all commands: settings from options, errors to exit codes, JSON output, progress bars on stderr."""

import argparse
import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from rag.errors import RagError, UsageError
from rag.process import own_process
from rag.settings import ChatModelName, Settings, load_settings

INTERRUPTED = 130
# The metavariable of an option that names a file or a folder, and its help.
PATHS = {
    "--config": ("FILE", "settings file (default: interview-rag.toml, if it is there)"),
    "--index": ("DIR", "folder of the index (default: .interview-rag/index)"),
    "--data": ("DIR", "folder of what readers keep (default: .interview-rag/user)"),
}
if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[Any]


class Parser(argparse.ArgumentParser):
    """Raises wrong usage like any other error, so that it can be printed as JSON."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, hint=f"see: {self.prog} --help")


def add_common_options(parser: argparse.ArgumentParser) -> None:
    add_paths(parser, "--config", "--index")
    parser.add_argument("--json", action="store_true", help="print JSON, and only JSON, on stdout")


def add_paths(parser: argparse.ArgumentParser, *options: str) -> None:
    """Options of PATHS."""
    for option in options:
        metavar, told = PATHS[option]
        parser.add_argument(option, type=Path, metavar=metavar, help=told)


def add_llm(parser: argparse.ArgumentParser, told: str = "who writes the answer (default: auto)") -> None:
    parser.add_argument("--llm", choices=[str(name) for name in ChatModelName], help=told)


def settings_from(options: argparse.Namespace, **more: Any) -> Settings:
    return load_settings(options.config, options={"index": getattr(options, "index", None), **more})


def print_json(value: Any) -> None:
    """One JSON value on one line of stdout, not escaped."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def write_file(file: Path, data: str | bytes) -> None:
    """Write a file, text as UTF-8. Raises UsageError if that fails."""
    try:
        file.write_bytes(data.encode() if isinstance(data, str) else data)
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}", hint="name another file") from error


def run(main: Callable[[argparse.Namespace], int], parser: argparse.ArgumentParser, arguments: list[str] | None) -> int:
    """Parse, run, and turn exceptions into a message and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="strict")
    own_process()
    as_json = "--json" in (sys.argv[1:] if arguments is None else arguments)
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s", stream=sys.stderr)
    try:
        return main(parser.parse_args(arguments))
    except RagError as error:
        if as_json:
            print_json(error.as_dict())
        else:
            sys.stderr.write(f"error: {error.message}\n" + (f"hint: {error.hint}\n" if error.hint else ""))
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`… | head`): print nothing more, not even at exit.
        sys.stdout = io.StringIO()
        return 0


def read_text(name: str | Path, *, hint: str = "check the path") -> str:
    """The text of a file (`-` is stdin). Raises UsageError with the hint if it cannot be read."""
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8: {error.reason}", hint="save it as UTF-8") from error


def json_lines(name: str) -> Iterator[dict[str, Any] | RagError]:
    """The rows of a JSON-lines file (`-` is stdin). A row that is no JSON object gives an error in its place."""
    # Not splitlines: JSON strings may contain U+2028 and its like unescaped.
    for number, line in enumerate(read_text(name).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield UsageError(f"line {number} is not JSON: {error}", hint='a row looks like {"id": "q1", "text": "…"}')
            continue
        yield (
            row
            if isinstance(row, dict)
            else UsageError(f"line {number} is not a JSON object", hint="one object a line")
        )
